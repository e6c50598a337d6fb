"""Hydrate: candidate ids become records of the ledger; what the ledger does not confirm is no hit."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.filters.evaluate import Predicate
from hy_memory.reading.stages.legs import KEYWORD
from hy_memory.reading.stages.recall import recall_at_least
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.record import MemoryRecord, Status
from hy_memory.values.request import Explain
from hy_memory.values.result import Dropped, Hit, LegEvidence


def hydrate(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `hits` with the best confirmed records, as many as the request's `pool`.

    This is the second wall behind the backend's filter: a record that is gone, superseded, or of
    another scope is dropped, and the next candidate takes its place.
    """
    pool, is_admitted = state.request.pool, state.request.where.predicate()
    wanted = pool
    while True:
        ids = state.candidates.ids[:wanted]
        records = ports.records.records(ids) if ids else {}
        confirmed = [at for at, one in enumerate(ids) if _is_confirmed(records.get(one), is_admitted)]
        missing = pool - len(confirmed)
        if missing <= 0 or (state.candidates.complete and wanted >= len(state.candidates.ids)):
            break
        wanted += missing
        if wanted > len(state.candidates.ids) and not state.candidates.complete:
            state = recall_at_least(state, wanted)
    hits = tuple(_hit(state, at, records[ids[at]]) for at in confirmed)
    return replace(state, hits=hits, dropped=(*state.dropped, *_unconfirmed(state, ids, confirmed)))


def _is_confirmed(record: MemoryRecord | None, is_admitted: Predicate) -> bool:
    return record is not None and record.status is Status.ACTIVE and is_admitted(record)


def _hit(state: SearchState, at: int, record: MemoryRecord) -> Hit:
    shares = [
        (float(column[at]), leg.name) for leg, column in zip(state.legs, state.candidates.by_leg, strict=True)
    ]
    evidence: tuple[LegEvidence, ...] = ()
    if state.request.explain is not Explain.NO:
        evidence = tuple(
            LegEvidence(name, ranking.ids.index(record.id) + 1 if record.id in ranking.ids else None, share)
            for (share, name), ranking in zip(shares, state.candidates.rankings, strict=True)
        )
    # the leg that says more names the source; the vector leg where they say the same
    source = max(shares, key=lambda share: (share[0], share[1] != KEYWORD))[1]
    return Hit(record, float(state.candidates.scores[at]), source, evidence)


def _unconfirmed(state: SearchState, ids: tuple[str, ...], confirmed: list[int]) -> tuple[Dropped, ...]:
    if state.request.explain is not Explain.DROPPED:
        return ()
    kept = set(confirmed)
    scores = state.candidates.scores
    stale = [
        Dropped(one, float(scores[at]), "not confirmed by the ledger")
        for at, one in enumerate(ids)
        if at not in kept
    ]
    beyond = [
        Dropped(one, float(scores[at]), "beyond limit")
        for at, one in enumerate(state.candidates.ids)
        if at >= len(ids)
    ]
    return (*stale, *beyond)
