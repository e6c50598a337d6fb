"""Both legs of a search, and the feed, over a Qdrant engine, embedded or on a server.

The dense vector and the keyword weights of a memory are one point, so a write or a deletion is
one step for both legs. Qdrant counts IDF over the points of one user (`corpus`), whatever the
filter; what turns its sum into a share of the most a query could reach, the IDF of terms that no
hit holds included, comes from `TermTotals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hy_memory.errors import ConfigurationError, MissingExtraError
from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.keyword.statistics import TermStatistics
from hy_memory.ports import TIE, Backend, BackendOptions, PointSource, Ranking, ScoreArray
from hy_memory.ranking.bm25 import idf
from hy_memory.values.point import FloatArray, IdArray, Point
from hy_memory.vectors.qdrant.engine import DenseQuery, Engine, MemberQuery, Scored, SparseQuery
from hy_memory.vectors.qdrant.filter import compile_filter, compile_search, population
from hy_memory.vectors.qdrant.schema import is_mapped, point_id

# Candidates fetched beyond top_k, to see whether a tie goes on there; more are fetched if it does.
# One would do; a few spare most short ties a second query, and each costs about 1 µs.
_MARGIN = 4
_RETRIES = 20
_HALF, _ONE = np.float32(0.5), np.float32(1.0)
_LEAST = 1e-12  # stands for an IDF that float32 rounds to 0: a word in each of 8 million memories
_NOTHING = Ranking((), np.empty(0), exhausted=True)


class TermTotals(Protocol):
    """How often a user's memories hold a term."""

    def totals(self, user_id: str, term_ids: IdArray) -> tuple[int, npt.NDArray[np.int64]]:
        """Return how many searchable points the user has, and how many of them hold each term (n,)."""
        ...


class QdrantVectors:
    """The vector leg. Scopes below `GRAPH_FROM` points are scanned exactly."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Search inside the filter."""
        queries = [DenseQuery(vector, clause, top_k) for clause in compile_search(where)]
        found, ids = _named(self._engine, lambda: _merged(_best(self._engine, queries, top_k), top_k))
        return Ranking(ids, _cosines(found.scores), found.exhausted)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Search among `ids` alone."""
        if not ids:
            return np.empty(0)
        points = [point_id(one) for one in ids]
        query = DenseQuery(vector, compile_filter(where, points), len(points))
        (found,) = self._engine.run([query])
        scores = dict(zip(found.ids, found.scores.tolist(), strict=True))
        return _cosines(np.array([scores.get(one, math.nan) for one in points]))

    def count(self, where: ScopedFilter) -> int:
        """Count by the payload indexes."""
        return self._engine.count(compile_filter(where))


class QdrantKeywords:
    """The keyword leg: one sparse query for each user of the scope, since IDF is each user's own."""

    def __init__(self, engine: Engine, totals: TermTotals) -> None:
        self._engine = engine
        self._totals = totals

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Search each user inside the filter and merge."""
        if not len(terms):
            return _NOTHING
        queries = self._queries(terms, where, top_k)
        found, ids = _named(self._engine, lambda: _merged(_best(self._engine, queries, top_k), top_k))
        return Ranking(ids, np.minimum(found.scores, 1.0), found.exhausted)

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Search among `ids` alone, and ask which of them the filter admits."""
        if not ids:
            return np.empty(0)
        points = [point_id(one) for one in ids]
        members = MemberQuery(compile_filter(where, points), len(points))
        queries = self._queries(terms, where, len(points), points) if len(terms) else []
        admitted, *found = self._engine.run([members, *queries])
        scores = dict.fromkeys(admitted.ids, 0.0)
        for part in found:
            scores.update(zip(part.ids, part.scores.tolist(), strict=True))
        return np.minimum([scores.get(one, math.nan) for one in points], 1.0)

    def _queries(
        self, terms: IdArray, where: ScopedFilter, limit: int, points: Sequence[str] | None = None
    ) -> list[SparseQuery]:
        """Return each user's query. Its values bring the engine's sum to a share of the ceiling."""
        distinct = np.unique(terms)
        queries: list[SparseQuery] = []
        for user_id in where.user_ids:
            values = _shares(*self._totals.totals(user_id, distinct))
            mine = where if len(where.user_ids) == 1 else scoped((user_id,), where.tree)
            clauses = compile_search(mine) if points is None else (compile_filter(mine, points),)
            corpus = population(user_id)
            queries += [SparseQuery(distinct, values, corpus, clause, limit) for clause in clauses]
        return queries


class QdrantFeed:
    """The write side: an upsert replaces a point whole, vector, terms and payload."""

    form = "plain and special"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`."""
        if points:
            self._engine.upsert(points)

    def remove(self, ids: Sequence[str]) -> None:
        """Forget `ids`."""
        if ids:
            self._engine.delete([point_id(one) for one in ids])

    def clear(self) -> None:
        """Forget everything."""
        self._engine.clear()

    def ids(self) -> Iterable[str]:
        """Yield every stored id, page by page."""
        for found, memory_id in self._engine.every_id():
            yield found if memory_id is None else memory_id

    def compact(self) -> None:
        """Reclaim the room of deleted points and make large scopes fast; call it after a rebuild."""
        self._engine.compact()


def open_backend(options: BackendOptions, source: PointSource) -> Backend:
    """Open the embedded engine in `options.path`, or a server at `options.url`, which goes first.

    Raises MissingExtraError, StoreLockedError, or a ConfigurationError that says what to do.
    """
    engine = _open_engine(options)
    totals = TermStatistics(source, options.memory_budget)
    keywords = QdrantKeywords(engine, totals)
    return Backend("qdrant", QdrantVectors(engine), keywords, QdrantFeed(engine), (engine, totals))


def _open_engine(options: BackendOptions) -> Engine:
    # Imported here, so that each form needs its own package alone.
    if options.url:
        try:
            from hy_memory.vectors.qdrant.remote import RemoteEngine
        except ModuleNotFoundError as error:
            raise MissingExtraError("qdrant", "qdrant-client") from error
        return RemoteEngine(options)
    if options.path:
        try:
            from hy_memory.vectors.qdrant.edge import EdgeEngine
        except ModuleNotFoundError as error:
            raise MissingExtraError("qdrant", "qdrant-edge-py") from error
        return EdgeEngine(options.path, options.collection, options.dims)
    raise ConfigurationError("the qdrant backend needs a path (a folder of its own) or a url (a server)")


def _shares(total: int, frequencies: npt.NDArray[np.int64]) -> FloatArray:
    """Return the query values (n,) with which the engine's sums are shares of the query's ceiling.

    The engine multiplies each value by its own IDF. It counts in float32, where the IDF of a word
    that nearly every memory holds keeps few digits; dividing by that same float32 number and
    multiplying by the exact one makes up for it.
    """
    exact = idf(total, frequencies)
    having = frequencies.astype(np.float32)
    engines = np.log((np.float32(total) - having + _HALF) / (having + _HALF) + _ONE)
    return (exact / (np.maximum(engines, _LEAST) * exact.sum())).astype(np.float32)


def _best(engine: Engine, queries: Sequence[DenseQuery | SparseQuery], top_k: int) -> list[Scored]:
    """Return for each query its `top_k` best and whatever ties with the last of them.

    Asks for a few more than `top_k`, and for twice as many as long as the tie reaches the last one.
    """
    best: dict[int, Scored] = {}
    waiting = list(range(len(queries)))
    limit = top_k + _MARGIN
    while waiting:
        found = engine.run([replace(queries[place], limit=limit) for place in waiting])
        for place, one in zip(waiting, found, strict=True):
            cut = _cut(one, top_k)
            if cut is not None:
                best[place] = cut
        waiting = [place for place in waiting if place not in best]
        limit *= 2
    return [best[place] for place in range(len(queries))]


def _merged(found: Sequence[Scored], top_k: int) -> Scored:
    """Return the `top_k` best of several answers and their ties."""
    if len(found) == 1:
        return found[0]
    ids = [one for part in found for one in part.ids]
    scores = np.concatenate([part.scores for part in found])
    order = np.argsort(-scores, kind="stable").tolist()
    merged = Scored([ids[place] for place in order], scores[order], all(part.exhausted for part in found))
    return _cut(merged, top_k) or merged


def _cosines(scores: ScoreArray) -> ScoreArray:
    """Return `scores` within [-1, 1], which float32 rounding leaves by a digit."""
    return np.minimum(np.maximum(scores, -1.0), 1.0)


def _cut(found: Scored, top_k: int) -> Scored | None:
    """Return `found` without what scores below the last of the `top_k`; None where a tie may go on."""
    size = len(found.ids)
    if size <= top_k:
        return found
    keep = int(np.count_nonzero(found.scores >= found.scores[top_k - 1] - TIE)) if top_k > 0 else 0
    if keep < size:
        return Scored(found.ids[:keep], found.scores[:keep], exhausted=False)
    return found if found.exhausted else None


def _named(engine: Engine, ask: Callable[[], Scored]) -> tuple[Scored, tuple[str, ...]]:
    """Return what `ask` finds, with the memories' ids.

    Payloads are read only for those points that have ids of our making. A point may be deleted before its
    own is: then there is another answer, and it is asked for. Who deletes faster than that gets ids that
    nobody knows.
    """
    retries = _RETRIES
    while True:
        found = ask()
        mapped = [one for one in found.ids if is_mapped(one)]
        if not mapped:
            return found, tuple(found.ids)
        known = engine.memory_ids(mapped)
        if len(known) == len(mapped) or not retries:
            return found, tuple(known.get(one, one) for one in found.ids)
        retries -= 1
