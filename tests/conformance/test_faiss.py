"""The default backend under the whole suite."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from hy_memory.errors import BackendError, InvalidArgumentError
from hy_memory.filters.tree import Compare, Op
from hy_memory.ports import Backend, BackendOptions
from hy_memory.testing.contracts.harness import Harness, by_id, open_harness, users
from hy_memory.testing.contracts.keyword import KeywordIndexContract, ids_of
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.testing.fakes import ListSource, make_point, payload_for, unit
from hy_memory.values.point import Point
from hy_memory.vectors.faiss.store import open_backend
from hy_memory.vectors.memory import open_backend as open_reference

ANA = payload_for("ana")


class _Faiss:
    @pytest.fixture
    def harness(self) -> Harness:
        return open_harness(open_backend, BackendOptions(dims=VectorIndexContract.dims))


class TestVectors(_Faiss, VectorIndexContract):
    pass


class TestKeywords(_Faiss, KeywordIndexContract):
    pass


def a_point(point_id: str, rng: np.random.Generator, source: str = "default") -> Point:
    weights = {int(term): float(rng.integers(1, 5)) / 4 for term in rng.integers(0, 60, 12)}
    payload = payload_for("ana") if source == "default" else replace(ANA, source=source)
    return make_point(point_id, payload, rng.standard_normal(8), weights)


@pytest.mark.parametrize("dims", [1, 3, 8, 383, 384])
def test_equal_rows_score_equal_wherever_they_stand(dims: int) -> None:
    """Law 3: rounding must not order what is equal, whatever the row, the filter or the way of asking."""
    rng = np.random.default_rng(dims)
    same, query = rng.standard_normal(dims), unit(rng.standard_normal(dims).astype(np.float32))
    source = ListSource(
        make_point(f"p{row}", replace(ANA, source="mail" if row % 5 == 0 else "chat"), same)
        for row in range(101)
    )
    vectors = open_backend(BackendOptions(dims=dims), source).vectors
    scores = set(vectors.search(query, users("ana"), 200).scores.tolist())
    for name in ("mail", "chat"):
        where = users("ana", tree=Compare("source", Op.EQ, name))
        scores |= set(vectors.search(query, where, 200).scores.tolist())
    scores |= set(vectors.score(query, [f"p{row}" for row in range(101)], users("ana")).tolist())
    assert len(scores) == 1


def test_a_vector_of_another_size_is_refused() -> None:
    """C59: the kernels read raw memory, so a wrong size must never reach them."""
    source = ListSource([a_point("p", np.random.default_rng(1))])
    vectors = open_backend(BackendOptions(dims=8), source).vectors
    for wrong in (7, 9):
        with pytest.raises(InvalidArgumentError):
            vectors.search(np.ones(wrong, dtype=np.float32), users("ana"), 1)
        with pytest.raises(InvalidArgumentError):
            vectors.score(np.ones(wrong, dtype=np.float32), ["p"], users("ana"))


def test_a_change_that_fails_half_way_is_forgotten() -> None:
    """C59: a point that cannot be applied fails the read, and spoils nothing for the next one."""
    rng = np.random.default_rng(2)
    source = ListSource(a_point(f"p{row}", rng) for row in range(5))
    vectors = open_backend(BackendOptions(dims=8), source).vectors
    query = unit([1.0] * 8)
    before = by_id(vectors.search(query, users("ana"), 9))
    source.put([a_point("p5", rng), make_point("bad", ANA, [1.0, 0.0, 0.0])])
    with pytest.raises(BackendError, match=r"'bad' has 3 numbers and not 8.*reembed"):
        vectors.search(query, users("ana"), 9)
    source.remove(["bad", "p5"])
    source.put([make_point("p6", ANA, query)])
    after = by_id(vectors.search(query, users("ana"), 9))
    assert after == pytest.approx(before | {"p6": 1.0})


def test_long_life_answers_like_a_fresh_start() -> None:
    """C14, C77: after thousands of single adds, updates and deletes the answers are the reference's."""
    rng = np.random.default_rng(21)
    harness = open_harness(open_backend, BackendOptions(dims=8))
    reference = open_harness(open_reference, BackendOptions(dims=8))
    held: list[str] = []
    for step in range(3_000):
        if held and rng.random() < (0.45 if step < 1_500 else 0.6):
            gone = held.pop(int(rng.integers(len(held))))
            harness.remove([gone])
            reference.remove([gone])
        else:
            renewed = held and rng.random() < 0.2
            name = held[int(rng.integers(len(held)))] if renewed else f"p{step}"
            point = a_point(name, rng, "mail" if rng.random() < 0.3 else "default")
            harness.put([point])
            reference.put([point])
            held += [] if renewed else [name]
        harness.backend.vectors.count(users("ana"))
        if step % 250 == 249:
            _agree(harness, reference, rng)


def _agree(harness: Harness, reference: Harness, rng: np.random.Generator) -> None:
    query = unit(rng.standard_normal(8).astype(np.float32))
    terms = ids_of(*rng.integers(0, 80, 5).tolist())
    for where in (users("ana"), users("ana", tree=Compare("source", Op.EQ, "mail"))):
        for top_k in (10, 5_000):
            ours, theirs = (
                (
                    by_id(one.backend.vectors.search(query, where, top_k)),
                    by_id(one.keywords.search(terms, where, top_k)),
                )
                for one in (harness, reference)
            )
            assert ours[0] == pytest.approx(theirs[0], abs=1e-5)
            assert ours[1] == pytest.approx(theirs[1], abs=1e-5)


def pair(number: int, rng: np.random.Generator) -> list[Point]:
    """Two points that are always written and removed in one go."""
    payload = replace(ANA, source=f"pair{number % 50}")
    return [make_point(f"{side}{number}", payload, rng.standard_normal(8), {1: 0.5}) for side in "ab"]


def write_pairs(source: ListSource, first: int) -> None:
    rng = np.random.default_rng(first)
    for number in range(first, first + 150):
        source.put(pair(number, rng))
        if number % 3:
            source.put(pair(number, rng))
        if number % 2:
            source.remove([f"a{number}", f"b{number}"])


def read_pairs(backend: Backend, done: threading.Event) -> None:
    assert backend.keywords is not None
    query, everyone = unit([1.0] * 8), users("ana")
    while not done.is_set():
        seen = backend.vectors.search(query, everyone, 100_000).ids
        worded = backend.keywords.search(ids_of(1), everyone, 100_000).ids
        for found in (seen, worded):
            assert {one[1:] for one in found if one[0] == "a"} == {one[1:] for one in found if one[0] == "b"}
        assert len([one for one in seen if one[0] == "x"]) == 300
        assert np.isfinite(backend.vectors.score(query, ["x0", "x299"], everyone)).all()


def test_sixteen_threads_search_while_others_write() -> None:
    """C51: no exception, no half-applied change: what was written together is seen together."""
    rng = np.random.default_rng(16)
    source = ListSource(a_point(f"x{row}", rng) for row in range(300))
    backend = open_backend(BackendOptions(dims=8), source)
    done = threading.Event()
    with ThreadPoolExecutor(19) as pool:
        readers = [pool.submit(read_pairs, backend, done) for _ in range(16)]
        writers = [pool.submit(write_pairs, source, first) for first in (0, 1_000, 2_000)]
        try:
            for writer in writers:
                writer.result(120)
        finally:
            done.set()
        for reader in readers:
            reader.result(120)
    assert backend.vectors.count(users("ana")) == 300 + 3 * 150
