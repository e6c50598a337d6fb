"""Counts of one user's terms, for a keyword leg whose engine scores but does not say what it counted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hy_memory.keyword.index import UserPostings
from hy_memory.ports import PointSource
from hy_memory.values.point import IdArray
from hy_memory.working_set.cache import WorkingSets


class TermStatistics:
    """How many searchable points a user has and how many of them hold a term, as the ledger has it now."""

    def __init__(self, source: PointSource, memory_budget: int) -> None:
        self._sets = WorkingSets(source, UserPostings.build, memory_budget)

    def totals(self, user_id: str, term_ids: IdArray) -> tuple[int, npt.NDArray[np.int64]]:
        """Return the number of points N and the document frequency of each of `term_ids` (t,).

        `term_ids` are sorted and unique.
        """
        user = self._sets.of(user_id)
        return user.rows.count, user.postings.matches(term_ids, user.rows.alive).frequencies

    def close(self) -> None:
        """Let the counts go."""
        self._sets.close()
