"""Hydrate: candidate ids become records of the ledger; what the ledger does not confirm is no hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hy_memory.ranking.fusion import as_score
from hy_memory.reading.stages.recall import RETRIES, recall_at_least
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.reading.wall import Wall
from hy_memory.values.record import MemoryRecord, Status
from hy_memory.values.request import Explain
from hy_memory.values.result import Dropped, Hit, LegEvidence


def hydrate(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `hits` with the best confirmed records, as many as the request's `pool`.

    What the wall does not let through (gone, superseded, of another scope) is dropped, and the next
    candidate takes its place.
    """
    return hydrate_at_least(state, ports, state.request.pool)


def hydrate_at_least(state: SearchState, ports: ReadPorts, pool: int) -> SearchState:
    """Fill `hits` with the best `pool` confirmed records, or with all there are."""
    wall = Wall.of(state.request.where, state.request.sources, ports.records)
    wanted, retries = pool, RETRIES
    while True:
        ids = state.candidates.ids[:wanted]
        records = ports.records.records(ids) if ids else {}
        kept = wall.confirmed(records)
        if len(kept) < len(records) and retries and wall.is_allowed is None and _is_behind(records):
            retries -= 1
            state = recall_at_least(state, wanted)
            continue
        confirmed = [at for at, one in enumerate(ids) if one in kept]
        missing = pool - len(confirmed)
        if missing <= 0 or (state.candidates.complete and wanted >= len(state.candidates.ids)):
            break
        wanted += missing
        if wanted > len(state.candidates.ids) and not state.candidates.complete:
            state = recall_at_least(state, wanted)
    scores = state.candidates.scores.tolist()
    hits = tuple(
        Hit(records[ids[at]], scores[at], source, _evidence(state, at))
        for at, source in zip(confirmed, _sources(state, confirmed), strict=True)
    )
    return replace(state, hits=hits, dropped=(*state.dropped, *_unconfirmed(state, ids, records, confirmed)))


def _is_behind(records: Mapping[str, MemoryRecord]) -> bool:
    """Return whether a record was superseded since it was recalled as an active one.

    Asked again, the backend gives the record that took its place; else neither would be a hit.
    """
    return any(one.status is Status.SUPERSEDED for one in records.values())


def _sources(state: SearchState, places: Sequence[int]) -> list[str]:
    """Return which leg or support says most of each candidate; the first of them where they say the same."""
    names = [one.name for one in (*state.legs, *state.supports)]
    if len(names) < 2 or not places:
        return names * len(places)
    candidates, chosen = state.candidates, list(places)
    columns = [column[chosen] for column in candidates.by_leg]
    columns += [as_score(column[chosen]) for column in candidates.by_support]
    return [names[at] for at in np.argmax(columns, axis=0).tolist()]


def _evidence(state: SearchState, at: int) -> tuple[LegEvidence, ...]:
    """Return what each leg and support said about a candidate, where the caller wants to know."""
    if state.request.explain is Explain.NO:
        return ()
    candidates = state.candidates
    said = zip(state.legs, candidates.rankings, candidates.by_leg, strict=True)
    one = candidates.ids[at]
    legs = tuple(
        LegEvidence(leg.name, ranking.ids.index(one) + 1 if one in ranking.ids else None, float(column[at]))
        for leg, ranking, column in said
    )
    supports = zip(state.supports, candidates.by_support, strict=True)
    return legs + tuple(
        LegEvidence(support.name, None, float(as_score(column[at])))
        for support, column in supports
        if column[at]
    )


def _unconfirmed(
    state: SearchState, ids: tuple[str, ...], records: Mapping[str, MemoryRecord], confirmed: list[int]
) -> tuple[Dropped, ...]:
    if state.request.explain is not Explain.DROPPED:
        return ()
    kept = set(confirmed)
    scores = state.candidates.scores
    stale = [
        Dropped(one, float(scores[at]), _reason(records.get(one)))
        for at, one in enumerate(ids)
        if at not in kept
    ]
    beyond = [
        Dropped(one, float(scores[at]), "beyond limit")
        for at, one in enumerate(state.candidates.ids)
        if at >= len(ids)
    ]
    return (*stale, *beyond)


def _reason(record: MemoryRecord | None) -> str:
    is_old = record is not None and record.status is Status.SUPERSEDED
    return "superseded" if is_old else "not confirmed by the ledger"
