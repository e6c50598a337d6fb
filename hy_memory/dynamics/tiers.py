"""How near a memory is kept: hot, warm or cold, by when it was last of use and how much it matters."""

from __future__ import annotations

from enum import StrEnum


class Tier(StrEnum):
    """Where a memory is kept. Cold ones leave the index; nothing of them is lost."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


HOT_DAYS = 7.0
"""A week: what was of use in it is likely to be again."""
COLD_SALIENCE = 0.2
"""Twice what fading ends at: reached by an unused fact after 220 days, by an event after 73."""


def tier_of(salience: float, idle_days: float, cold_days: float, *, is_pinned: bool = False) -> Tier:
    """Return the tier of a memory of this `salience` that was of no use for `idle_days`.

    Cold are those of no use for `cold_days` whose salience is below COLD_SALIENCE; pinned ones never are.
    """
    if is_pinned or idle_days < HOT_DAYS:
        return Tier.HOT
    return Tier.COLD if idle_days >= cold_days and salience < COLD_SALIENCE else Tier.WARM
