"""A stretch of time that a text speaks of, and how near an event lies to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Precision(StrEnum):
    """The unit a text speaks in."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch [start, end) in UTC epoch seconds, and the words (normalised) it comes from."""

    start: float
    end: float
    precision: Precision
    surface: str


_DAY = 86_400.0
# How far outside a window the preference is halved.  People round to the unit they speak in
# and write things down some time after they happened, so the slack is a day and a half for
# days, and about half a unit, a third and less for longer ones, whose borders are remembered
# better than their middle.
_SLACK = {
    Precision.HOUR: 2 * 3_600.0,
    Precision.DAY: 1.5 * _DAY,
    Precision.WEEK: 4 * _DAY,
    Precision.MONTH: 10 * _DAY,
    Precision.SEASON: 20 * _DAY,
    Precision.YEAR: 45 * _DAY,
}


def affinity(event_at: float, windows: Sequence[Window]) -> float:
    """Return in [0, 1] how well an event at `event_at` (epoch seconds) fits the nearest window.

    1 inside a window.  Outside 2 ** -(d / s)², where d is the distance to the nearer border and
    s the slack of the window's precision (2 h, 1.5, 4, 10, 20, 45 days): a half at s, a
    sixteenth at 2 s, flat at the border.  Several windows: the best.  None, or a moment that is
    no number: 0.
    """
    if not math.isfinite(event_at):
        return 0.0
    return max((_nearness(event_at, window) for window in windows), default=0.0)


def _nearness(event_at: float, window: Window) -> float:
    if window.start <= event_at < window.end:
        return 1.0
    distance = window.start - event_at if event_at < window.start else event_at - window.end
    ratio = distance / _SLACK[window.precision]
    return 2.0 ** -(ratio * ratio) if ratio < 30.0 else 0.0  # beyond: below the smallest double
