"""What one transaction of the ledger is told, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hy_memory.values.code import CodeEdit
from hy_memory.values.point import FloatArray, TermVector
from hy_memory.values.record import Json, MemoryRecord


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near-duplicates of a text are found: its simhash (64 bits), among what shares its `frame`.

    `frame` is a digest of all that two memories could be told apart by, but their texts. `seen` are the ids
    of like records that were read and say something else.
    """

    frame: str
    bits: int
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with what makes it searchable; without `vector` and `terms` it is only kept (raw turns).

    `supersedes` is asked for when the entry is inserted: the id of a stored record whose place it takes.
    The ledger finds the newest member of that record's chain and links the two. `edits` are the changes of
    files that a raw turn of a coding session tells of; they are stored, and go, with it. `is_pending`: a
    language model is to read this raw exchange; it is queued in the same transaction. `repeat_key` is a
    digest by which the same words are recognised when they are said again, `likeness` tells by what they are
    when they are said nearly so.
    """

    record: MemoryRecord
    vector: FloatArray | None = None
    terms: TermVector | None = None
    supersedes: str | None = None
    edits: tuple[CodeEdit, ...] = ()
    is_pending: bool = False
    repeat_key: str | None = None
    likeness: Likeness | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A raw exchange that a language model has not read yet: `attempts` failed, the last with `error`.

    The next one is due at `due_at` (epoch seconds).
    """

    record_id: str
    user_id: str
    attempts: int
    error: str
    due_at: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a write with a `request_id` led to. `content_hash` is of everything the caller passed."""

    user_id: str
    request_id: str
    content_hash: str
    memory_ids: tuple[str, ...]
    recorded_at: float
    answer: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Settlement:
    """What reading a raw exchange that waited led to; `version` is the one of it that was read.

    `entries` are new, `changed` get a next version. Of `linked` only links and attributes are others: no
    version keeps what these were. Of `retired` no text is kept but the one given. The records of all three
    have the version they were read at.
    """

    record_id: str
    version: int
    outcome: Outcome | None = None
    entries: tuple[Entry, ...] = ()
    changed: tuple[Entry, ...] = ()
    linked: tuple[Entry, ...] = ()
    retired: tuple[Entry, ...] = ()


class ChangeKind(StrEnum):
    """What happened to a record."""

    ADD = "add"
    UPDATE = "update"
    REEMBED = "reembed"
    SUPERSEDE = "supersede"
    """Another record took its place."""
    RESTORE = "restore"
    """It is current again: the one that had superseded it was deleted."""
    DELETE = "delete"
    CLOSE = "close"
    """It ended its episode: nothing of the record itself changed, and histories leave it out."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the change log. `content` is the text it then had, where the ledger still holds it."""

    seq: int
    user_id: str
    memory_id: str
    kind: ChangeKind
    version: int
    at: float
    content: str | None = None


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Who made a ledger's vectors. Two embedders with equal identities make interchangeable vectors."""

    name: str
    dims: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A page of one user's records: those that `where` admits, newest first unless `ascending`."""

    limit: int
    offset: int
    ascending: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What a write led to. `searchable` is False while a projection is down: it catches up later.

    `deduplicated` are those of `memory_ids` that were there before.
    """

    memory_ids: tuple[str, ...]
    request_id: str
    searchable: bool
    deduplicated: tuple[str, ...] = ()
