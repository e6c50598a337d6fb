"""Chains: a hit brings the texts that it took the place of; they never take a place of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice

from hy_memory.filters.evaluate import Predicate, predicate
from hy_memory.filters.tree import And, Compare, all_of
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.state import ReadPorts, Records, SearchState
from hy_memory.values.record import MemoryRecord
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import ChainText, Hit

_MOST = 100  # earlier texts of one hit, and links followed for them: more is a log, not an answer


def chains(state: SearchState, ports: ReadPorts) -> SearchState:
    """Attach to the hits of every bucket what they used to say, newest first.

    That is a record's own earlier texts, then the current and earlier texts of the record it
    superseded, and so on. A record is passed over that the caller's scope leaves out, by source, agent,
    session, time or any filter, or that has expired: what may not be found is not shown beside a hit.
    """
    buckets = (state.hits or (), state.schemas, state.intentions)
    grown = [hit.record for hit in chain(*buckets) if hit.record.version > 1 or hit.record.supersedes]
    if not grown:
        return state
    is_allowed = _allowed(state.request)
    found = guard("chain", lambda: _earlier(grown, is_allowed, ports.records))
    if isinstance(found, Guarded):
        return replace(state, failures=(*state.failures, found))

    def attached(hits: Iterable[Hit]) -> tuple[Hit, ...]:
        return tuple(replace(hit, chain=found.get(hit.record.id, ())) for hit in hits)

    hits, schemas, intentions = map(attached, buckets)
    return replace(state, hits=hits, schemas=schemas, intentions=intentions)


def _allowed(request: SearchRequest) -> Predicate:
    """Return whether a record may be shown as what a hit used to say."""
    parts = request.scope.parts if isinstance(request.scope, And) else (request.scope,)
    asked = [one for one in parts if not (isinstance(one, Compare) and one.field == "status")]
    holds, now = predicate(all_of(*asked)), request.asked_at  # a past text may be superseded, of course
    return lambda record: holds(record) and (record.expires_at is None or record.expires_at > now)


def _earlier(
    heads: Sequence[MemoryRecord], is_allowed: Predicate, records: Records
) -> dict[str, tuple[ChainText, ...]]:
    """Return the earlier texts of each of `heads`, newest first."""
    lines = _lines(heads, is_allowed, records)
    return {one: tuple(islice(_texts(line, records), 1, 1 + _MOST)) for one, line in lines.items()}


def _lines(
    heads: Sequence[MemoryRecord], is_allowed: Predicate, records: Records
) -> dict[str, list[MemoryRecord]]:
    """Return each of `heads` with the allowed members of its chain below it; all chains a link at a time."""
    lines = {one.id: [one] for one in heads}
    below = {one.id: one.supersedes for one in heads if one.supersedes is not None}
    for _ in range(_MOST):  # which also ends a ring, should a store be damaged
        if not below:
            break
        loaded = records.records(list(dict.fromkeys(below.values())))
        members = {head: loaded[one] for head, one in below.items() if one in loaded}
        for head, member in members.items():
            if is_allowed(member) and member.user_id == lines[head][0].user_id:
                lines[head].append(member)
        below = {head: one.supersedes for head, one in members.items() if one.supersedes is not None}
    return lines


def _texts(line: Sequence[MemoryRecord], records: Records) -> Iterable[ChainText]:
    """Yield the texts of records, each from the one it has now to its first."""
    for one in line:
        yield ChainText(one.id, one.content, one.memory_at, one.updated_at, one.layer)
        for old in records.versions(one.id) if one.version > 1 else ():
            yield ChainText(old.memory_id, old.content, old.memory_at, old.recorded_at, one.layer)
