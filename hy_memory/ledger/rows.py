"""Values to rows and back, bit for bit: times as doubles, vectors as little-endian blobs, JSON as text."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np

from hy_memory.errors import LedgerError
from hy_memory.ledger.schema import records, vectors
from hy_memory.values.point import FloatArray, Payload, Point, TermVector
from hy_memory.values.record import Claimed, Json, Layer, MemoryRecord, RecordClaim, RecordVersion, Status
from hy_memory.values.write import Change, ChangeKind, Entry, Outcome

Row: TypeAlias = Sequence[Any]
"""A row as a driver answers it."""

RECORD_COLUMNS = tuple(records.c[field.name] for field in fields(MemoryRecord))
"""What `to_record` reads: the record's own fields, in their order."""
_PAYLOAD_NAMES = (
    "id user_id agent_id session_id source layer memory_at created_at tags expires_at attributes status"
)
PAYLOAD_COLUMNS = tuple(records.c[name] for name in _PAYLOAD_NAMES.split())
"""What `to_payload` reads, the id first."""
POINT_COLUMNS = (*PAYLOAD_COLUMNS, vectors.c.vector, vectors.c.term_ids, vectors.c.term_weights)
"""What `to_point` reads."""

_FLOATS = np.dtype("<f4")
_IDS = np.dtype("<u4")
_LAYERS = {layer.value: layer for layer in Layer}  # a third of the cost of calling the enum
_STATUSES = {status.value: status for status in Status}
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode  # ASCII: lone surrogates and NUL survive
_DECODE = json.JSONDecoder().raw_decode  # our own encoding has no spaces to skip: half the cost of loads
_frombuffer = np.frombuffer
_MANY = 1000  # points from which on a pause of the collector is worth two calls


def to_json(value: object) -> str:
    """Return `value` as ASCII JSON; raises LedgerError for what is no JSON."""
    try:
        return _ENCODE(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerError(f"a value cannot be stored as JSON: {error}") from error


def _texts(value: str) -> tuple[str, ...]:
    return () if value == "[]" else tuple(_DECODE(value)[0])


def to_mapping(value: str) -> dict[str, Json]:
    """Return a stored JSON object."""
    return {} if value == "{}" else _DECODE(value)[0]


def _claims(value: str | None) -> tuple[RecordClaim, ...]:
    return () if value is None else tuple(RecordClaim(*one) for one in _DECODE(value)[0])


def record_row(record: MemoryRecord, version: int, request_id: str | None) -> tuple[object, ...]:
    """Return the values of `records`, in the order of its columns."""
    if "\0" in record.id or "\0" in record.user_id:
        raise LedgerError("ids cannot hold NUL characters: engines cut them short or refuse them")
    return (
        record.id,
        record.user_id,
        record.content,
        record.agent_id,
        record.session_id,
        record.source,
        record.layer.value,
        record.owner,
        to_json(record.tags) if record.tags else "[]",
        to_json(dict(record.attributes)) if record.attributes else "{}",
        record.context,
        record.memory_at,
        record.created_at,
        record.updated_at,
        record.expires_at,
        record.status.value,
        record.supersedes,
        record.superseded_by,
        to_json(record.evidence_ids) if record.evidence_ids else "[]",
        version,
        request_id,
        to_json([[one.field, one.value, one.is_past] for one in record.claims]) if record.claims else None,
        record.part_of,
        record.position,
    )


def to_record(row: Row) -> MemoryRecord:
    """Return the record of a row of `RECORD_COLUMNS`."""
    return MemoryRecord(
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        _LAYERS[row[6]],
        row[7],
        _texts(row[8]),
        to_mapping(row[9]),
        row[10],
        row[11],
        row[12],
        row[13],
        row[14],
        _STATUSES[row[15]],
        row[16],
        row[17],
        _texts(row[18]),
        row[19],
        _claims(row[20]),
        row[21],
        row[22],
    )


def to_payload(row: Row) -> Payload:
    """Return the payload of a row that begins with `PAYLOAD_COLUMNS`."""
    created_at, memory_at = row[7], row[6]
    return Payload(
        row[1],
        row[2],
        row[3],
        row[4],
        _LAYERS[row[5]],
        created_at if memory_at is None else memory_at,
        created_at,
        _texts(row[8]),
        row[9],
        to_mapping(row[10]),
        _STATUSES[row[11]],
    )


def vector_row(entry: Entry) -> tuple[object, ...] | None:
    """Return the values of `vectors`, in the order of its columns; None for an entry that is only kept."""
    if entry.vector is None:
        return None
    terms = entry.terms
    return (
        entry.record.id,
        entry.record.user_id,
        vector_bytes(entry.vector),
        b"" if terms is None else np.asarray(terms.ids, _IDS).tobytes(),
        b"" if terms is None else np.asarray(terms.weights, _FLOATS).tobytes(),
    )


def vector_bytes(vector: object) -> bytes:
    """Return a vector (dims,) as it is stored."""
    return np.asarray(vector, _FLOATS).tobytes()


def to_point(row: Row) -> Point:
    """Return the point of a row of `POINT_COLUMNS`; its arrays are read-only views of the row's bytes."""
    terms = TermVector(_frombuffer(row[13], _IDS), _frombuffer(row[14], _FLOATS))
    return Point(row[0], _frombuffer(row[12], _FLOATS), terms, to_payload(row))


def to_vector(blob: bytes) -> FloatArray:
    """Return a stored vector (dims,), a read-only view of its bytes."""
    return _frombuffer(blob, _FLOATS)


def to_terms(ids: bytes, weights: bytes) -> TermVector:
    """Return stored terms, read-only views of their bytes."""
    return TermVector(_frombuffer(ids, _IDS), _frombuffer(weights, _FLOATS))


def to_points(rows: Sequence[Row]) -> tuple[Point, ...]:
    """Return the points of rows of `POINT_COLUMNS`.

    A large user's points are half a million new objects, none of them garbage; letting the collector look
    for some among them again and again would take as long as everything else.
    """
    pause = len(rows) > _MANY and gc.isenabled()
    if pause:
        gc.disable()
    try:
        return tuple([to_point(row) for row in rows])
    finally:
        if pause:
            gc.enable()


def to_version(row: Row) -> RecordVersion:
    """Return the version of a row of `versions`."""
    text = RecordVersion(row[0], row[1], row[2], row[3], row[4], row[5])
    if row[6] is None:
        return text
    return replace(
        text, tags=_texts(row[6]), attributes=to_mapping(row[7]), context=row[8], expires_at=row[9]
    )


def to_claimed(row: Row) -> Claimed:
    """Return the claims of a row (id, event time, claims)."""
    return Claimed(row[0], row[1], _claims(row[2]))


def to_change(row: Row) -> Change:
    """Return the change of a row (seq, user, record, kind, version, at[, content])."""
    return Change(row[0], row[1], row[2], ChangeKind(row[3]), row[4], row[5], *row[6:])


def outcome_row(outcome: Outcome) -> tuple[object, ...]:
    """Return the values of `outcomes`, in the order of its columns."""
    return (
        outcome.user_id,
        outcome.request_id,
        outcome.content_hash,
        to_json(outcome.memory_ids),
        outcome.recorded_at,
        to_json(dict(outcome.answer)),
    )


def to_outcome(row: Row) -> Outcome:
    """Return the outcome of a row of `outcomes`."""
    return Outcome(row[0], row[1], row[2], _texts(row[3]), row[4], to_mapping(row[5]))


_QUOTE = 16  # a shorter text may well be part of an id or a scene's name


def redacted_answer(row: Row, texts: Sequence[str]) -> str | None:
    """Return the answer of a row of `outcomes` without `texts`, None when it holds none of them."""
    answer: Json = to_mapping(row[5])
    redacted = _without(answer, texts)
    return None if redacted == answer else to_json(redacted)


def _without(value: Json, texts: Sequence[str]) -> Json:
    """`value` with every string that is, or quotes, one of `texts` emptied."""
    if isinstance(value, str):
        quoted = any(value == text or (len(text) >= _QUOTE and text in value) for text in texts)
        return "" if quoted else value
    if isinstance(value, list):
        return [_without(part, texts) for part in value]
    if isinstance(value, dict):
        return {key: _without(part, texts) for key, part in value.items()}
    return value
