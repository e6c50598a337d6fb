"""One client, many threads and an event loop: exact counts, no waiting for each other's models."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from tests.contract.test_arguments import GOOD
from tests.support.embedding import DottedEmbedding, text
from tests.support.stores import BACKENDS, READERS, contents, ids, normal, open_client

_THREADS, _CALLS = 16, 20


def _mixed(client: HyMemoryClient, number: int, barrier: threading.Barrier) -> set[str]:
    """Do 50 things as one of four users; return the ids that must be left."""
    chance = random.Random(number)
    user_id = f"u{number % 4}"
    mine: list[str] = []
    barrier.wait()
    for at in range(_CALLS):
        dice = chance.random()
        if dice < 0.4 or not mine:
            mine.append(client.add(text(f"alpha {number} {at}", at % 9), user_id=user_id)["memory_id"])
        elif dice < 0.5:
            both = [f"beta {number} {at}", f"gamma {number} {at}"]
            mine += client.add_extracted(both, user_id=user_id)["memory_ids"]
        elif dice < 0.6:
            client.update(chance.choice(mine), f"delta {number} {at}")
        elif dice < 0.7:
            gone = mine.pop(chance.randrange(len(mine)))
            assert client.delete(gone)["deleted_count"] == 1
            asked: dict[str, Any] = {"user_ids": [user_id], "limit": 1000, "min_score": 0}
            assert gone not in ids(client.search("alpha", **asked))
        else:
            asked = {"user_ids": [user_id], "limit": 1000, "min_score": 0}
            answer = client.search("alpha beta", reader=chance.choice(READERS), **asked)
            assert "degraded" not in answer
            assert set(mine) <= set(ids(answer))
            assert {one["user_id"] for one in normal(answer)} == {user_id}
    return set(mine)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sixteen_threads_on_one_client(folder: Path, backend: str) -> None:
    """C51: 16 threads × 50 mixed calls, beside an event loop; every count exact."""
    with open_client(backend, folder) as client:
        barrier = threading.Barrier(_THREADS + 1)
        with ThreadPoolExecutor(_THREADS + 1) as pool:
            running = [pool.submit(_mixed, client, number, barrier) for number in range(_THREADS)]
            beside = pool.submit(asyncio.run, _search_beside(client, barrier))
            left = [one.result() for one in running]
            assert beside.result() == 20
        for group in range(4):
            wanted = set[str]().union(*(one for at, one in enumerate(left) if at % 4 == group))
            user_id = f"u{group}"
            assert client.memory_stats(user_id=user_id)["total"] == len(wanted)
            for reader in READERS:
                asked: dict[str, Any] = {"user_ids": [user_id], "limit": 1000, "min_score": 0}
                assert set(ids(client.search("alpha", reader=reader, **asked))) == wanted
        assert client.doctor()["problems"] == []


async def _search_beside(client: HyMemoryClient, barrier: threading.Barrier) -> int:
    await asyncio.to_thread(barrier.wait)
    answers = [await client.async_search("alpha", user_ids=["u0"]) for _ in range(10)]
    answers += await asyncio.gather(*(client.async_search("alpha", user_ids=["u1"]) for _ in range(10)))
    return sum("rewrite" in one for one in answers)


def test_memories_of_one_conversation_are_deleted_by_many_threads(folder: Path) -> None:
    """Their raw turns are one row that each deletion rewrites: no deletion may fail over it."""
    with open_client("faiss", folder) as client:
        for _ in range(5):
            messages = [{"role": "user", "content": f"alpha {at}"} for at in range(8)]
            made = client.add(messages, user_id="u")["memory_ids"]
            barrier = threading.Barrier(8)

            def delete(memory_id: str, barrier: threading.Barrier = barrier) -> int:
                barrier.wait()
                return client.delete(memory_id)["deleted_count"]

            with ThreadPoolExecutor(8) as pool:
                assert list(pool.map(delete, made)) == [1] * 8
        assert client.memory_stats(user_id="u")["by_layer"] == {}


def test_one_memory_is_updated_by_many_threads(folder: Path) -> None:
    """Each update is kept: the version counts them all, and text, vector and history agree."""
    with open_client("faiss", folder) as client:
        memory_id = client.add("alpha", user_id="u")["memory_id"]
        with ThreadPoolExecutor(6) as pool:
            changes = [text(f"beta {at}", at) for at in range(1, 7)]
            list(pool.map(client.update, [memory_id] * 6, changes))
        now = client.get(memory_id, versions=True) or {}
        assert now.get("version") == 7
        assert len(now.get("versions", [])) == 6
        (found,) = normal(client.search(str(now.get("content")), user_ids=["u"]))
        assert (found["content"], found["score"]) == (now.get("content"), 0.99999)
        assert [one["event"] for one in client.history(memory_id)] == ["update"] * 6 + ["add"]


def test_a_slow_embedder_does_not_hold_the_event_loop(folder: Path) -> None:
    """C54: beside an embedder of 200 ms a sleep of 20 ms ends on time, for search and for add."""

    async def beside(call: Any) -> float:
        running = asyncio.ensure_future(call)
        await asyncio.sleep(0)
        started = time.perf_counter()
        await asyncio.sleep(0.02)
        slept = time.perf_counter() - started
        assert not running.done()
        await running
        return slept

    with open_client("faiss", folder, DottedEmbedding(delay=0.2)) as client:
        (memory_id,) = client.add_extracted(["alpha"], user_id="u", embeddings=[[1.0] + [0.0] * 7])[
            "memory_ids"
        ]
        numbers = count()
        for call in (
            lambda: client.async_search(f"alpha {next(numbers)}", user_ids=["u"]),
            lambda: client.async_add(f"beta {next(numbers)}", user_id="u"),
            lambda: client.async_update(memory_id, f"gamma {next(numbers)}"),
        ):
            # three tries: the machine, too, may be busy for a moment; a blocked loop is never on time
            assert min(asyncio.run(beside(call())) for _ in range(3)) < 0.08


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_async_twins_answer_what_the_verbs_answer(folder: Path, backend: str) -> None:
    async def live(client: HyMemoryClient) -> None:
        made = await client.async_add([{"role": "user", "content": "alpha"}], user_id="u", request_id="r")
        memory_id = made["memory_id"]
        await client.async_add_extracted(["beta"], user_id="u")
        await client.async_update(memory_id, "alpha gamma")
        found = await client.async_search("gamma", user_ids=["u"], reader="hybrid")
        assert contents(found)[0] == "alpha gamma"
        assert await client.async_get(memory_id) == client.get(memory_id)
        assert await client.async_list_memories(user_id="u") == client.list_memories(user_id="u")
        assert await client.async_memory_stats(user_id="u") == client.memory_stats(user_id="u")
        assert await client.async_history(memory_id) == client.history(memory_id)
        assert await client.async_get_recent_history(user_id="u") == client.get_recent_history(user_id="u")
        assert await client.async_get_write_outcome("r") == client.get_write_outcome("r")
        finalized = await client.async_finalize_session(user_id="u", session_id="default_session")
        assert (
            finalized["memory_ids"]
            == made["memory_ids"]
            + client.finalize_session(user_id="u", session_id="default_session")["memory_ids"][1:]
        )
        assert (await client.async_doctor())["healthy"]
        assert (await client.async_clone_user("u", "v"))["copied_count"] == 3
        assert (await client.async_delete(memory_id))["deleted_count"] == 1
        assert (await client.async_delete_all(user_id="u"))["deleted_count"] == 1
        assert (await client.async_memory_stats(user_id="v"))["total"] == 2
        with pytest.raises(ValueError, match="user_ids"):
            await client.async_search("alpha", user_ids=[])

    with open_client(backend, folder) as client:
        asyncio.run(live(client))
    assert len(GOOD) == 15  # a verb more needs a line more above


def test_closing_waits_for_the_calls_that_run(folder: Path) -> None:
    async def live() -> str:
        client = open_client("faiss", folder, DottedEmbedding(delay=0.1))
        running = asyncio.ensure_future(client.async_add("alpha", user_id="u"))
        await asyncio.sleep(0.02)
        await client.async_close()
        return (await running)["memory_id"]

    memory_id = asyncio.run(live())
    with open_client("faiss", folder) as client:
        assert ids(client.search("alpha", user_ids=["u"])) == [memory_id]


def test_no_thread_is_left_after_close(folder: Path) -> None:
    before = set(threading.enumerate())
    with open_client("faiss", folder) as client:
        asyncio.run(_few(client))
        client.add("beta", user_id="u")
    assert set(threading.enumerate()) <= before


async def _few(client: HyMemoryClient) -> None:
    await asyncio.gather(*(client.async_add(f"alpha {at}", user_id="u") for at in range(5)))
