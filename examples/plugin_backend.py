"""A vector store of your own: a factory, a vector leg, and the feed that fills it.

It is declared in the plug-in's pyproject.toml:

    [project.entry-points."hy_memory.backends"]
    plain = "plugin_backend:open_backend"

and chosen by MEMORY_VECTOR_STORE=plain. `tests/docs/test_examples.py` runs the conformance suite on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import TIE, Backend, BackendOptions, PointSource, Ranking, ScoreArray
from hy_memory.values.point import FloatArray, Point


class PlainStore:
    """Both sides in one class: `Fed` (upsert, remove, clear, ids) and `VectorIndex` (search, score, count).

    A real one hands points to its engine in `upsert` and compiles `where` to the engine's filter.
    """

    def __init__(self) -> None:
        self._points: dict[str, Point] = {}

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points; the same ones may come again."""
        self._points = self._points | {point.id: point for point in points}

    def remove(self, ids: Sequence[str]) -> None:
        """Forget ids, known or not."""
        gone = set(ids)
        self._points = {one: point for one, point in self._points.items() if one not in gone}

    def clear(self) -> None:
        """Forget everything."""
        self._points = {}

    def ids(self) -> Iterable[str]:
        """Return what is stored."""
        return list(self._points)

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Return the best of what the filter admits, ties with the last one included."""
        admitted = [one for one in self._points.values() if where.admits(one.payload)]
        scores = np.array([self._cosine(vector, one) for one in admitted])
        order = np.argsort(-scores, kind="stable")
        if top_k < len(order):
            order = order[scores[order] >= scores[order[top_k - 1]] - TIE] if top_k else order[:0]
        ids = tuple(admitted[at].id for at in order.tolist())
        return Ranking(ids, scores[order], exhausted=len(order) == len(admitted))

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Return each id's cosine, NaN for what is unknown or not admitted."""
        known = self._points
        admitted = [one in known and where.admits(known[one].payload) for one in ids]
        return np.array(
            [
                self._cosine(vector, known[one]) if fine else math.nan
                for one, fine in zip(ids, admitted, strict=True)
            ]
        )

    def count(self, where: ScopedFilter) -> int:
        """Return how many points the filter admits."""
        return sum(where.admits(one.payload) for one in self._points.values())

    @staticmethod
    def _cosine(vector: FloatArray, point: Point) -> float:
        return float(np.clip(vector.astype(np.float64) @ point.vector.astype(np.float64), -1.0, 1.0))


def open_backend(options: BackendOptions, source: PointSource) -> Backend:
    """Return the backend. It has no keyword leg, so `hybrid` searches by meaning alone with it."""
    store = PlainStore()
    return Backend("plain", vectors=store, keywords=None, fed=store)
