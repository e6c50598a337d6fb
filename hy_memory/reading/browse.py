"""Looking at what is stored without searching: one memory, pages, counts, history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from hy_memory import answers, present
from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import Filter, Not, all_of, one_of
from hy_memory.ports import Ledger
from hy_memory.reading.request import parse_layers
from hy_memory.values import check
from hy_memory.values.lane import Lane, partition, partitions, user_of
from hy_memory.values.record import Layer, Status
from hy_memory.values.write import ListQuery

_BEYOND = 1 << 40  # more than any user has; larger numbers are no integers to a database
_EVENTS = 1000  # of one memory's history; a memory updated more often than that shows its latest


class Listing(TypedDict):
    """A page: `total` counts all that match; `has_more` says whether another page follows."""

    memories: list[answers.StoredItem]
    total: int
    limit: int
    offset: int
    has_more: bool


class LaneStats(TypedDict):
    """How much a user's working or coding memory holds, superseded facts included.

    `edits` are the changes of files that coding sessions told of.
    """

    facts: int
    experiences: int
    edits: int


class Stats(TypedDict):
    """How many memories a user has; `total` leaves raw turns out, `by_layer` shows them.

    Both are of chat memory; `scenes` has what there is of each other one.
    """

    user_id: str
    total: int
    by_layer: dict[str, int]
    scenes: dict[str, LaneStats]


def parse_page(limit: object, offset: object, order: object) -> ListQuery:
    """Return which page is wanted."""
    if not isinstance(order, str) or order not in ("asc", "desc"):
        raise InvalidArgumentError("order", order, "give 'asc' or 'desc'")
    first, most = min(check.count("offset", offset), _BEYOND), min(check.count("limit", limit), _BEYOND)
    return ListQuery(most, first, ascending=order == "asc")


def listed(layers: object, statuses: object) -> Filter:
    """Return the filter of a listing: the layers asked for, else everything but raw turns."""
    wanted = parse_layers(layers)
    kinds: Filter = Not(one_of("layer", (Layer.L1_RAW.value,)))
    if wanted:
        kinds = one_of("layer", tuple(one.value for one in wanted))
    names = check.optional_identifiers("statuses", statuses)
    for name in names:
        if name not in tuple(Status):
            raise InvalidArgumentError("statuses", name, f"use some of {', '.join(Status)}")
    return all_of(kinds, one_of("status", names)) if names else kinds


def get(
    memory_id: str, user_id: str | None, with_versions: bool, ledger: Ledger
) -> answers.StoredItem | None:
    """Return a memory, or None where there is none (or it is another user's)."""
    record = ledger.records([memory_id]).get(memory_id)
    if record is None or (user_id is not None and user_of(record.user_id) != user_id):
        return None
    shown = present.item(record)
    if with_versions:
        shown["versions"] = [present.version(one) for one in ledger.versions(memory_id)]
    return shown


def list_memories(where: ScopedFilter, query: ListQuery, ledger: Ledger) -> Listing:
    """Return a page of a user's memories."""
    page = ledger.page(where, query)
    return {
        "memories": [present.item(record) for record in page.records],
        "total": page.total,
        "limit": query.limit,
        "offset": query.offset,
        "has_more": query.offset + len(page.records) < page.total,
    }


def stats(user_id: str, ledger: Ledger) -> Stats:
    """Return a user's counts."""
    by_layer = ledger.counts(user_id)
    total = sum(number for layer, number in by_layer.items() if layer != Layer.L1_RAW)
    held = {lane: ledger.counts(partition(user_id, lane)) for lane in Lane}
    edits = {lane: ledger.edit_count(partition(user_id, lane)) for lane in Lane if held[lane]}
    scenes = {lane.value: _lane_stats(counts, edits[lane]) for lane, counts in held.items() if counts}
    return {"user_id": user_id, "total": total, "by_layer": by_layer, "scenes": scenes}


def _lane_stats(by_layer: Mapping[str, int], edits: int) -> LaneStats:
    facts, experiences = by_layer.get(Layer.L2_FACT, 0), by_layer.get(Layer.L6_SCHEMA, 0)
    return {"facts": facts, "experiences": experiences, "edits": edits}


def history(memory_id: str, user_id: str | None, ledger: Ledger) -> list[answers.Event]:
    """Return the events of one memory, newest first."""
    events = ledger.history(memory_id=memory_id, limit=_EVENTS)
    return [present.event(one) for one in events if user_id is None or user_of(one.user_id) == user_id]


def recent(user_id: str, limit: int, ledger: Ledger) -> list[answers.Event]:
    """Return the latest events of one user's memories, newest first."""
    most = min(limit, _BEYOND)
    events = [one for key in partitions(user_id) for one in ledger.history(user_id=key, limit=most)]
    newest = sorted(events, key=lambda one: -one.seq)[:most]
    return [present.event(one) for one in newest]


def outcome(request_id: str, user_id: str | None, ledger: Ledger) -> answers.Outcome | None:
    """Return what a write led to; None where it was never acknowledged."""
    keys = (None,) if user_id is None else partitions(user_id)
    found = next((one for key in keys if (one := ledger.outcome(request_id, key)) is not None), None)
    if found is None:
        return None
    return {
        "request_id": found.request_id,
        "user_id": user_of(found.user_id),
        "status": "done",
        "memory_ids": list(found.memory_ids),
        "recorded_at": found.recorded_at,
    }
