"""The cache of fetched vectors: exact, bounded, and small again after what was in it is gone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.vectors.chroma.rows import RowCache

DIMS = 4
QUERY = np.array([0.6, 0.8, 0, 0], dtype=np.float32)


def vector_of(row: str) -> npt.NDArray[np.float32]:
    seed = int.from_bytes(row.encode(), "big") % (1 << 32)
    vector = np.random.default_rng(seed).standard_normal(DIMS).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


class Store:
    """Rows that can be fetched, and how many were."""

    def __init__(self, gone: Sequence[str] = ()) -> None:
        self.gone = gone
        self.fetched: list[str] = []

    def fetch(self, rows: Sequence[str]) -> tuple[Sequence[str], npt.ArrayLike]:
        self.fetched += rows
        found = [row for row in rows if row not in self.gone]
        return found[::-1], [vector_of(row) * 3 for row in found[::-1]]


def expected(rows: Sequence[str]) -> list[float]:
    return [float(vector_of(row) @ QUERY) for row in rows]


@given(
    st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=8, unique=True), max_size=8),
    st.integers(1, 20),
)
def test_scores_are_right_whatever_is_cached(asked: list[list[str]], room: int) -> None:
    cache, store = RowCache(DIMS, room * DIMS * 4), Store()
    for rows in asked:
        assert cache.cosines(rows, QUERY, store.fetch).tolist() == pytest.approx(expected(rows), abs=1e-6)
        cache.discard(rows[:2])


def test_a_row_is_fetched_once() -> None:
    cache, store = RowCache(DIMS, 1 << 20), Store()
    cache.cosines(["a", "b"], QUERY, store.fetch)
    cache.cosines(["b", "c", "a"], QUERY, store.fetch)
    assert store.fetched == ["a", "b", "c"]
    cache.clear()
    cache.cosines(["a"], QUERY, store.fetch)
    assert store.fetched == ["a", "b", "c", "a"]


def test_what_was_added_need_not_be_fetched() -> None:
    cache, store = RowCache(DIMS, 1 << 20), Store()
    cache.add(["a"], [vector_of("a")])
    assert cache.cosines(["a"], QUERY, store.fetch).tolist() == pytest.approx(expected(["a"]), abs=1e-6)
    assert store.fetched == []


def test_a_row_that_is_gone_has_no_score() -> None:
    cache = RowCache(DIMS, 1 << 20)
    scores = cache.cosines(["a", "b"], QUERY, Store(gone=["a"]).fetch)
    assert np.isnan(scores[0])
    assert scores[1] == pytest.approx(expected(["b"])[0], abs=1e-6)


def test_adding_and_removing_for_ever_needs_no_more_room() -> None:
    """C56: the matrix of a thousand come and gone is as small as that of a few."""
    cache = RowCache(DIMS, 1 << 30)
    for at in range(20_000):
        cache.add([f"row{at}"], [[1.0, 0, 0, 0]])
        cache.discard([f"row{at - 3}"])
    assert len(cache._matrix) <= 256  # pyright: ignore[reportPrivateUsage]


def test_threads_read_while_others_make_room() -> None:
    """C51: growing, compacting and starting anew give no reader another row's score."""
    cache, store = RowCache(DIMS, 300 * DIMS * 4), Store()
    names = [f"row{at}" for at in range(400)]

    def ask(seed: int) -> bool:
        random = np.random.default_rng(seed)
        for _ in range(60):
            rows = [names[at] for at in random.choice(400, 20, replace=False)]
            if not np.allclose(cache.cosines(rows, QUERY, store.fetch), expected(rows), atol=1e-6):
                return False
            cache.discard(rows[:5])
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(ask, range(6)))
