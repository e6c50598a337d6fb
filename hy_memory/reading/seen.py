"""What a search has seen: memories with what each leg says of them, and what supports add to that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import ScoreArray
from hy_memory.ranking.fusion import evidence_of, fuse, raised
from hy_memory.reading.stages.legs import KEYWORD, VECTOR
from hy_memory.reading.state import SearchState, Support

DECIMALS = 5
"""Scores on the grid of `ports.TIE`, so that engines that round differently agree."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Memories in no order: each leg's column (n,), their fused score (n,), each support's evidence (n,).

    A score is NaN where a leg no longer admits a memory: it lies outside the scope, or was deleted.
    """

    ids: list[str]
    by_leg: list[ScoreArray]
    fused: ScoreArray
    by_support: tuple[ScoreArray, ...] = ()

    @property
    def scores(self) -> ScoreArray:
        """The final scores (n,), on the grid."""
        if not self.by_support:
            return self.fused
        return np.round(raised(self.fused, sum(self.by_support, np.zeros(len(self.ids)))), DECIMALS)


def seen_by(state: SearchState, ids: list[str], by_leg: list[ScoreArray]) -> Seen:
    """Return what the legs' columns say together."""
    return Seen(ids, by_leg, fused(state, by_leg))


def fused(state: SearchState, by_leg: Sequence[ScoreArray]) -> ScoreArray:
    """Return one score from the legs there are, on the grid; a missing leg says nothing (0)."""
    columns = {leg.name: column for leg, column in zip(state.legs, by_leg, strict=True)}
    vector, keyword = columns.pop(VECTOR, None), columns.pop(KEYWORD, None)
    if keyword is not None:
        score = fuse(np.zeros_like(keyword) if vector is None else vector, keyword, state.terms)
    else:
        score = np.zeros(len(by_leg[0])) if vector is None else vector
    for column in columns.values():
        score = raised(score, evidence_of(column))
    return np.round(score, DECIMALS)


def most(state: SearchState, bound: float) -> float:
    """Return the final score that nothing can exceed of which no leg's score exceeds `bound`."""
    return float(raised(bound, sum(support.most(bound) for support in state.supports)))


def supported(state: SearchState, seen: Seen) -> tuple[SearchState, Seen]:
    """Return what was seen with what supports raise beside it, and their evidence for all of that.

    What nothing listed raises cannot come above the bound, and is no candidate. What is needed to judge
    the rest is scored too. A support that fails is left out and noted.
    """
    state, near = _widened(state, seen, lambda support: support.raises(seen.ids, seen.fused))
    state, far = _widened(state, near, lambda support: support.needs(near.ids, near.fused))
    count = len(near.ids)
    said = [
        guard(one.name, lambda one=one: one.evidence(far.ids, far.fused, count)) for one in state.supports
    ]
    columns = tuple(one for one in said if not isinstance(one, Guarded))
    return _working(state, said), replace(near, by_support=columns)


def _widened(
    state: SearchState, seen: Seen, related: Callable[[Support], Sequence[str]]
) -> tuple[SearchState, Seen]:
    """Return what was seen and what supports relate to it."""
    found = [guard(support.name, lambda support=support: related(support)) for support in state.supports]
    state = _working(state, found)
    ids = dict.fromkeys(seen.ids)
    for more in found:
        if not isinstance(more, Guarded):
            ids.update(dict.fromkeys(more))
    new = list(ids)[len(seen.ids) :]
    if not new:
        return state, seen
    columns = [guard(leg.name, lambda leg=leg: leg.calibrate(leg.score(new))) for leg in state.legs]
    failed = tuple(one for one in columns if isinstance(one, Guarded))
    if failed:  # a leg that listed its best and then fails: supports cannot be judged, what it listed can
        return replace(state, supports=(), failures=(*state.failures, *failed)), seen
    told = [one for one in columns if not isinstance(one, Guarded)]
    by_leg = [np.concatenate(both) for both in zip(seen.by_leg, told, strict=True)]
    return state, Seen(list(ids), by_leg, np.concatenate([seen.fused, fused(state, told)]))


def _working(state: SearchState, found: Sequence[object]) -> SearchState:
    """Return `state` with the supports that found something, and notes of those that failed."""
    failed = tuple(one for one in found if isinstance(one, Guarded))
    if not failed:
        return state
    pairs = zip(state.supports, found, strict=True)
    supports = tuple(support for support, one in pairs if not isinstance(one, Guarded))
    return replace(state, supports=supports, failures=(*state.failures, *failed))
