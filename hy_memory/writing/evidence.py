"""Facts that were read out of an exchange, and its turns, which are kept as their evidence alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hy_memory.ports import Ledger
from hy_memory.values.record import Layer, MemoryRecord


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
