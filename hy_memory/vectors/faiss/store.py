"""The backend `faiss`: both legs over one working set a user, exact, with no file of its own.

Nothing is built before a user's first search, whatever the store holds, and any number of processes
may read one ledger: each catches up by sequence number before it answers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from hy_memory.filters.scope import ScopedFilter
from hy_memory.keyword.index import KeywordSearch, follow
from hy_memory.keyword.postings import Postings
from hy_memory.ports import Backend, BackendOptions, PointSource, Ranking, ScoreArray
from hy_memory.values.point import Changes, FloatArray, Point
from hy_memory.vectors.faiss.matrix import Matrix
from hy_memory.working_set.cache import WorkingSets
from hy_memory.working_set.latest import Latest
from hy_memory.working_set.rows import Rows
from hy_memory.working_set.top import merge, top

# Rows picked one by one are copied first, and so cost three times what a row in passing does.
_FEW = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class UserPoints:
    """One version of everything that is searched of one user."""

    rows: Rows
    matrix: Matrix
    postings: Postings
    latest_scores: Latest[ScoreArray] = field(default_factory=Latest[ScoreArray])
    latest_cosines: Latest[FloatArray] = field(default_factory=Latest[FloatArray])

    @classmethod
    def build(cls, points: Sequence[Point], dims: int) -> UserPoints:
        """Return the projection of `points`, all of one user."""
        postings = Postings.build([point.terms for point in points])
        return cls(Rows.build(points), Matrix.build(points, dims), postings)

    @property
    def nbytes(self) -> int:
        """Bytes of memory it takes."""
        latest = (4 + 8) * self.rows.size
        return self.rows.nbytes + self.matrix.nbytes + self.postings.nbytes + latest

    def advance(self, changes: Changes) -> UserPoints:
        """Return the next version."""
        step = self.rows.advance(changes)
        matrix = self.matrix.follow(step, self.rows.size)
        return UserPoints(step.rows, matrix, follow(self.postings, step))

    def cosines(self, vector: FloatArray) -> FloatArray:
        """Return the cosine of every row (n,) with the unit `vector` (dims,); not to be changed."""
        return self.latest_cosines.of(
            vector.tobytes(), lambda: self.matrix.cosines(vector, self.rows.size), operator.eq
        )


class FaissVectors:
    """The vector leg: exact inner products with the admitted rows of each user."""

    def __init__(self, sets: WorkingSets[UserPoints]) -> None:
        self._sets = sets

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Score every admitted row and keep the best."""
        found = [_search(self._sets.of(user_id), vector, where, top_k) for user_id in where.user_ids]
        return merge(found, top_k)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score the rows of `ids` alone."""
        scores = np.full(len(ids), math.nan)
        for user_id in where.user_ids:
            user = self._sets.of(user_id)
            rows = user.rows.find(ids)
            mask = user.rows.admitted(where.tree)
            known = rows >= 0
            if mask is not None and user.rows.size:
                known &= mask[rows]
            if known.any():
                scores[known] = np.clip(user.matrix.cosines_of(vector, rows[known]), -1.0, 1.0)
        return scores

    def count(self, where: ScopedFilter) -> int:
        """Count admitted rows."""
        total = 0
        for user_id in where.user_ids:
            rows = self._sets.of(user_id).rows
            mask = rows.admitted(where.tree)
            total += rows.size if mask is None else int(np.count_nonzero(mask))
        return total


def open_backend(options: BackendOptions, source: PointSource) -> Backend:
    """Return the backend; it reads `source` and keeps within `options.memory_budget` bytes."""
    sets = WorkingSets(source, partial(UserPoints.build, dims=options.dims), options.memory_budget)
    return Backend("faiss", FaissVectors(sets), KeywordSearch(sets.of), None, (sets,))


def _search(user: UserPoints, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
    rows = user.rows
    mask = rows.admitted(where.tree)
    places = None if mask is None else np.flatnonzero(mask)
    if places is None:
        scores = user.cosines(vector)
    elif len(places) < _FEW * rows.size:
        scores = user.matrix.cosines_of(vector, places)
    else:
        scores = user.cosines(vector)[places]
    order = top(scores, top_k)
    best = (order if places is None else places[order]).tolist()
    ids = rows.ids
    found = np.clip(scores[order].astype(np.float64), -1.0, 1.0)  # a kernel's sums may end beyond 1
    return Ranking(tuple([ids[row] for row in best]), found, exhausted=len(order) == len(scores))
