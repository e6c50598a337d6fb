"""What one point looks like inside Qdrant, embedded or on a server: names, indexes, ids and payload.

Caller metadata has any keys and values, Qdrant's payload paths do not: each value becomes one
opaque *token* in a single keyword index, and each number additionally an object
`{"k": key, "v": value}` in one array, the shape that range filters can use with a fixed number
of indexes whatever keys callers invent.
"""

from __future__ import annotations

import math
import re
import sys
import uuid
from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b

from hy_memory.filters.tree import Scalar
from hy_memory.values.point import Payload, Point
from hy_memory.values.record import Json
from hy_memory.vectors.qdrant.plain import is_plain

DENSE = "dense"
"""Name of the vector that holds the embedding."""
TERMS = "terms"
"""Name of the sparse vector that holds the keyword weights."""
MEMORY_ID = "memory_id"
"""Payload field with the memory's own id, where that is not the point's id."""
TOKENS = "tokens"
"""Payload field with the exact-match tokens of caller metadata."""
NUMBERS = "numbers"
"""Payload field with the numbers of caller metadata, as objects of `NUMBER_KEY` and `NUMBER_VALUE`."""
PLAIN = "plain"
"""Payload field with the user of a plain point (see `plain.py`); every other point has it in `SPECIAL`."""
SPECIAL = "special"
NUMBER_KEY = "k"
NUMBER_VALUE = "v"

# Any fixed value will do; this one was drawn once, so that our ids collide with nobody else's.
_NAMESPACE = uuid.UUID("5c1fe5a4-4f0e-4c9e-9b1c-6f3f7f0b2a61")
_VERSION_AT = 14  # where a UUID's text shows its version
_MAPPED_VERSION = "5"
_OWN_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LARGEST = sys.float_info.max


class FieldType(StrEnum):
    """How a payload field is indexed."""

    TENANT = "tenant"
    KEYWORD = "keyword"
    FLOAT = "float"


INDEXES: Mapping[str, FieldType] = {
    "user_id": FieldType.TENANT,
    PLAIN: FieldType.KEYWORD,
    SPECIAL: FieldType.KEYWORD,
    "agent_id": FieldType.KEYWORD,
    "session_id": FieldType.KEYWORD,
    "source": FieldType.KEYWORD,
    "layer": FieldType.KEYWORD,
    "status": FieldType.KEYWORD,
    "tags": FieldType.KEYWORD,
    TOKENS: FieldType.KEYWORD,
    "event_at": FieldType.FLOAT,
    "created_at": FieldType.FLOAT,
    "expires_at": FieldType.FLOAT,
    f"{NUMBERS}[].{NUMBER_KEY}": FieldType.KEYWORD,
    f"{NUMBERS}[].{NUMBER_VALUE}": FieldType.FLOAT,
}
"""Payload indexes, made with the store: a filter on a field without one costs 75 times as much."""


def is_number_part(field: str) -> bool:
    """Return whether the indexed `field` lives inside the objects of `NUMBERS`."""
    return field.startswith(f"{NUMBERS}[].")


def point_id(memory_id: str) -> str:
    """Return the id of a memory's point, a UUID in text form.

    A memory id that is a UUID in its usual spelling is used as it is; any other text, and a UUID of
    version 5 (so that the version tells the two apart), is hashed to a UUID of version 5.
    """
    if memory_id[_VERSION_AT : _VERSION_AT + 1] != _MAPPED_VERSION and _OWN_ID.fullmatch(memory_id):
        return memory_id
    return str(uuid.uuid5(_NAMESPACE, memory_id))


def is_mapped(found: str) -> bool:
    """Return whether the point id `found` stands for another memory id, which the payload then holds."""
    return found[_VERSION_AT] == _MAPPED_VERSION


def to_payload(point: Point) -> dict[str, Json]:
    """Return the payload of `point` as Qdrant stores it."""
    payload = point.payload
    stored: dict[str, Json] = {
        "user_id": payload.user_id,
        "agent_id": payload.agent_id,
        "session_id": payload.session_id,
        "source": payload.source,
        "layer": str(payload.layer),
        "status": str(payload.status),
        "event_at": float(payload.event_at),
        "created_at": float(payload.created_at),
    }
    stored[PLAIN if is_plain(payload) else SPECIAL] = payload.user_id
    if payload.expires_at is not None:
        stored["expires_at"] = float(payload.expires_at)
    if payload.tags:
        stored["tags"] = list(payload.tags)
    if payload.attributes:
        stored.update(_attribute_fields(payload))
    if is_mapped(point_id(point.id)):
        stored[MEMORY_ID] = point.id
    return stored


def key_token(key: str) -> str:
    """Return the token that says a metadata key has a value."""
    return _digest(f"key:{key}")


def value_token(key: str, value: Scalar) -> str:
    """Return the token of one metadata value: equal for 1 and 1.0, different for 1, "1" and true."""
    return _digest(f"{len(key)}:{key}:{_canonical(value)}")


def to_float(value: float) -> float:
    """Return a number as range filters see it: a finite float. Exact for whole numbers up to 2^53."""
    try:
        return max(-_LARGEST, min(_LARGEST, float(value)))
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


def _attribute_fields(payload: Payload) -> dict[str, Json]:
    tokens: set[str] = set()
    numbers: list[Json] = []
    for key, value in payload.attributes.items():
        elements = value if isinstance(value, list | tuple) else (value,)
        found = [one for one in elements if isinstance(one, str | int | float | bool)]
        if not found:
            continue
        tokens.add(key_token(key))
        for one in found:
            if isinstance(one, float) and math.isnan(one):
                continue  # NaN is there, but it equals and orders with nothing
            tokens.add(value_token(key, one))
            if not isinstance(one, str | bool):
                numbers.append({NUMBER_KEY: key_token(key), NUMBER_VALUE: to_float(one)})
    fields: dict[str, Json] = {}
    if tokens:
        fields[TOKENS] = list[Json](tokens)
    if numbers:
        fields[NUMBERS] = numbers
    return fields


def _canonical(value: Scalar) -> str:
    if isinstance(value, bool):
        return f"bool:{value}"
    if isinstance(value, str):
        return f"text:{value}"
    if isinstance(value, float):
        if not value.is_integer():
            return f"number:{value!r}"
        value = int(value)
    return f"number:{value:x}"  # hexadecimal: Python refuses very long decimal spellings


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
