"""From claims of many memories to one profile: the current value of each field, and how it changed.

A pure reducer: claims are put in the order of their time (then of the memory's id and the
value), so the order in which they arrive does not matter, nor does meeting one twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hy_memory.profile.claim import BasicField
from hy_memory.text.normalize import fold, normalize


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim, the memory it stands in, and when that was said (epoch seconds)."""

    field: BasicField
    value: str
    memory_id: str
    at: float
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """A value a field had: when it was first and last said, and in which memories.

    `is_past` when it is known only as something that was over, or was later said to be.
    """

    value: str
    first_at: float
    last_at: float
    memory_ids: tuple[str, ...]
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class FieldHistory:
    """A field's periods in order of time; `current` is the latest that is not past, if there is one."""

    field: BasicField
    history: tuple[Period, ...]

    @property
    def current(self) -> Period | None:
        """The period whose value holds now."""
        return next((one for one in reversed(self.history) if not one.is_past), None)


@dataclass(frozen=True, slots=True)
class Profile:
    """The fields something is known of, in the order of `BasicField`."""

    fields: tuple[FieldHistory, ...]

    def value(self, field: BasicField) -> str | None:
        """Return the current value of `field`, None where it is not known."""
        current = next((one.current for one in self.fields if one.field is field), None)
        return current.value if current else None


# Where a longer form says the same: "Maya" and "Maya Chen", "Lyon" and "Lyon, France". A "senior
# nurse" was promoted, and 32 is not 3.
_EXTENDABLE = frozenset({BasicField.NAME, BasicField.LOCATION, BasicField.EMPLOYER})


def profile(evidence: Iterable[Evidence]) -> Profile:
    """Return the profile that all the evidence makes."""
    ordered = sorted(set(evidence), key=lambda one: (one.at, one.memory_id, one.is_past, one.value))
    fields: list[FieldHistory] = []
    for field in BasicField:
        periods = _periods(field, [one for one in ordered if one.field is field])
        if periods:
            fields.append(FieldHistory(field, tuple(periods)))
    return Profile(tuple(fields))


def _periods(field: BasicField, ordered: list[Evidence]) -> list[Period]:
    periods: list[Period] = []
    for one in ordered:
        said = Period(one.value, one.at, one.at, (one.memory_id,), one.is_past)
        place = _place_of(field, periods, said)
        if place is None:
            # What was over when it was first told belongs before what holds.
            index = _first_current(periods) if said.is_past else len(periods)
            periods.insert(index, said)
        else:
            periods[place] = _restated(periods[place], said)
    return periods


def _place_of(field: BasicField, periods: list[Period], said: Period) -> int | None:
    """Return which period `said` restates: for a past value any, else the one that holds now."""
    for place in range(len(periods) - 1, -1, -1):
        known = periods[place]
        if (said.is_past or not known.is_past) and _is_same(field, known.value, said.value):
            return place
        if not said.is_past and not known.is_past:
            return None
    return None


def _first_current(periods: list[Period]) -> int:
    return next((place for place, one in enumerate(periods) if not one.is_past), len(periods))


def _restated(known: Period, said: Period) -> Period:
    ids = known.memory_ids if said.memory_ids[0] in known.memory_ids else known.memory_ids + said.memory_ids
    value = max(known.value, said.value, key=len)
    return replace(known, value=value, last_at=said.last_at, memory_ids=ids, is_past=said.is_past)


def _is_same(field: BasicField, one: str, other: str) -> bool:
    left, right = fold(normalize(one)).strip(), fold(normalize(other)).strip()
    if left == right:
        return True
    if field not in _EXTENDABLE:
        return False
    short, long = sorted((left, right), key=len)
    if short.isascii():
        return set(_words(short)) <= set(_words(long))
    return len(short) > 1 and long.startswith(short)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(".", " ").split()
