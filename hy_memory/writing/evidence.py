"""What rests on what: facts on the turns they were read from, experiences on facts of sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from hy_memory.ports import Ledger
from hy_memory.values.lane import FACT, LEARNED_FROM
from hy_memory.values.record import Layer, MemoryRecord, is_reserved
from hy_memory.values.write import Entry


def extraction_id(raw_id: str) -> str:
    """Return under which request the ledger keeps what reading a raw exchange led to."""
    return f"extract:{raw_id}"


def is_lone_turn(record: MemoryRecord) -> bool:
    """Return whether a raw record is one turn by itself, and not the exchange, which rests on nothing."""
    return record.layer is Layer.L1_RAW and bool(record.evidence_ids)


def orphaned(found: Sequence[MemoryRecord], gone: Collection[str], ledger: Ledger) -> list[MemoryRecord]:
    """Return the turns that no fact rests on any more once `found`, whose ids are `gone`, are deleted."""
    cited = sorted({one for record in found for one in record.evidence_ids} - set(gone))
    turns = [one for one in ledger.records(cited).values() if is_lone_turn(one)] if cited else []
    left: list[MemoryRecord] = []
    for turn in turns:
        outcome = ledger.outcome(extraction_id(turn.evidence_ids[-1]), turn.user_id)
        facts = ledger.records(outcome.memory_ids) if outcome is not None else {}
        if not any(turn.id in one.evidence_ids for one in facts.values() if one.id not in gone):
            left.append(turn)
    return left


def unlearned(
    found: Sequence[MemoryRecord], gone: Collection[str], ledger: Ledger
) -> tuple[list[MemoryRecord], list[Entry]]:
    """Return the experiences that rest on nothing once `found`, whose ids are `gone`, are deleted.

    The others that some of `found` gave rise to come second, without those.
    """
    cited = sorted({one for record in found for one in _experiences_of(record)} - set(gone))
    experiences = list(ledger.records(cited).values()) if cited else []
    points = ledger.searchable(cited) if cited else {}
    orphans: list[MemoryRecord] = []
    kept: list[Entry] = []
    for one in experiences:
        rests_on = tuple(other for other in one.evidence_ids if other not in gone)
        if not rests_on:
            orphans.append(one)
        elif rests_on != one.evidence_ids and one.id in points:
            point = points[one.id]
            kept.append(Entry(replace(one, evidence_ids=rests_on), point.vector, point.terms))
    return orphans, kept


def _experiences_of(record: MemoryRecord) -> list[str]:
    kept = record.attributes.get(FACT) if is_reserved(record, FACT) else None
    return cast("list[str]", kept[LEARNED_FROM]) if isinstance(kept, dict) else []
