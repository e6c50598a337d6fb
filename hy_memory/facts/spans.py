"""Intervals of time that carry a value, and what an insertion makes of them; an end of None is no end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """[start, end) with a value; `name` is who it was before, None for what an insertion made."""

    start: float
    end: float | None
    value: str
    name: str | None = None

    @property
    def limit(self) -> float:
        """Where it ends, infinity for nowhere."""
        return math.inf if self.end is None else self.end


def end_of(start: float, end: float | None, known: Sequence[Span]) -> float | None:
    """Return where a value ends that begins at `start`: where it was said to, else where the next one begins.

    What was said of an earlier time says nothing of what is known of a later one.
    """
    if end is not None:
        return end
    return min((one.start for one in known if one.start > start), default=None)


def with_one_value(known: Sequence[Span], new: Span) -> list[Span]:
    """Return the spans after `new` was inserted among `known`, of which no two overlap; in their order.

    Where `new` lies it takes the place of what was there; what sticks out on either side stays. Of two that
    begin at the same moment the one told later stands: it is the correction. Neighbours of one value
    become one.
    """
    return _joined(_cut(known, new, None), new)


def with_several_values(known: Sequence[Span], new: Span) -> list[Span]:
    """Return the spans after `new` was inserted among `known`, where only equal values meet."""
    same = [one for one in known if one.value == new.value]
    others = [one for one in known if one.value != new.value]
    return sorted([*others, *_joined(same, new)], key=_order)


def without(known: Sequence[Span], start: float, end: float | None, value: str | None = None) -> list[Span]:
    """Return the spans after [start, end) was taken out of those of `value`, None for all."""
    hole = Span(start, end, value or "")
    return sorted(_cut(known, hole, value), key=_order)


def overlaps(spans: Iterable[Span]) -> list[tuple[Span, Span]]:
    """Return the pairs of spans with different values that hold at the same time."""
    ordered = sorted(spans, key=_order)
    return [
        (one, other)
        for at, one in enumerate(ordered)
        for other in ordered[at + 1 :]
        if other.start < one.limit and one.value != other.value
    ]


def _cut(known: Sequence[Span], hole: Span, value: str | None) -> list[Span]:
    """Return what is left of spans outside `hole`, of those of one value, None for all."""
    left: list[Span] = []
    for one in known:
        is_other = value is not None and one.value != value
        if is_other or one.limit <= hole.start or one.start >= hole.limit:
            left.append(one)
            continue
        if one.start < hole.start:
            left.append(replace(one, end=hole.start))
        if one.limit > hole.limit:
            name = one.name if one.start >= hole.start else None  # the left part keeps it, if there is one
            left.append(Span(hole.limit, one.end, one.value, name))
    return left


def _joined(known: Sequence[Span], new: Span) -> list[Span]:
    """Return spans in order, with `new` and those of its value that touch it as one."""
    touching = [one for one in known if one.value == new.value and _touch(one, new)]
    whole = new
    while touching:
        start = min(whole.start, *(one.start for one in touching))
        limit = max(whole.limit, *(one.limit for one in touching))
        first = min(touching, key=_order)
        whole = Span(start, None if limit == math.inf else limit, new.value, whole.name or first.name)
        known = [one for one in known if one not in touching]
        touching = [one for one in known if one.value == new.value and _touch(one, whole)]
    return sorted([*known, whole], key=_order)


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.limit and other.start <= one.limit


def _order(one: Span) -> tuple[float, float, str]:
    return one.start, one.limit, one.value
