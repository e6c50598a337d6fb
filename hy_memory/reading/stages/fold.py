"""Fold: hits that say the same are shown once, the best of them, with the others listed under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hy_memory.reading.stages.hydrate import hydrate_at_least
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.text.sameness import same_text_key
from hy_memory.values.record import MemoryRecord, Status, indexed_text
from hy_memory.values.result import Hit


def fold(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fold `hits` of one user and one text into the first of them; further ones take the free places.

    No score changes and nothing leaves the store. What a hit lists is what was found until there
    were enough hits.
    """
    pool = asked = state.request.pool
    while True:
        folded = _folded(state.hits or ())
        missing = pool - len(folded)
        if missing <= 0 or len(state.hits or ()) < asked:
            return replace(state, hits=folded)
        asked += missing
        state = hydrate_at_least(state, ports, asked)


def _folded(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the first hit of each text in their order, each with the records of the rest."""
    groups: dict[tuple[str, Status, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault(_key(hit.record), []).append(hit)
    return tuple(
        replace(first, folded=tuple(hit.record for hit in rest)) if rest else first
        for first, *rest in groups.values()
    )


def _key(record: MemoryRecord) -> tuple[str, Status, str]:
    """Return what makes two hits one: whose memory it is, whether it still holds, and who says what."""
    return record.user_id, record.status, same_text_key(indexed_text(record))
