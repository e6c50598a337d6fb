"""The entity leg: memories that name what the question names, by rarity, like words of a keyword index.

Nothing of it is stored: what a user's memories mention is read out of their texts when the user is
first searched for, and follows the ledger from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hy_memory.filters.scope import ScopedFilter
from hy_memory.keyword.index import UserPostings, score_user, search_user
from hy_memory.ports import MentionSource, Ranking, ScoreArray
from hy_memory.ranking.bm25 import term_id
from hy_memory.text.mentions import Mentions, mentioned_in
from hy_memory.values.point import Changes, IdArray, Point, TermVector
from hy_memory.values.record import MemoryRecord
from hy_memory.working_set.cache import WorkingSets
from hy_memory.working_set.top import merge


class LocalEntityIndex:
    """An `EntityIndex` over what each user's memories mention, in `memory_budget` bytes. Thread-safe.

    Scores are in [0, 1]: the share of the question's mentions that a memory holds, each weighed by how
    rare it is among the user's memories. A mention that no memory holds counts only where the question
    surely names it.
    """

    def __init__(self, source: MentionSource, memory_budget: int) -> None:
        self._sets = WorkingSets(_Mentioned(source), UserPostings.build, memory_budget)

    def search(self, mentions: Mentions, where: ScopedFilter, top_k: int) -> Ranking:
        """Return the `top_k` best memories with a score above 0 among those `where` admits, ties included."""
        users = [self._sets.of(user_id) for user_id in where.user_ids]
        return merge([search_user(user, _known(user, mentions), where, top_k) for user in users], top_k)

    def score(self, mentions: Mentions, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Return the score of each of `ids` (n,), 0 where it mentions nothing, NaN where not admitted."""
        scores = np.full(len(ids), math.nan)
        for user_id in where.user_ids:
            user = self._sets.of(user_id)
            score_user(user, _known(user, mentions), ids, where, scores)
        return scores

    def close(self) -> None:
        """Let it all go."""
        self._sets.close()


class _Mentioned:
    """The points of a source with what they mention in place of their words; without vectors."""

    def __init__(self, source: MentionSource) -> None:
        self._source = source

    def freshness(self) -> int:
        return self._source.freshness()

    def points(self, user_id: str) -> Changes:
        return self._mentioning(self._source.points(user_id))

    def batches(self, user_id: str) -> Iterator[Changes]:
        return map(self._mentioning, self._source.batches(user_id))

    def changes(self, user_id: str, after: int) -> Changes:
        return self._mentioning(self._source.changes(user_id, after))

    def _mentioning(self, changes: Changes) -> Changes:
        records = self._source.records([point.id for point in changes.upserted]) if changes.upserted else {}
        # a record deleted since the points were read is removed by the changes that come next
        held = [(point, records[point.id]) for point in changes.upserted if point.id in records]
        return replace(changes, upserted=tuple(_mentioning(point, record) for point, record in held))


def _mentioning(point: Point, record: MemoryRecord) -> Point:
    ids = _ids(mentioned_in(record.content, record.tags))
    return replace(point, vector=_NO_VECTOR, terms=TermVector(ids, np.ones(len(ids), dtype=np.float32)))


_NO_VECTOR = np.empty(0, dtype=np.float32)


def _ids(keys: Iterable[str]) -> IdArray:
    return np.array(sorted({term_id(key) for key in keys}), dtype=np.uint32)


def _known(user: UserPostings, mentions: Mentions) -> IdArray:
    """Return the ids of what the question names, and of its words that are mentioned somewhere."""
    possible = _ids(mentions.possible)
    held = user.postings.matches(possible, user.rows.alive).frequencies > 0 if len(possible) else []
    return np.union1d(_ids(mentions.certain), possible[held] if len(possible) else possible)
