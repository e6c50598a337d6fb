"""Adjust: memories that use made salient, and recent ones, count for more.

The one place where salience and recency enter the order. They speak only for what is related already, and
never carry anything past the default `min_score`; a memory that nobody used scores as it would without this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.conversations.turns import UserTurns
from hy_memory.dynamics.learned import now_of
from hy_memory.dynamics.salience import DAY, gained, recency
from hy_memory.ports import ScoreArray
from hy_memory.ranking.neighbours import beyond
from hy_memory.reading.state import ReadPorts, SearchState, Support, nothing_related
from hy_memory.values.use import Sector, Use

USE = "Use"


def adjust(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the support of use, where anything was learned, and that of recency, where it weighs anything."""
    weights, uses = ports.use_weights, ports.uses
    if uses is None or state.request.top_k == 0:
        return state
    users = state.request.where.user_ids
    kept = [found for found in (uses.of(user_id) for user_id in users) if found]
    turns: tuple[UserTurns, ...] = ()
    if weights.recency and ports.conversations is not None:
        turns = tuple(ports.conversations.of(user_id) for user_id in users)
    if not kept and not turns:
        return state
    used = _Used(kept, turns, (weights.salience if kept else 0.0, weights.recency), state.request.asked_at)
    support = Support(USE, nothing_related, nothing_related, used.evidence, used.most)
    return replace(state, supports=(*state.supports, support))


@dataclass(frozen=True, slots=True)
class _Used:
    """How much the memories of some users matter `at` a moment; `weights` of salience and of recency."""

    uses: Sequence[Mapping[str, Use]]
    turns: Sequence[UserTurns]
    weights: tuple[float, float]
    at: float

    def evidence(self, ids: Sequence[str], scores: ScoreArray, count: int) -> ScoreArray:
        """Return for the first `count` what speaks for them, times what the own score says."""
        said = beyond(scores[:count])
        for at in np.flatnonzero(said).tolist():
            said[at] *= self._worth(ids[at])
        return said

    def most(self, score: float) -> float:
        """Return the most for a memory that scores `score`: of full salience, and of this moment."""
        return sum(self.weights) * float(beyond(score))

    def _worth(self, memory_id: str) -> float:
        salience, recent = self.weights
        use = next((found[memory_id] for found in self.uses if memory_id in found), None)
        worth = 0.0 if use is None else salience * gained(now_of(use, self.at), use.begun)
        place = next((one for user in self.turns if (one := user.place(memory_id)) is not None), None)
        if place is not None:
            sector = Sector.SEMANTIC if use is None else use.sector
            worth += recent * recency((self.at - place.turn.event_at) / DAY, sector)
        return worth
