"""Neighbours: in a conversation a turn lends evidence to the turns it belongs with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.conversations.ties import ties
from hy_memory.conversations.turns import UserTurns
from hy_memory.ports import ScoreArray
from hy_memory.ranking.neighbours import LENT, beyond, openness
from hy_memory.reading.state import ReadPorts, SearchState, Support

EPISODE = "Episode"


def neighbours(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the support of neighbouring turns, where any of the users has a conversation of two speakers."""
    talking = [user for user in state.turns if user.is_dialogue]
    if not talking:
        return state
    lent = _Lent(talking, ports.weights.neighbours)
    support = Support(EPISODE, lent.raised_by, lent.looked_at, lent.evidence, lent.most)
    return replace(state, supports=(*state.supports, support))


@dataclass(frozen=True, slots=True)
class _Lent:
    """What the turns of `users` lend to each other, times `weight`."""

    users: Sequence[UserTurns]
    weight: float

    def raised_by(self, ids: Sequence[str], scores: ScoreArray) -> list[str]:
        """Return the turns that borrow from one of `ids`: only what is itself related lends."""
        lending = np.flatnonzero(beyond(scores)).tolist()
        return [one for at in lending for one in ties(ids[at], self.users).borrowers]

    def looked_at(self, ids: Sequence[str], scores: ScoreArray) -> list[str]:
        """Return the turns that `ids` borrow from."""
        borrowing = np.flatnonzero(openness(scores) > 0).tolist()
        return [one for at in borrowing for one, _ in ties(ids[at], self.users).lenders]

    def evidence(self, ids: Sequence[str], scores: ScoreArray, count: int) -> ScoreArray:
        """Return what each of the first `count` borrows: its neighbours' evidence, by how close they are."""
        lent = dict(zip(ids, beyond(scores).tolist(), strict=True))
        share = openness(scores[:count]) * self.weight
        said = np.zeros(count)
        for at in np.flatnonzero(share > 0).tolist():
            said[at] = sum(
                [lent.get(lender, 0.0) * part for lender, part in ties(ids[at], self.users).lenders]
            )
        return said * share

    def most(self, score: float) -> float:
        """Return the most that a turn can borrow when nothing around it scores above `score`."""
        return float(LENT * self.weight * openness(score) * beyond(score))
