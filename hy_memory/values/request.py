"""A search as a value: everything that can be decided without I/O is decided when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hy_memory.filters.scope import ScopedFilter
from hy_memory.values.point import FloatArray


class Explain(StrEnum):
    """How much an answer tells about itself."""

    NO = "no"
    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to one reader.

    `where` admits what may be recalled into the `normal` bucket; `top_k` 0 switches that bucket
    off. `query_embedding` is (dims,) float32 of unit length, or None to embed `query`.
    """

    request_id: str
    query: str
    where: ScopedFilter
    top_k: int
    min_score: float
    created_after: float | None = None
    query_embedding: FloatArray | None = None
    explain: Explain = Explain.NO
