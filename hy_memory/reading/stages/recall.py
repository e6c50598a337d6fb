"""Recall: the best candidates of all legs together, proven to be the best.

Each leg lists only its own top. Whether something further down could still win is decided by the
threshold algorithm (Fagin, Lotem & Naor, "Optimal aggregation algorithms for middleware", 2001):
nothing unseen can score more than the fusion of the legs' last scores, with the most that supports
could add to it. Candidates above that bound are proven; until there are enough of them the lists
grow. So the order never depends on how deep a leg was read, on `limit`, or on the backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from hy_memory.errors import BackendError
from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import Ranking, ScoreArray
from hy_memory.reading.seen import Seen, fused, most, seen_by, supported
from hy_memory.reading.stages.legs import VECTOR
from hy_memory.reading.state import Candidates, Leg, ReadPorts, SearchState
from hy_memory.values.request import Explain
from hy_memory.values.result import Dropped

_FIRST_DEPTH = 64  # a list this long decides nearly every search for 10 hits in one round
RETRIES = 20
"""How often a search asks again because writers overtook it: a millisecond each, and hardly ever twice."""
_GROWTH = 4  # few rounds matter more than a short last one


def recall(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `candidates` with at least the best `pool` of the scope."""
    return recall_at_least(state, state.request.pool)


def recall_at_least(state: SearchState, wanted: int) -> SearchState:
    """Fill `candidates` with at least the best `wanted`, or with all there are.

    A leg or support that fails is left out and noted; when no leg is left, the last failure is raised.
    """
    if wanted == 0:
        return state
    # one leg alone is its own order: the next one after the last wanted proves it
    is_alone = len(state.legs) == 1 and not state.supports
    depth = wanted + 1 if is_alone else max(_FIRST_DEPTH, 2 * wanted)
    retries = RETRIES
    while True:
        state, rankings = _search_legs(state, depth)
        state, rankings, ids, by_leg = _compare(state, rankings)
        if retries and len(by_leg) > 1 and any(np.isnan(column).any() for column in by_leg):
            retries -= 1  # the legs saw two states: what one listed the other no longer admits
            continue
        seen = seen_by(state, ids, by_leg)
        if state.supports:
            state, seen = supported(state, seen)
        candidates, below = _merge(state, rankings, seen)
        if candidates.complete or len(candidates.ids) >= wanted:
            return replace(state, candidates=candidates, dropped=below)
        depth *= _GROWTH


def _search_legs(state: SearchState, depth: int) -> tuple[SearchState, list[Ranking]]:
    """Return every leg's list; legs that fail are gone from the returned state."""
    found = [guard(leg.name, lambda leg=leg: leg.search(depth)) for leg in state.legs]
    return _working(state, found), [one for one in found if not isinstance(one, Guarded)]


def _compare(
    state: SearchState, rankings: Sequence[Ranking]
) -> tuple[SearchState, Sequence[Ranking], list[str], list[ScoreArray]]:
    """Return all listed ids and each leg's scores of them; a leg that fails at it is gone with its list."""
    ids = list(dict.fromkeys(chain.from_iterable(ranking.ids for ranking in rankings)))
    pairs = zip(state.legs, rankings, strict=True)
    found = [guard(leg.name, lambda leg=leg, its=its: _column(leg, its, ids)) for leg, its in pairs]
    by_leg = [one for one in found if not isinstance(one, Guarded)]
    if len(by_leg) == len(found):
        return state, rankings, ids, by_leg
    kept = [its for its, one in zip(rankings, found, strict=True) if not isinstance(one, Guarded)]
    return _compare(_working(state, found), kept)


def _working(state: SearchState, found: Sequence[object]) -> SearchState:
    """Return `state` with those legs that found something, and notes of the others; raises if none did."""
    failed = tuple(one for one in found if isinstance(one, Guarded))
    if len(failed) == len(state.legs):
        failures = (*state.failures, *failed)
        raise failures[-1].error if failures else BackendError("this reader has no leg to search with")
    if not failed:
        return state
    legs = tuple(leg for leg, one in zip(state.legs, found, strict=True) if not isinstance(one, Guarded))
    return replace(state, legs=legs, failures=(*state.failures, *failed))


def _merge(
    state: SearchState, rankings: Sequence[Ranking], seen: Seen
) -> tuple[Candidates, tuple[Dropped, ...]]:
    """Return the proven candidates above `min_score`, and what was seen below it (for `explain`)."""
    pairs = list(zip(state.legs, rankings, strict=True))
    scores = seen.scores
    bound = most(state, float(fused(state, [_bound(leg, ranking) for leg, ranking in pairs])[0]))
    least = state.request.min_score
    listed_all = any(leg.name == VECTOR and ranking.exhausted for leg, ranking in pairs)
    complete = listed_all or bound < least or all(ranking.exhausted for ranking in rankings)
    # NaN: a leg no longer admits it (deleted meanwhile); comparisons with it are false and drop it
    keep = (scores >= least) & ((scores > bound) | complete)
    kept = np.flatnonzero(keep)
    named = [seen.ids[at] for at in kept.tolist()]
    order = [at for _, _, at in sorted(zip((-scores[kept]).tolist(), named, kept.tolist(), strict=True))]
    candidates = Candidates(
        ids=tuple(seen.ids[at] for at in order),
        scores=scores[order],
        by_leg=tuple(column[order] for column in seen.by_leg),
        by_support=tuple(column[order] for column in seen.by_support),
        rankings=tuple(rankings),
        complete=complete,
    )
    if state.request.explain is not Explain.DROPPED:
        return candidates, ()
    below = np.flatnonzero(scores < least).tolist()
    reason = f"below min_score {least}"
    return candidates, tuple(Dropped(seen.ids[at], float(scores[at]), reason) for at in below)


def _column(leg: Leg, ranking: Ranking, ids: Sequence[str]) -> ScoreArray:
    """Return the leg's calibrated score of every id: from its list, or asked for."""
    if len(ranking.ids) == len(ids) and ranking.ids == tuple(ids):  # the only leg, or the first of equals
        return leg.calibrate(ranking.scores)
    listed = dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))
    unlisted = [one for one in ids if one not in listed]
    if unlisted:
        listed.update(zip(unlisted, leg.score(unlisted).tolist(), strict=True))
    return leg.calibrate(np.array([listed[one] for one in ids], dtype=np.float64))


def _bound(leg: Leg, ranking: Ranking) -> ScoreArray:
    """Return, as (1,), the most that an unseen item can have in this leg."""
    last = 0.0 if ranking.exhausted or not len(ranking.scores) else float(ranking.scores[-1])
    return leg.calibrate(np.array([last]))
