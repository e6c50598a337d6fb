"""Moments as callers give them, turned into UTC epoch seconds; one rule for every argument."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from numbers import Real

from hy_memory.errors import InvalidArgumentError

_FIX = "give epoch seconds, a datetime, or ISO 8601 text such as '2024-05-07T09:00:00Z'"
LATEST = 253_402_300_800.0
"""The first second of the year 10000. A larger number is surely milliseconds, and is refused."""


def to_epoch(name: str, value: object) -> float:
    """Return `value` as UTC epoch seconds; naive datetimes and texts are read as UTC.

    Raises InvalidArgumentError naming the argument `name` for any other type or an impossible moment.
    """
    if isinstance(value, bool):
        raise InvalidArgumentError(name, value, _FIX)
    if isinstance(value, Real):
        try:
            seconds = float(value)
        except OverflowError:
            seconds = math.inf
        if not math.isfinite(seconds):
            raise InvalidArgumentError(name, value, _FIX)
        if abs(seconds) >= LATEST:
            raise InvalidArgumentError(name, value, "give seconds, not milliseconds, before the year 10000")
        return seconds
    if isinstance(value, datetime):
        return _seconds(value)
    if isinstance(value, str):
        try:
            return _seconds(datetime.fromisoformat(value.strip()))
        except ValueError as error:
            raise InvalidArgumentError(name, value, _FIX) from error
    raise InvalidArgumentError(name, value, _FIX)


def is_date_only(value: object) -> bool:
    """Return whether `value` is a text that names a whole day, such as "2026-03-31"."""
    return isinstance(value, str) and len(value.strip()) == 10 and "T" not in value.upper()


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
