"""The shapes of what the verbs of facts answer; times are UTC epoch seconds."""

from __future__ import annotations

from typing import TypedDict

from hy_memory.values.fact import Fact, FactRelation


class FactRow(TypedDict):
    """A fact: it holds from `valid_from` until before `valid_to`, None for no end.

    It was believed from `recorded_from` until before `recorded_to`, None for still. `confidence` is of now.
    """

    fact_id: str
    user_id: str
    subject: str
    predicate: str
    object: str
    valid_from: float
    valid_to: float | None
    recorded_from: float
    recorded_to: float | None
    confidence: float
    source: str
    memory_id: str | None


class Written(TypedDict):
    """What a change led to: the facts that say it now, and how many rows were closed and added."""

    success: bool
    fact_ids: list[str]
    closed_count: int
    added_count: int


class Comparison(TypedDict):
    """What held at the second moment and not at the first, the reverse, and at both.

    `changed` has pairs of one subject and single-valued predicate: what it was, and what it became.
    """

    added: list[FactRow]
    removed: list[FactRow]
    changed: list[tuple[FactRow, FactRow]]
    unchanged: list[FactRow]


class Volatility(TypedDict):
    """How often the value of a subject's predicate changed, as far as is believed now."""

    subject: str
    predicate: str
    changes: int
    values: list[str]


class RelationRow(TypedDict):
    """A tie between two facts."""

    from_fact_id: str
    to_fact_id: str
    kind: str
    recorded_at: float


def row(fact: Fact, confidence: float) -> FactRow:
    """Return a fact as callers see it."""
    return {
        "fact_id": fact.fact_id,
        "user_id": fact.user_id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "recorded_from": fact.recorded_from,
        "recorded_to": fact.recorded_to,
        "confidence": confidence,
        "source": fact.source,
        "memory_id": fact.memory_id,
    }


def relation(one: FactRelation) -> RelationRow:
    """Return a tie as callers see it."""
    return {
        "from_fact_id": one.from_id,
        "to_fact_id": one.to_id,
        "kind": one.kind,
        "recorded_at": one.recorded_at,
    }
