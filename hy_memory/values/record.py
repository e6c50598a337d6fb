"""One stored memory, as the ledger holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from hy_memory.values.frozen import frozen
from hy_memory.values.lane import RESERVED, lane_of

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Layer(StrEnum):
    """The kinds of memory the contract names."""

    L0_BASIC_INFO = "l0_basic_info"
    L1_RAW = "l1_raw"
    L2_FACT = "l2_fact"
    L3_SUMMARY = "l3_summary"
    L4_IDENTITY = "l4_identity"
    L5_KNOWLEDGE = "l5_knowledge"
    L6_SCHEMA = "l6_schema"
    L7_INTENTION = "l7_intention"


_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})

NORMAL_LAYERS = (Layer.L2_FACT, Layer.L3_SUMMARY, Layer.L4_IDENTITY, Layer.L5_KNOWLEDGE)
"""Layers that compete in the `normal` bucket; an intention joins them once it has expired."""

UNSEARCHED_LAYERS = (Layer.L0_BASIC_INFO, Layer.L1_RAW)
"""Layers that are never recalled: the profile has its own verb, raw turns are evidence."""


class Status(StrEnum):
    """What a record is now."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """What a record's text says of its user: a profile field's value, and whether it was said to be over."""

    field: str
    value: str
    is_past: bool = False


@frozen
class MemoryRecord:
    """One memory. Times are UTC epoch seconds; `attributes` is the caller's own metadata.

    `context` holds words for the keyword index alone (date, caption): they never enter the
    embedded text nor `content`. `evidence_ids` are the records this one was derived from.
    `version` counts from 1 and grows with each update. `claims` are of the text it has now. A section of a
    long text names in `part_of` the record that holds all of it; `position` counts sections from 0.
    """

    id: str
    user_id: str
    content: str
    agent_id: str = "default_agent"
    session_id: str = "default_session"
    source: str = "default"
    layer: Layer = Layer.L2_FACT
    owner: str = ""
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    context: str = ""
    memory_at: float | None = None
    created_at: float = 0.0
    updated_at: float = 0.0
    expires_at: float | None = None
    status: Status = Status.ACTIVE
    supersedes: str | None = None
    superseded_by: str | None = None
    evidence_ids: tuple[str, ...] = ()
    version: int = 1
    claims: tuple[RecordClaim, ...] = ()
    part_of: str | None = None
    position: int | None = None

    @property
    def event_at(self) -> float:
        """When it happened: `memory_at` where the caller said so, else the time of writing."""
        return self.created_at if self.memory_at is None else self.memory_at


def indexed_text(record: MemoryRecord) -> str:
    """Return what models read: the content, after `name: ` where a person's name is known (not a role)."""
    speaker = speaker_of(record)
    return f"{speaker}: {record.content}" if speaker else record.content


def speaker_of(record: MemoryRecord) -> str:
    """Return the speaker's name, "" where the owner is only a role."""
    return "" if is_role(record.owner) else record.owner


def is_reserved(record: MemoryRecord, key: str) -> bool:
    """Return whether an attribute is ours and not the caller's: in a lane there are some."""
    return key.startswith(RESERVED) and lane_of(record.user_id) is not None


def is_role(owner: str) -> bool:
    """Return whether an owner is a role of a chat ("user", "assistant", …) and no name."""
    return owner.lower() in _ROLES


@dataclass(frozen=True, slots=True)
class RecordVersion:
    """A text that a record used to have, and from when until when (epoch seconds) it did.

    What follows `replaced_at` the record had with it; `tags`, `attributes` and `context` are None in a
    version stored before these were kept, and nothing is known of its expiry then.
    """

    memory_id: str
    version: int
    content: str
    memory_at: float | None
    recorded_at: float
    replaced_at: float
    tags: tuple[str, ...] | None = None
    attributes: Mapping[str, Json] | None = None
    context: str | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """What one record claims, and when that happened (epoch seconds)."""

    memory_id: str
    event_at: float
    claims: tuple[RecordClaim, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A slice of a user's records in a stable order, with how many there are in all."""

    records: tuple[MemoryRecord, ...]
    total: int
