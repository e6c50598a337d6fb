"""What becomes of a memory's use by what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hy_memory.dynamics.salience import DAY, RESTATED_GAIN, USE_GAIN, faded, repeated, start
from hy_memory.dynamics.sectors import kind_of
from hy_memory.values.record import Json
from hy_memory.values.use import Lesson, LessonKind, Sector, Use

SECTOR = "sector"
"""The key of a memory's metadata that says its sector, and overrules the rules."""


def begun_of(content: str, attributes: Mapping[str, Json]) -> tuple[Sector, float]:
    """Return the sector of a memory and the salience that it has when it is new."""
    said = attributes.get(SECTOR)
    if isinstance(said, str) and said in tuple(Sector):
        return Sector(said), start(0)
    kind = kind_of(content)
    return kind.sector, start(len(kind.additional))


def now_of(use: Use, at: float) -> float:
    """Return the salience of a memory at a moment (epoch seconds)."""
    days = (at - use.salience_at) / DAY
    return faded(use.salience, days, use.sector, is_pinned=use.is_pinned)


def learned(use: Use, lessons: Sequence[Lesson]) -> Use:
    """Return what is kept of a memory after lessons, taken in the order of their moments.

    A lesson of before what is known already counts as one of that moment: nothing is taken back.
    """
    for one in sorted(lessons, key=lambda each: each.at):
        at = max(one.at, use.salience_at)
        value, count = now_of(use, at), use.uses
        if one.kind is LessonKind.RESTATED:
            count = use.restated
        gain = USE_GAIN if one.kind is LessonKind.USED else RESTATED_GAIN
        for time in range(one.times):
            value = repeated(value, gain, count + time)
        counts = (use.uses + one.times, use.restated)
        if one.kind is LessonKind.RESTATED:
            counts = (use.uses, use.restated + one.times)
        use = replace(use, salience=value, salience_at=at, used_at=at, uses=counts[0], restated=counts[1])
    return use
