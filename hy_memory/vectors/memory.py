"""The reference backend: every point in a dict, every answer by evaluating the definition.

Slow on purpose and short on purpose: conformance tests and other backends are compared with it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import TIE, Backend, BackendOptions, PointSource, Ranking, ScoreArray
from hy_memory.ranking.bm25 import idf
from hy_memory.values.point import FloatArray, IdArray, Point


class MemoryPoints:
    """The points themselves, fed by the change log. A reader gets one moment's picture of them."""

    volatile: Literal[True] = True
    """It ends with its process, so every process feeds its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._points: dict[str, Point] = {}

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`, replacing those with the same ids."""
        with self._lock:
            self._points = self._points | {point.id: point for point in points}

    def remove(self, ids: Sequence[str]) -> None:
        """Forget `ids`; unknown ones are no error."""
        gone = set(ids)
        with self._lock:
            self._points = {key: point for key, point in self._points.items() if key not in gone}

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._points = {}

    def ids(self) -> Iterable[str]:
        """Return every stored id."""
        return tuple(self._points)

    def now(self) -> dict[str, Point]:
        """Return what is stored; the mapping never changes afterwards."""
        return self._points


class MemoryVectors:
    """The vector leg: one dot product for each admitted point."""

    def __init__(self, points: MemoryPoints) -> None:
        self._points = points

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Score every admitted point and keep the best."""
        admitted = [point for point in self._points.now().values() if where.admits(point.payload)]
        scored = {point.id: _cosine(vector, point) for point in admitted}
        return _best(scored, top_k)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score `ids` one by one."""
        stored = self._points.now()
        scores = np.full(len(ids), math.nan)
        for place, point_id in enumerate(ids):
            point = stored.get(point_id)
            if point is not None and where.admits(point.payload):
                scores[place] = _cosine(vector, point)
        return scores

    def count(self, where: ScopedFilter) -> int:
        """Count admitted points one by one."""
        return sum(where.admits(point.payload) for point in self._points.now().values())


class MemoryKeywords:
    """The keyword leg: document frequencies counted anew for each question."""

    def __init__(self, points: MemoryPoints) -> None:
        self._points = points

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Score every admitted point and keep the best above 0."""
        scored: dict[str, float] = {}
        for user_id in where.user_ids:
            mine = [one for one in self._points.now().values() if one.payload.user_id == user_id]
            weights = _query_weights(terms, mine)
            admitted = (one for one in mine if where.admits(one.payload))
            scored |= {one.id: _keyword_score(one, weights) for one in admitted}
        return _best({point_id: score for point_id, score in scored.items() if score > 0}, top_k)

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score `ids` one by one."""
        stored = self._points.now()
        scores = np.full(len(ids), math.nan)
        weights = {
            user_id: _query_weights(terms, [one for one in stored.values() if one.payload.user_id == user_id])
            for user_id in where.user_ids
        }
        for place, point_id in enumerate(ids):
            point = stored.get(point_id)
            if point is not None and where.admits(point.payload):
                scores[place] = _keyword_score(point, weights[point.payload.user_id])
        return scores


def open_backend(options: BackendOptions, source: PointSource) -> Backend:
    """Return an empty reference backend; it is fed, and so asks neither `options` nor `source`."""
    del options, source
    points = MemoryPoints()
    return Backend("memory", MemoryVectors(points), MemoryKeywords(points), points)


def _cosine(vector: FloatArray, point: Point) -> float:
    """Return the inner product of two unit vectors in double precision, clipped to [-1, 1]."""
    product = math.fsum((vector.astype(np.float64) * point.vector.astype(np.float64)).tolist())
    return min(1.0, max(-1.0, product))


def _query_weights(terms: IdArray, population: Sequence[Point]) -> dict[int, float]:
    """Return the IDF of each distinct query term among one user's points."""
    distinct = sorted(set(terms.tolist()))
    having = [set(point.terms.ids.tolist()) for point in population]
    frequencies = [sum(term in one for one in having) for term in distinct]
    return dict(zip(distinct, idf(len(population), frequencies).tolist(), strict=True))


def _keyword_score(point: Point, weights: dict[int, float]) -> float:
    """Return the sum of IDF times weight over the sum of IDF, at most 1; 0 for a query of no terms."""
    if not weights:
        return 0.0
    held = dict(zip(point.terms.ids.tolist(), point.terms.weights.tolist(), strict=True))
    raw = math.fsum(weight * held.get(term, 0.0) for term, weight in weights.items())
    return min(1.0, raw / math.fsum(weights.values()))


def _best(scored: dict[str, float], top_k: int) -> Ranking:
    """Return the `top_k` best of `scored` and whatever ties with the last of them, best first."""
    order = sorted(scored, key=lambda point_id: (-scored[point_id], point_id))
    if 0 < top_k < len(order):
        bar = scored[order[top_k - 1]] - TIE
        order = [point_id for point_id in order if scored[point_id] >= bar]
    elif top_k <= 0:
        order = []
    scores = np.array([scored[point_id] for point_id in order], dtype=np.float64)
    return Ranking(tuple(order), scores, exhausted=len(order) == len(scored))
