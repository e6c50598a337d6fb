"""Times: a question that speaks of a time prefers memories of that time.

A preference and no filter: people round, and write things down late. It speaks only for what is
related already, and never carries anything past the default `min_score`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.conversations.turns import UserTurns
from hy_memory.ports import ScoreArray
from hy_memory.ranking.neighbours import beyond
from hy_memory.reading.state import ReadPorts, SearchState, Support, nothing_related
from hy_memory.temporal.expressions import time_windows
from hy_memory.temporal.window import Window, affinity

TIME = "Time"


def times(state: SearchState, ports: ReadPorts) -> SearchState:
    """Set `windows`, the times that the question speaks of, and add their support."""
    if not state.turns:
        return state
    windows = time_windows(state.request.query, state.request.asked_at, ports.timezone)
    if not windows:
        return state
    dated = _Dated(state.turns, windows, ports.weights.time)
    support = Support(TIME, nothing_related, nothing_related, dated.evidence, dated.most)
    return replace(state, windows=windows, supports=(*state.supports, support))


@dataclass(frozen=True, slots=True)
class _Dated:
    """How well the memories of `users` fit the `windows`, times `weight`."""

    users: Sequence[UserTurns]
    windows: tuple[Window, ...]
    weight: float

    def evidence(self, ids: Sequence[str], scores: ScoreArray, count: int) -> ScoreArray:
        """Return for the first `count` how well their time fits, times what the own score says."""
        said = beyond(scores[:count]) * self.weight
        for at in np.flatnonzero(said).tolist():
            said[at] *= self._affinity(ids[at])
        return said

    def most(self, score: float) -> float:
        """Return the most for a memory that scores `score`: its time fits exactly."""
        return self.weight * float(beyond(score))

    def _affinity(self, memory_id: str) -> float:
        places = (user.place(memory_id) for user in self.users)
        place = next((one for one in places if one is not None), None)
        return 0.0 if place is None else affinity(place.turn.event_at, self.windows)
