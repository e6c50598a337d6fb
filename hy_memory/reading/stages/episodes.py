"""Episodes: what was said just before and after a hit, as far as the request may see it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import cast

from hy_memory.conversations.index import HasConversations
from hy_memory.conversations.turns import Window
from hy_memory.filters.evaluate import Predicate, predicate
from hy_memory.filters.tree import names_only
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.stages.turns import PART
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.record import MemoryRecord, Status
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Episode, Hit
from hy_memory.values.turn import KIND_FIELDS, Turn

_TOLD = KIND_FIELDS | {"event_at", "created_at"}
"""The fields that a turn has: a filter that names others is asked of the ledger's records."""


def episodes(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `episodes` for the hits that the request may see in company."""
    hits, conversations = state.hits, ports.conversations
    if not hits or conversations is None or state.request.neighbours == 0:
        return state
    if any(failure.degradation.part == PART for failure in state.failures):
        return state  # they could not be read, which is noted
    found = guard(PART, lambda: _episodes(state.request, hits, conversations, ports))
    if isinstance(found, Guarded):
        return replace(state, failures=(*state.failures, found))
    return replace(state, episodes=found) if found else state


def _episodes(
    request: SearchRequest, hits: Sequence[Hit], conversations: HasConversations, ports: ReadPorts
) -> Mapping[str, Episode]:
    windows = _windows(hits, conversations)
    if not windows:
        return {}
    holds = predicate(request.where.tree)
    seen = _seen(request, holds, windows.values(), ports)
    near = {one: _near(one, window, seen, request.neighbours) for one, window in windows.items()}
    told = {turn.id: turn for turns in near.values() for turn in turns}
    long = [one for one, turn in told.items() if turn.content is None]
    shown = _confirmed(request, holds, ports.records.records(long)) if long else {}
    gone = frozenset(long) - shown.keys()
    found: dict[str, Episode] = {}
    for one, turns in near.items():
        window = windows[one]
        timeline = _without(window.turns, seen, gone)
        if turns and len(timeline) > 1:
            neighbours = [shown.get(turn.id, turn) for turn in turns if turn.id not in gone]
            found[one] = Episode(f"ep-{window.first}", neighbours, timeline)
    return found


def _windows(hits: Sequence[Hit], conversations: HasConversations) -> dict[str, Window]:
    """Return what stands around each hit that is not alone in its episode."""
    users = {user_id: conversations.of(user_id) for user_id in {hit.record.user_id for hit in hits}}
    found: dict[str, Window] = {}
    for hit in hits:
        window = users[hit.record.user_id].window(hit.record.id)
        if window is not None:
            found[hit.record.id] = window
    return found


def _seen(
    request: SearchRequest, holds: Predicate, windows: Collection[Window], ports: ReadPorts
) -> Collection[str] | None:
    """Return which of the turns the request admits, None for all; they are the ledger's, as of this search.

    Whose they are is known: they stand around a hit of one of the request's users.
    """
    tree, admits = request.where.tree, cast("Callable[[Turn], bool]", holds)
    # nearly always: then all turns of a kind are admitted or none
    if names_only(tree, KIND_FIELDS):
        distinct = {id(window.kinds): window for window in windows}.values()  # many hits share one
        if all(admits(kind) for window in distinct for kind in window.kinds):
            return None
    turns = {turn.id: turn for window in windows for turn in window.turns}
    if names_only(tree, _TOLD):
        return {one for one, turn in turns.items() if admits(turn)}
    return _confirmed(request, holds, ports.records.records(list(turns))).keys()


def _near(one: str, window: Window, seen: Collection[str] | None, most: int) -> Sequence[Turn]:
    """Return the `most` turns before and after a hit that are seen, in order."""
    turns, place = window.turns, window.place
    if seen is None:
        return turns[max(0, place - most) : place] + turns[place + 1 : place + 1 + most]
    if one not in seen:
        return ()
    before = [turn for turn in turns[:place] if turn.id in seen]
    after = [turn for turn in turns[place + 1 :] if turn.id in seen]
    return [*before[max(0, len(before) - most) :], *after[:most]]


def _without(turns: Sequence[Turn], seen: Collection[str] | None, gone: Collection[str]) -> Sequence[Turn]:
    """Return those of `turns` that are seen and not gone."""
    if seen is not None:
        turns = [turn for turn in turns if turn.id in seen]
    return [turn for turn in turns if turn.id not in gone] if gone else turns


def _confirmed(
    request: SearchRequest, holds: Predicate, records: Mapping[str, MemoryRecord]
) -> dict[str, MemoryRecord]:
    """Return the records that the ledger holds as the request may see them: the second wall."""
    users = request.where.user_ids
    return {
        one: record
        for one, record in records.items()
        if record.status is Status.ACTIVE and record.user_id in users and holds(record)
    }
