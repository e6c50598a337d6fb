"""Fold: hits that say the same are shown once, the best of them, with the others listed under it.

Where near ones are folded too, a hit joins the first one before it that leaves nothing of it unsaid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hy_memory.reading.stages.hydrate import hydrate_at_least
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.text.likeness import LONGEST, adds_nothing
from hy_memory.text.sameness import same_text_key
from hy_memory.text.simhash import NEAR, simhash
from hy_memory.values.record import MemoryRecord, Status, indexed_text
from hy_memory.values.result import Hit


def fold(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fold `hits` of one user and one text into the first of them; further ones take the free places.

    With `folds_near` those of one text nearly.

    No score changes and nothing leaves the store. What a hit lists is what was found until there
    were enough hits.
    """
    pool = asked = state.request.pool
    while True:
        folded = _folded(state.hits or (), near=ports.folds_near)
        missing = pool - len(folded)
        if missing <= 0 or len(state.hits or ()) < asked:
            return replace(state, hits=folded)
        asked += missing
        state = hydrate_at_least(state, ports, asked)


def _folded(hits: Sequence[Hit], *, near: bool) -> tuple[Hit, ...]:
    """Return the first hit of each text in their order, each with the records of the rest."""
    groups: dict[tuple[str, Status, str], list[Hit]] = {}
    shown: list[tuple[MemoryRecord, int]] = []  # with their simhashes, where near ones are folded
    for hit in hits:
        key = _key(hit.record)
        if near and key not in groups:
            bits = simhash(indexed_text(hit.record)[:LONGEST])
            key = next((_key(one) for one, other in shown if _says_all(one, hit.record, bits ^ other)), key)
            if key not in groups:
                shown.append((hit.record, bits))
        groups.setdefault(key, []).append(hit)
    return tuple(
        replace(first, folded=tuple(hit.record for hit in rest)) if rest else first
        for first, *rest in groups.values()
    )


def _key(record: MemoryRecord) -> tuple[str, Status, str]:
    """Return what makes two hits one: whose memory it is, whether it still holds, and who says what."""
    return record.user_id, record.status, same_text_key(indexed_text(record))


def _says_all(shown: MemoryRecord, other: MemoryRecord, differing: int) -> bool:
    """Return whether a hit leaves nothing of another unsaid; `differing` are the bits in which they do."""
    is_near = differing.bit_count() <= NEAR and (shown.user_id, shown.status) == (other.user_id, other.status)
    return is_near and adds_nothing(indexed_text(other), indexed_text(shown))
