"""The keyword leg over per-user postings that follow the ledger."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hy_memory.filters.scope import ScopedFilter
from hy_memory.keyword.postings import Postings
from hy_memory.ports import PointSource, Ranking, ScoreArray
from hy_memory.ranking.bm25 import keyword_scores, weigh_query
from hy_memory.values.point import Changes, IdArray, Point
from hy_memory.working_set.cache import WorkingSets
from hy_memory.working_set.latest import Latest
from hy_memory.working_set.rows import Rows, Step
from hy_memory.working_set.top import NOTHING, merge, top


class KeywordRows(Protocol):
    """What the leg searches of one user: rows, and the postings that point to them."""

    @property
    def rows(self) -> Rows:
        """The user's rows."""
        ...

    @property
    def postings(self) -> Postings:
        """Their terms."""
        ...

    @property
    def latest_scores(self) -> Latest[ScoreArray]:
        """What the rows scored when they were asked last."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class UserPostings:
    """One version of a user's rows and postings."""

    rows: Rows
    postings: Postings
    latest_scores: Latest[ScoreArray] = field(default_factory=Latest[ScoreArray])

    @classmethod
    def build(cls, points: Sequence[Point]) -> UserPostings:
        """Return the projection of `points`, all of one user."""
        return cls(Rows.build(points), Postings.build([point.terms for point in points]))

    @property
    def nbytes(self) -> int:
        """Bytes of memory it takes."""
        return self.rows.nbytes + self.postings.nbytes

    def advance(self, changes: Changes) -> UserPostings:
        """Return the next version."""
        step = self.rows.advance(changes)
        return UserPostings(step.rows, follow(self.postings, step))


def follow(postings: Postings, step: Step) -> Postings:
    """Return the postings after `step` of the rows they point to."""
    if step.kept is not None:
        postings = postings.keep(step.kept)
    if not step.added:
        return postings
    return postings.append([point.terms for point in step.added], step.rows.size - len(step.added))


class KeywordSearch:
    """A `KeywordIndex` over whatever gives a user's newest rows and postings."""

    def __init__(self, user: Callable[[str], KeywordRows]) -> None:
        self._user = user

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Score the rows that hold any of `terms`; the filter masks them, the statistics ignore it."""
        query = _distinct(terms)
        if not len(query):
            return NOTHING
        found = [search_user(self._user(user_id), query, where, top_k) for user_id in where.user_ids]
        return merge(found, top_k)

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score `ids`, each by the statistics of the one user who has it."""
        query = _distinct(terms)
        scores = np.full(len(ids), math.nan)
        for user_id in where.user_ids:
            score_user(self._user(user_id), query, ids, where, scores)
        return scores


class LocalKeywordIndex(KeywordSearch):
    """A `KeywordIndex` beside any backend: its own postings from the ledger, in `memory_budget` bytes."""

    def __init__(self, source: PointSource, memory_budget: int) -> None:
        self._sets = WorkingSets(source, UserPostings.build, memory_budget)
        super().__init__(self._sets.of)

    def close(self) -> None:
        """Let the postings go."""
        self._sets.close()


def score_user(
    user: KeywordRows, query: IdArray, ids: Sequence[str], where: ScopedFilter, scores: ScoreArray
) -> None:
    """Write into `scores` (n,) those of `ids` that are this user's and that `where` admits."""
    rows = user.rows.find(ids)
    mask = user.rows.admitted(where.tree)
    known = rows >= 0
    if mask is not None and user.rows.size:
        known &= mask[rows]
    if known.any():
        scores[known] = _row_scores(user, query)[rows[known]]


def _distinct(terms: IdArray) -> IdArray:
    """Return `terms` sorted and unique, as queries usually are already."""
    if len(terms) < 2 or (terms[1:] > terms[:-1]).all():
        return terms
    return np.unique(terms)


def _row_scores(user: KeywordRows, query: IdArray) -> ScoreArray:
    """Return the score of every row (size,), 0 for one that is dead or holds no term; not to be changed."""
    return user.latest_scores.of(query.tobytes(), lambda: _scored(user, query), operator.eq)


def _scored(user: KeywordRows, query: IdArray) -> ScoreArray:
    rows = user.rows
    matches = user.postings.matches(query, rows.alive)
    if not len(matches.rows):
        return np.zeros(rows.size)
    weighed = weigh_query(query, rows.count, matches.frequencies)
    shares = matches.weights * weighed.idf[matches.places]
    raw = np.bincount(matches.rows, weights=shares, minlength=rows.size).astype(np.float64, copy=False)
    return keyword_scores(raw, weighed)


def search_user(user: KeywordRows, query: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
    """Return the best rows of one user that hold any of `query` (sorted, unique) and that `where` admits."""
    scores = _row_scores(user, query)
    matching = scores > 0
    mask = user.rows.admitted(where.tree)
    if mask is not None:
        matching &= mask
    places = np.flatnonzero(matching)
    found = scores[places]
    order = top(found, top_k)
    ids = user.rows.ids
    best = places[order].tolist()
    return Ranking(tuple([ids[row] for row in best]), found[order], exhausted=len(order) == len(places))
