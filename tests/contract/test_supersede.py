"""One memory supersedes another: the write, its refusals, and what the other verbs make of chains."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConflictError, EmbeddingError, InvalidArgumentError, MemoryNotFoundError
from hy_memory.maintenance.reembed import reembed
from hy_memory.maintenance.reindex import reindex
from hy_memory.settings.load import load_settings
from tests.support.embedding import DottedEmbedding, text
from tests.support.stores import BACKENDS, LASTING, READERS, config_for, contents, ids, normal, open_client

ROOT = Path(__file__).parents[2]


def successor(
    client: HyMemoryClient,
    content: str,
    of: str,
    *,
    source: str = "default",
    session_id: str = "default_session",
    request_id: str | None = None,
) -> str:
    """Store a fact in the place of another."""
    fact: dict[str, object] = {"content": content, "supersedes": of}
    answer = client.add_extracted(
        [fact], user_id="u", source=source, session_id=session_id, request_id=request_id
    )
    return answer["memory_id"]


def stored(client: HyMemoryClient, memory_id: str) -> dict[str, Any]:
    """Return a memory that must be there."""
    return cast("dict[str, Any]", client.get(memory_id))


def line(client: HyMemoryClient, head: str) -> list[str]:
    """Return a chain's contents, newest first, by its links."""
    found: list[str] = []
    one: str | None = head
    while one is not None:
        memory = stored(client, one)
        assert memory["status"] == ("superseded" if found else "active")
        found.append(memory["content"])
        one = memory["supersedes"]
    return found


def test_both_ends_of_a_link_are_shown(client: HyMemoryClient) -> None:
    old = client.add("alpha", user_id="u")["memory_id"]
    new = successor(client, "beta", old)
    assert [stored(client, old)[key] for key in ("status", "supersedes", "superseded_by")] == [
        "superseded",
        None,
        new,
    ]
    assert [stored(client, new)[key] for key in ("status", "supersedes", "superseded_by")] == [
        "active",
        old,
        None,
    ]
    listed = client.list_memories(user_id="u", statuses=["superseded"])
    assert [one["memory_id"] for one in listed["memories"]] == [old]
    assert client.list_memories(user_id="u")["total"] == client.memory_stats(user_id="u")["total"] == 2
    assert [one["event"] for one in client.history(old)] == ["supersede", "add"]
    client.delete(new)
    assert [one["event"] for one in client.history(old)] == ["restore", "supersede", "add"]
    assert client.doctor()["healthy"]


@pytest.mark.parametrize("named", ["unknown", "theirs", "raw", 7, ""])
def test_what_cannot_be_superseded_stores_nothing(client: HyMemoryClient, named: object) -> None:
    client.add("alpha", user_id="u")
    (raw,) = client.list_memories(user_id="u", layers=["l1_raw"])["memories"]
    theirs = client.add("beta", user_id="v")["memory_id"]
    named = {"theirs": theirs, "raw": raw["memory_id"]}.get(str(named), named)
    is_missing = named in ("unknown", theirs)
    with pytest.raises(MemoryNotFoundError if is_missing else InvalidArgumentError):
        client.add_extracted(
            ["gamma", {"content": "delta", "supersedes": named}], user_id="u", request_id="r"
        )
    assert client.list_memories(user_id="u")["total"] == 1
    assert client.get_write_outcome("r") is None
    assert stored(client, theirs)["status"] == "active"


def test_an_embedder_that_fails_supersedes_nothing(folder: Path) -> None:
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as client:
        old = client.add("alpha", user_id="u")["memory_id"]
        embedder.fail_next = 1
        with pytest.raises(EmbeddingError):
            successor(client, "beta", old)
        assert contents(client.search("alpha", user_ids=["u"])) == ["alpha"]


def test_a_repeated_request_supersedes_once(client: HyMemoryClient) -> None:
    """Also when the memory it named has been deleted since; another target is other content."""
    old, other = client.add_extracted(["alpha", "delta"], user_id="u")["memory_ids"]
    new = successor(client, "beta", old, request_id="r")
    assert successor(client, "beta", old, request_id="r") == new
    assert line(client, new) == ["beta", "alpha"]
    with pytest.raises(ConflictError):
        successor(client, "beta", other, request_id="r")
    client.delete(old)
    assert successor(client, "beta", old, request_id="r") == new


@pytest.mark.parametrize("backend", BACKENDS)
def test_deleting_the_head_brings_the_old_one_back(folder: Path, backend: str) -> None:
    """On every backend the status reaches the copy it keeps."""
    with open_client(backend, folder) as client:
        first = client.add("alpha", user_id="u")["memory_id"]
        second = successor(client, "beta", first)
        third = successor(client, "gamma", first)
        for reader in READERS:
            assert ids(client.search("alpha", user_ids=["u"], reader=reader)) == [third]
        client.delete(second)
        assert line(client, third) == ["gamma", "alpha"]
        client.delete(third)
        for reader in READERS:
            (hit,) = normal(client.search("alpha", user_ids=["u"], reader=reader))
            assert hit["memory_id"] == first
            assert "evolution_chain" not in hit
        assert client.doctor()["healthy"]


def test_deleting_a_session_closes_the_chains_it_cuts(client: HyMemoryClient) -> None:
    first = client.add("one", user_id="u", session_id="a")["memory_id"]
    successor(client, "two", first, session_id="b")
    third = successor(client, "three", first, session_id="a")
    successor(client, "four", first, session_id="b")
    assert client.delete_all(user_id="u", session_ids=["b"])["deleted_count"] == 2
    assert line(client, third) == ["three", "one"]
    assert contents(client.search("one", user_ids=["u"])) == ["three"]
    assert client.doctor()["healthy"]


@pytest.mark.parametrize("backend", LASTING)
def test_a_chain_lives_through_copies_and_rebuilds(folder: Path, backend: str) -> None:
    """clone_user, reembed and reindex: superseded memories stay what they are, and searchable by source."""
    with open_client(backend, folder) as client:
        client.add_extracted([f"filler {at}" for at in range(600)], user_id="u", source="web")
        first = client.add("alpha", user_id="u", source="app")["memory_id"]
        for at in range(3):
            successor(client, f"beta {at}", first, source="mail")
        client.add_extracted([f"filler {at}" for at in range(600, 1200)], user_id="u", source="web")
        assert client.clone_user("u", "v")["copied_count"] == 1205
        assert client.doctor()["healthy"]
    settings = load_settings(config_for(backend, folder))
    assert reembed(settings, embedding_service=DottedEmbedding()).vectors == 2408
    assert reindex(settings).sound
    with open_client(backend, folder) as client:
        for user_id in ("u", "v"):
            (old,) = normal(client.search("alpha", user_ids=[user_id], include_sources=["app"]))
            assert (old["content"], old["superseded_elsewhere"]) == ("alpha", True)
            (new,) = normal(client.search("alpha", user_ids=[user_id], include_sources=["app", "mail"]))
            assert [one["content"] for one in new["evolution_chain"]] == [
                "beta 2",
                "beta 1",
                "beta 0",
                "alpha",
            ]
            assert line(client, new["memory_id"]) == ["beta 2", "beta 1", "beta 0", "alpha"]
        assert ids(client.search("alpha", user_ids=["u"])) != ids(client.search("alpha", user_ids=["v"]))
        assert client.doctor()["healthy"]


def test_a_long_chain_is_shown_in_part(client: HyMemoryClient) -> None:
    """The hit and 100 earlier texts, updates among them."""
    head = client.add("text 0", user_id="u")["memory_id"]
    for at in range(1, 120):
        head = successor(client, f"text {at}", head)
    client.update(head, "text 120")
    (hit,) = normal(client.search("text", user_ids=["u"]))
    assert [one["content"] for one in hit["evolution_chain"]] == [f"text {at}" for at in range(120, 19, -1)]
    assert {one["memory_id"] for one in hit["evolution_chain"][:2]} == {head}


def test_the_block_for_a_prompt_says_what_no_longer_holds(client: HyMemoryClient) -> None:
    old = client.add("lives in Lyon", user_id="u", source="app")["memory_id"]
    successor(client, "lives in Oslo", old, source="mail")
    plain = client.context("lives", user_ids=["u"])["text"]
    assert "Oslo" in plain
    assert "replaced" not in plain
    shown = client.context("lives", user_ids=["u"], include_sources=["app"])["text"]
    assert '"user" (replaced since by a note that is not shown): "lives in Lyon"' in shown


def test_the_profile_is_of_what_holds(client: HyMemoryClient) -> None:
    old = client.add("I live in Lyon.", user_id="u")["memory_id"]
    successor(client, "I live in Oslo.", old)
    place: Any = client.get_user_profile(user_id="u")["basic_info"]["location"]
    assert (place["value"], [one["value"] for one in place["history"]]) == ("Oslo", ["Oslo"])


def test_explain_names_what_a_newer_one_stands_for(client: HyMemoryClient) -> None:
    old = client.add("alpha", user_id="u", source="app")["memory_id"]
    successor(client, text("alpha", 4), old, source="mail")
    answer: Any = client.search("alpha", user_ids=["u"], include_sources=["app", "mail"], explain="dropped")
    assert answer["trace"]["dropped"] == [{"memory_id": old, "score": 0.99999, "reason": "superseded"}]


def test_every_search_sees_one_of_a_chain_while_it_grows(folder: Path) -> None:
    """C51: neither two members of a chain nor none, whatever a writer does meanwhile."""
    with open_client("faiss", folder) as client:
        first = client.add("alpha", user_id="u")["memory_id"]

        def look(reader: str) -> set[int]:
            seen: set[int] = set()
            while not written.done():
                seen.add(len(ids(client.search("alpha", user_ids=["u"], reader=reader))))
            return seen

        with ThreadPoolExecutor(3) as pool:
            written = pool.submit(lambda: [successor(client, "alpha", first) for _ in range(150)])
            assert [one.result() for one in [pool.submit(look, one) for one in READERS]] == [{1}, {1}]


_WRITER = """
import json, sys
from tests.support.stores import open_client
from tests.contract.test_supersede import successor
from pathlib import Path

with open_client("faiss", Path(sys.argv[1])) as client:
    print(json.dumps([successor(client, f"{sys.argv[3]} {at}", sys.argv[2]) for at in range(40)]))
"""


def test_processes_and_threads_leave_one_line(folder: Path) -> None:
    """All of them supersede the same memory at once: nobody's is lost, and one alone is current."""
    with open_client("faiss", folder) as client:
        first = client.add("alpha", user_id="u")["memory_id"]
        command = [sys.executable, "-c", _WRITER, str(folder), first]
        others = [
            subprocess.Popen([*command, name], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in "ab"
        ]
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(partial(successor, client, of=first), [f"here {at}" for at in range(40)]))
        for other in others:
            made += json.loads(other.communicate(timeout=120)[0])
            assert other.returncode == 0
        (head,) = client.list_memories(user_id="u", statuses=["active"])["memories"]
        found = line(client, head["memory_id"])
        assert len(found) == len(set(found)) == len(made) + 1 == 121
        assert found[-1] == "alpha"
        assert client.doctor()["healthy"]
