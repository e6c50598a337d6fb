"""What is true of somebody or something, from when until when, and since when that is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One row: subject, predicate and object with two times, in epoch seconds.

    It holds in [`valid_from`, `valid_to`), and was believed in [`recorded_from`, `recorded_to`); None is no
    end. `subject_key` and `object_key` are the names as they are compared. `fact_id` stays the same while a
    fact is cut or extended, `row_id` is of this row alone. `confidence` in [0, 1] is of when it was recorded.
    """

    row_id: str
    fact_id: str
    user_id: str
    subject: str
    subject_key: str
    predicate: str
    object: str
    object_key: str
    valid_from: float
    valid_to: float | None
    recorded_from: float
    recorded_to: float | None = None
    confidence: float = 1.0
    source: str = "default"
    memory_id: str | None = None

    def holds_at(self, moment: float) -> bool:
        """Return whether it is said to hold at a moment."""
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)

    def is_believed_at(self, moment: float) -> bool:
        """Return whether it was believed at a moment."""
        return self.recorded_from <= moment and (self.recorded_to is None or moment < self.recorded_to)


@dataclass(frozen=True, slots=True)
class FactRelation:
    """A tie between two facts of one user, of a kind that its maker names."""

    user_id: str
    from_id: str
    to_id: str
    kind: str
    recorded_at: float


@dataclass(frozen=True, slots=True)
class FactRules:
    """What a user declared: the entity that each alias means, and which predicates hold several values."""

    aliases: dict[str, str]
    multi: dict[str, bool]


@dataclass(frozen=True, slots=True)
class FactChange:
    """What becomes of a user's facts: rows that are believed no more (`row_id`s), and new ones."""

    closed: tuple[str, ...] = ()
    added: tuple[Fact, ...] = ()
