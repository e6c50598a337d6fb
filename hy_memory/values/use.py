"""How a memory was used: what the ledger keeps of it, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Sector(StrEnum):
    """The kinds of memory."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    REFLECTIVE = "reflective"


@dataclass(frozen=True, slots=True)
class Use:
    """What is kept of the use of one record; one that nobody used has none.

    `salience` in [0, 1] was true at `salience_at`, `begun` is what it had when it was new. `uses` and
    `restated` count; `used_at` is when it was last of use, `changed_at` when the ledger stored this. Times
    are epoch seconds.
    """

    record_id: str
    user_id: str
    salience: float
    salience_at: float
    begun: float
    sector: Sector
    used_at: float | None = None
    uses: int = 0
    restated: int = 0
    is_pinned: bool = False
    changed_at: float = 0.0


class LessonKind(StrEnum):
    """What was learned of a memory."""

    USED = "used"
    RESTATED = "restated"
    """Its words were said again."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A memory was used, or restated, `times` times, the last time at `at` (epoch seconds)."""

    record_id: str
    at: float
    times: int = 1
    kind: LessonKind = LessonKind.USED
