"""Chroma embedded in a folder passes the suite, and keeps its own promises about folders."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("chromadb", reason="the extra 'chroma' is not installed")

from hy_memory.errors import BackendError, ClosedError, ConfigurationError, StoreLockedError
from hy_memory.filters.tree import EVERYTHING, Compare, Op
from hy_memory.ports import Backend, BackendOptions
from hy_memory.testing.contracts.harness import Harness, by_id, open_harness, users
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.vectors.chroma.store import open_backend

# Chroma asks for interfaces of Python and pydantic that are on their way out.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb"),
]
DIMS = VectorIndexContract.dims


def opened(path: Path, dims: int = DIMS, collection: str = "hy_memory") -> Backend:
    return open_backend(BackendOptions(dims, str(path), collection=collection), ListSource())


@pytest.fixture
def backend(tmp_path: Path) -> Generator[Backend]:
    backend = opened(tmp_path)
    yield backend
    backend.close()


def filled(backend: Backend, user_id: str, count: int, seed: int = 0) -> np.ndarray:
    """Store `count` random points "000000" … of `user_id`; return their vectors."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMS)).astype(np.float32)
    points = [make_point(f"{user_id}{at:06}", payload_for(user_id), row) for at, row in enumerate(vectors)]
    assert backend.fed is not None
    backend.fed.upsert(points)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class TestVectors(VectorIndexContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Generator[Harness]:
        options = BackendOptions(self.dims, str(tmp_path))
        first = open_harness(open_backend, options)

        def reopen() -> Harness:
            first.backend.close()
            return open_harness(open_backend, options)

        yield replace(first, reopen=reopen)
        first.backend.close()


def test_a_large_scope_is_searched_exactly(tmp_path: Path) -> None:
    """Law 8: the best of thousands are the best, from what was just written and after a restart."""
    writer = opened(tmp_path)
    vectors = filled(writer, "ana", 3_000)
    filled(writer, "ben", 500, seed=1)
    queries = np.random.default_rng(2).standard_normal((5, DIMS)).astype(np.float32)
    for reopened in (False, True):
        if reopened:
            writer.close()
        backend = opened(tmp_path) if reopened else writer
        for query in queries / np.linalg.norm(queries, axis=1, keepdims=True):
            ranking = backend.vectors.search(query, users("ana"), 30)
            exact = vectors.astype(np.float64) @ query.astype(np.float64)
            assert {f"ana{at:06}" for at in np.argsort(-exact)[:30]} <= set(ranking.ids)
            assert ranking.scores[:30] == pytest.approx(np.sort(exact)[::-1][:30], abs=1e-5)
            assert not ranking.exhausted
        backend.close()


def test_more_scores_than_one_call_takes(backend: Backend) -> None:
    """C50: lists longer than Chroma's batch are asked and removed in parts."""
    filled(backend, "ana", 300)
    asked = [f"ana{at:06}" for at in range(6_000)]
    scores = backend.vectors.score(np.eye(DIMS, dtype=np.float32)[0], asked, users("ana"))
    assert np.flatnonzero(np.isfinite(scores)).tolist() == list(range(300))
    assert backend.fed is not None
    backend.fed.remove([*asked, *asked])
    assert list(backend.fed.ids()) == []


def test_a_small_memory_budget_changes_no_answer(tmp_path: Path) -> None:
    """C56: the working set is bounded; what does not fit is fetched again."""
    budget = 100 * DIMS * 4
    backend = open_backend(BackendOptions(DIMS, str(tmp_path), memory_budget=budget), ListSource())
    vectors = {name: filled(backend, name, 80, seed) for seed, name in enumerate(("ana", "ben", "cem"))}
    both = {name: vectors[name] for name in ("ana", "ben")}
    query = np.eye(DIMS, dtype=np.float32)[0]
    for _ in range(2):
        for asked in (("ana",), ("ben",), tuple(both)):
            everything = np.concatenate([vectors[name] for name in asked])
            best = np.sort(everything.astype(np.float64) @ query)[::-1][:7]
            ranking = backend.vectors.search(query, users(*asked), 7)
            assert ranking.scores[:7] == pytest.approx(best, abs=1e-5)
    backend.close()


def test_a_half_finished_update_shows_a_memory_once(backend: Backend) -> None:
    """C49: killed between storing the new vector and removing the old one; the replay mends it."""
    assert backend.fed is not None
    ana = payload_for("ana")
    one, two, three = np.eye(DIMS, dtype=np.float32)[:3]
    backend.fed.upsert([make_point("p", ana, one), make_point("q", ana, one + 0.2 * two)])
    collection = backend.vectors._collection  # type: ignore[attr-defined]
    old = collection.get(where={"memory_id": "p"}, include=["metadatas"])
    collection.add(ids=["p:0123456789abcdef"], embeddings=[one + 0.1 * two], metadatas=old["metadatas"])
    assert backend.vectors.search(one, users("ana"), 2).ids == ("p", "q")
    assert backend.vectors.count(users("ana")) == 2
    assert sorted(backend.fed.ids()) == ["p", "q"]
    backend.fed.upsert([make_point("p", ana, three)])
    assert by_id(backend.vectors.search(three, users("ana"), 1)) == pytest.approx({"p": 1.0})
    assert collection.count() == 2


def test_an_id_twice_in_one_call_is_stored_as_the_last(backend: Backend) -> None:
    assert backend.fed is not None
    ana = payload_for("ana")
    first, second = np.eye(DIMS, dtype=np.float32)[:2]
    backend.fed.upsert([make_point("p", ana, first), make_point("p", ana, second)])
    assert by_id(backend.vectors.search(second, users("ana"), 5)) == pytest.approx({"p": 1.0})


def test_an_update_takes_away_what_a_point_no_longer_has(backend: Backend) -> None:
    """C63: Chroma merges metadata; tags and attributes of the old version must not stay."""
    assert backend.fed is not None
    query = np.eye(DIMS, dtype=np.float32)[0]
    rich = replace(payload_for("ana"), tags=("travel",), expires_at=5.0, attributes={"n": [1, 2], "s": "x"})
    backend.fed.upsert([make_point("p", rich, query)])
    backend.fed.upsert([make_point("p", payload_for("ana"), query)])
    for tree in (
        Compare("tags", Op.EQ, "travel"),
        Compare("tags", Op.EXISTS, True),
        Compare("expires_at", Op.EXISTS, True),
        Compare("expires_at", Op.LTE, 5.0),
        Compare("metadata.n", Op.GTE, 1),
        Compare("metadata.s", Op.EQ, "x"),
    ):
        assert backend.vectors.count(users("ana", tree=tree)) == 0
    assert backend.vectors.count(users("ana", tree=EVERYTHING)) == 1


@pytest.mark.parametrize("odd", ["a\0b", "cut \ud83d", "~escaped", "", "x" * 3000])
def test_ids_and_fields_no_storage_likes_stay_apart(backend: Backend, odd: str) -> None:
    """C33: NUL, lone surrogates and the escape sign itself name only themselves."""
    assert backend.fed is not None
    query = np.eye(DIMS, dtype=np.float32)[0]
    payload = replace(payload_for(f"u{odd}"), session_id=odd, tags=(odd,))
    backend.fed.upsert([make_point(odd, payload, query), make_point("plain", payload_for("u"), query)])
    where = users(f"u{odd}", tree=Compare("session_id", Op.EQ, odd))
    assert backend.vectors.search(query, where, 5).ids == (odd,)
    assert set(backend.fed.ids()) == {odd, "plain"}
    backend.fed.remove([odd])
    assert list(backend.fed.ids()) == ["plain"]


def test_two_clients_of_one_process_share_the_folder(tmp_path: Path) -> None:
    """C46: the second sees the first one's points and survives its closing."""
    first, second = opened(tmp_path), opened(tmp_path)
    filled(first, "ana", 3)
    assert second.vectors.count(users("ana")) == 3
    first.close()
    first.close()
    with pytest.raises(ClosedError):
        first.vectors.count(users("ana"))
    filled(second, "ben", 2)
    assert second.vectors.count(users("ben")) == 2
    second.close()
    third = opened(tmp_path)
    assert third.vectors.count(users("ana", "ben")) == 5
    third.close()


def test_a_client_finds_the_collection_that_another_one_made_anew(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    filled(first, "ana", 3)
    assert second.fed is not None
    second.fed.clear()
    assert first.vectors.count(users("ana")) == 0
    filled(first, "ana", 2)
    assert second.vectors.count(users("ana")) == 2
    first.close()
    second.close()


HOLDER = """
import sys, time
from hy_memory.ports import BackendOptions
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.vectors.chroma.store import open_backend
backend = open_backend(BackendOptions(8, sys.argv[1]), ListSource())
for at in range(1_000_000):
    backend.fed.upsert([make_point(f"p{at}", payload_for("ana"), [1.0] * 8)])
    print(at, flush=True)
"""


def test_another_process_is_told_and_a_killed_one_leaves_an_open_folder(tmp_path: Path) -> None:
    """C46, C49: a clear typed error with the way out; after SIGKILL all that was acknowledged is there."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as holder:
        assert holder.stdout is not None
        last = [int(holder.stdout.readline()) for _ in range(3)][-1]
        with pytest.raises(StoreLockedError, match="MEMORY_VECTOR_STORE_URL"):
            opened(tmp_path)
        holder.kill()
        last = max([last, *(int(line) for line in holder.stdout if line.endswith(b"\n"))])
    backend = opened(tmp_path)
    assert backend.fed is not None
    assert {f"p{at}" for at in range(last + 1)} <= set(backend.fed.ids())
    assert len(backend.vectors.search(np.eye(8, dtype=np.float32)[0], users("ana"), 1000).ids) > last
    backend.close()


def test_other_dimensions_are_refused_unless_nothing_is_stored(tmp_path: Path) -> None:
    """C59: both widths are named; an empty collection takes the new one."""
    opened(tmp_path, dims=4).close()
    backend = opened(tmp_path, dims=8)
    filled(backend, "ana", 1)
    backend.close()
    with pytest.raises(ConfigurationError, match=r"8 dimensions.*4 dimensions.*reindex"):
        opened(tmp_path, dims=4)
    again = opened(tmp_path, dims=8)
    assert again.vectors.count(users("ana")) == 1
    again.close()


def test_somebody_else_s_collection_is_left_alone(tmp_path: Path) -> None:
    """C45: what is already in the folder is neither used nor wiped."""
    backend = opened(tmp_path, collection="ours")
    client = backend.vectors._connection.client  # type: ignore[attr-defined]
    foreign = client.create_collection("theirs", embedding_function=None)
    foreign.add(ids=["x"], embeddings=[[1.0] * DIMS])
    with pytest.raises(ConfigurationError, match="something else"):
        opened(tmp_path, collection="theirs")
    assert foreign.count() == 1
    backend.close()


@pytest.mark.parametrize("name", ["ab", "a b", "-ab", "用户一", ""])
def test_a_collection_name_that_chroma_refuses_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_COLLECTION_NAME"):
        opened(tmp_path, collection=name)


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="file"):
        opened(tmp_path / "file")
    with pytest.raises(ConfigurationError, match="MEMORY_VECTOR_STORE_PATH"):
        open_backend(BackendOptions(DIMS), ListSource())


def test_many_threads_read_while_one_writes(backend: Backend) -> None:
    """C51: counts are exact afterwards and no reader fails meanwhile."""
    filled(backend, "ana", 50)
    query = np.eye(DIMS, dtype=np.float32)[0]

    def read(_: int) -> set[int]:
        return {len(backend.vectors.search(query, users("ana"), 10).ids) for _ in range(20)}

    with ThreadPoolExecutor(6) as pool:
        reading = pool.map(read, range(5))
        pool.submit(filled, backend, "ben", 50).result()
        assert set().union(*reading) == {10}
    assert backend.vectors.count(users("ana", "ben")) == 100


def test_no_thread_is_left_behind(tmp_path: Path) -> None:
    """C65: neither ours nor Chroma's (no telemetry) survive closing."""
    before = set(threading.enumerate())
    backend = opened(tmp_path)
    filled(backend, "ana", 10)
    backend.close()
    assert set(threading.enumerate()) <= before


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, target: Path) -> None:
        self.target = str(target)

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.target,)


def test_a_planted_pickle_is_not_run(tmp_path: Path) -> None:
    """C66: Chroma itself keeps a file in that format; its engine reads it without running anything."""
    store, fired = tmp_path / "store", tmp_path / "fired"
    backend = opened(store)
    filled(backend, "ana", 1_200)
    backend.close()
    planted = list(store.rglob("*.pickle"))
    assert planted, "Chroma no longer keeps such a file: this test has lost its object"
    for file in planted:
        file.write_bytes(pickle.dumps(Bomb(fired)))
    with suppress(BackendError):
        again = opened(store)
        again.vectors.search(np.eye(DIMS, dtype=np.float32)[0], users("ana"), 5)
        again.close()
    assert not fired.exists()


def test_a_project_s_env_file_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C65: Chroma would read telemetry and server settings from any `.env` in the working folder."""
    (tmp_path / ".env").write_text(
        "ANONYMIZED_TELEMETRY=true\nIS_PERSISTENT=false\nPERSIST_DIRECTORY=/nowhere\n"
    )
    monkeypatch.chdir(tmp_path)
    backend = opened(tmp_path / "store")
    settings = backend.vectors._connection.client.get_settings()  # type: ignore[attr-defined]
    assert settings.anonymized_telemetry is False
    assert (tmp_path / "store" / "chroma.sqlite3").exists()
    backend.close()
