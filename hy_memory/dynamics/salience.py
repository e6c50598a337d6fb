"""How much a memory matters, in [0, 1]: where it starts, how it fades, how use lets it grow.

A record keeps a value and the moment it was true; what it is now is worked out when somebody asks. So reading
changes nothing, and it makes no difference how often anybody looks, or sweeps. Times are in days.

Rates and gains are those of OpenMemory's engine, with two differences: decay is in closed form, where that
one compounded with each run, and gains shrink with each repetition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hy_memory.values.use import Sector

DAY = 86_400.0
"""Seconds."""

START = 0.4
PER_SECTOR = 0.1
"""More for a memory that is of several kinds at once: it is tied to more."""

FLOOR = 0.1
"""What fading ends at: a memory nobody needed for years is faint and not gone."""

RATES: Mapping[Sector, float] = {
    Sector.EPISODIC: 0.015,
    Sector.SEMANTIC: 0.005,
    Sector.PROCEDURAL: 0.008,
    Sector.EMOTIONAL: 0.020,
    Sector.REFLECTIVE: 0.001,
}
"""Shares of what lies above FLOOR that are lost per day: half of it in 46, 139, 87, 35 and 693 days."""

USE_GAIN = 0.18
"""Share of the way to 1 that the first use goes."""
RESTATED_GAIN = 0.15
"""Share of the way to 1 that it goes when its words are said again."""


def start(additional: int) -> float:
    """Return the salience of a new memory that is of `additional` kinds beside its own."""
    return min(1.0, START + PER_SECTOR * additional)


def faded(salience: float, days: float, sector: Sector, *, is_pinned: bool = False) -> float:
    """Return what a salience is after `days`: floor + (salience - floor) exp(-rate days).

    Of a time before it was true (a clock that went back) it is what it is; pinned ones do not fade.
    """
    if is_pinned or days <= 0.0 or salience <= FLOOR:
        return salience
    return FLOOR + (salience - FLOOR) * math.exp(-RATES[sector] * days)


def repeated(salience: float, gain: float, before: int) -> float:
    """Return a salience after one more use, or repetition, of which there were `before` already.

    The first goes `gain` of the way to 1, the n-th an n-th of that. What is said every day is not worth
    ninety times what was said once: of a hundred the first counts for more than the last sixty together.
    """
    return min(1.0, salience + gain / (1 + before) * (1.0 - salience))


def gained(salience: float, begun: float) -> float:
    """Return in [0, 1] how far a memory is above where it `begun`: 0 for one that nobody used."""
    return max(0.0, salience - begun) / (1.0 - begun) if begun < 1.0 else 0.0


def recency(days: float, sector: Sector) -> float:
    """Return in (0, 1] how near a memory is in time: exp(-rate days), by its own rate; 1 for a later one."""
    return math.exp(-RATES[sector] * max(0.0, days))
