"""An exchange as it was stored: the raw turn, and the memories that stand for its messages until then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hy_memory.ports import Ledger
from hy_memory.values.record import MemoryRecord, is_role
from hy_memory.writing.evidence import extraction_id

_OF_TOOLS = ("tool", "function")
_SHOWN = 1000  # characters of a tool's result: pages of data say little about people


@dataclass(frozen=True, slots=True)
class Exchange:
    """`messages` are "who: what", in order; `turn_ids` the memories made of them, `turns` those there are."""

    raw: MemoryRecord
    messages: tuple[str, ...]
    turn_ids: tuple[str, ...]
    turns: Mapping[str, MemoryRecord]

    @property
    def request_id(self) -> str:
        """Under which the ledger keeps what reading it led to: so no exchange gives its facts twice."""
        return extraction_id(self.raw.id)

    def is_named(self, owner: str) -> bool:
        """Return whether an owner is one of the speakers, or a role."""
        return is_role(owner) or any(one.startswith(f"{owner}: ") for one in self.messages)


def exchange_of(record_id: str, ledger: Ledger) -> Exchange | None:
    """Return the exchange of a raw turn, None where it is gone."""
    raw = ledger.records([record_id]).get(record_id)
    if raw is None:
        return None
    said: list[dict[str, str]] = json.loads(raw.content)
    turn_ids = turn_ids_of(raw)
    turns = ledger.records(turn_ids)
    messages: list[str] = []
    for one in said:
        turn = turns.get(one["memory_id"])
        # somebody may have put right what was said before a model gets to read it
        content = one["content"] if turn is None else turn.content
        if one["role"] in _OF_TOOLS:
            content = content[:_SHOWN]
        messages.append(f"{one['name'] or one['role']}: {content}")
    return Exchange(raw, tuple(messages), turn_ids, turns)


def turn_ids_of(raw: MemoryRecord) -> tuple[str, ...]:
    """Return the memories that stand for the messages of a raw exchange, in order."""
    said: list[dict[str, str]] = json.loads(raw.content)
    return tuple(one["memory_id"] for one in said)
