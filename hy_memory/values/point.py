"""What a projection keeps of a record: an id, a vector, keyword terms and filterable fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hy_memory.values.frozen import frozen
from hy_memory.values.record import Json, Layer, MemoryRecord, Status

FloatArray = npt.NDArray[np.float32]
IdArray = npt.NDArray[np.uint32]


@frozen
class TermVector:
    """A text's keyword terms: `ids` (n,) sorted and unique, `weights` (n,) in (0, 1]."""

    ids: IdArray
    weights: FloatArray


@frozen
class Payload:
    """The filterable fields of a record; times are UTC epoch seconds."""

    user_id: str
    agent_id: str
    session_id: str
    source: str
    layer: Layer
    event_at: float
    created_at: float
    tags: tuple[str, ...] = ()
    expires_at: float | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    status: Status = Status.ACTIVE


@frozen
class Point:
    """A searchable record as a projection sees it; `vector` is (dims,) float32 of unit length."""

    id: str
    vector: FloatArray
    terms: TermVector
    payload: Payload


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of one user's points after some `seq`: the new ones and the gone ones."""

    seq: int
    upserted: tuple[Point, ...]
    removed: tuple[str, ...]


def payload_of(record: MemoryRecord) -> Payload:
    """Return the filterable fields of `record`."""
    return Payload(
        user_id=record.user_id,
        agent_id=record.agent_id,
        session_id=record.session_id,
        source=record.source,
        layer=record.layer,
        event_at=record.event_at,
        created_at=record.created_at,
        tags=record.tags,
        expires_at=record.expires_at,
        attributes=record.attributes,
        status=record.status,
    )
