"""Vectors already fetched from Chroma, by row id. A row id names one vector for ever, so none goes stale."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hy_memory.ports import ScoreArray
from hy_memory.values.point import FloatArray

Fetch: TypeAlias = Callable[[Sequence[str]], tuple[Sequence[str], npt.ArrayLike]]
"""Gives the ids and vectors of those of some row ids that are still stored."""

_FIRST_ROOM = 256  # rows


class RowCache:
    """A growing matrix of unit vectors, at most `budget` bytes of them.

    A row of a matrix is written once and never again, so that readers need the lock for a moment
    only: room is made by a new matrix of those rows that are still named. When the budget is used
    up, the cache starts anew with what is asked for next.
    """

    def __init__(self, dims: int, budget: int) -> None:
        self._dims = dims
        self._most = max(1, budget // (dims * np.dtype(np.float32).itemsize))
        self._lock = threading.Lock()
        self._slots: dict[str, int] = {}
        self._used = 0
        self._matrix: FloatArray = np.empty((0, dims), dtype=np.float32)

    def add(self, ids: Sequence[str], rows: npt.ArrayLike) -> FloatArray:
        """Keep the vectors of `ids`; return them, of unit length."""
        table = np.asarray(rows, dtype=np.float32).reshape(len(ids), self._dims)
        lengths = np.linalg.norm(table, axis=1, keepdims=True)
        table = table / np.maximum(lengths, np.finfo(np.float32).tiny)
        with self._lock:
            if len(self._slots) + len(ids) > self._most:
                self._forget()
            new = {one: at for at, one in enumerate(ids) if one not in self._slots}
            if len(new) <= self._most:
                self._make_room(len(new))
                slots = range(self._used, self._used + len(new))
                self._matrix[slots.start : slots.stop] = table[list(new.values())]
                self._slots.update(zip(new, slots, strict=True))
                self._used = slots.stop
        return table

    def discard(self, ids: Sequence[str]) -> None:
        """Forget the vectors of `ids`."""
        with self._lock:
            for one in ids:
                self._slots.pop(one, None)

    def cosines(self, ids: Sequence[str], vector: FloatArray, fetch: Fetch) -> ScoreArray:
        """Return the cosine of each of `ids` (n,) with `vector`, NaN for one that `fetch` does not find."""
        with self._lock:
            slots = np.fromiter((self._slots.get(one, -1) for one in ids), dtype=np.intp, count=len(ids))
            matrix = self._matrix[: self._used]
        scores = np.full(len(ids), np.nan)
        known = slots >= 0
        if 2 * len(ids) > len(matrix):  # multiplying all costs less than copying most
            scores[known] = _products(matrix, vector)[slots[known]]
        else:
            scores[known] = _products(matrix[slots[known]], vector)
        if not known.all():
            missing = [ids[at] for at in np.flatnonzero(~known).tolist()]
            found, rows = fetch(missing)
            fetched = dict(zip(found, _products(self.add(found, rows), vector).tolist(), strict=True))
            scores[~known] = [fetched.get(one, np.nan) for one in missing]
        return np.clip(scores, -1.0, 1.0)

    def clear(self) -> None:
        """Forget every vector."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._slots = {}
        self._used = 0
        self._matrix = np.empty((0, self._dims), dtype=np.float32)

    def _make_room(self, count: int) -> None:
        if self._used + count <= len(self._matrix):
            return
        kept = list(self._slots.values())
        room = min(self._most, max(_FIRST_ROOM, 2 * (len(kept) + count)))
        matrix = np.empty((room, self._dims), dtype=np.float32)
        matrix[: len(kept)] = self._matrix[kept]
        self._matrix, self._used = matrix, len(kept)
        self._slots = dict(zip(self._slots, range(len(kept)), strict=True))


def _products(rows: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the inner product of each row with `vector`, by a loop that treats all rows alike.

    A matrix product rounds a row by its position among the others, so that what other users store
    would move one's scores in the seventh digit.
    """
    return np.einsum("ij,j->i", rows, vector)
