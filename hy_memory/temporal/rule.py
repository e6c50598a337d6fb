"""A rule of language: a pattern, and what a match of it means at the moment of asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hy_memory.temporal.calendar import Asking, Stretch

Meaning: TypeAlias = "Callable[[re.Match[str], Asking], Stretch | None]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its meaning; a meaning of None says that the words were no time after all."""

    pattern: re.Pattern[str]
    meaning: Meaning
