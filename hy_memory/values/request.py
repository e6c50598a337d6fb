"""A search as a value: everything that can be decided without I/O is decided when it is made."""

from __future__ import annotations

from enum import StrEnum

from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import EVERYTHING, Filter
from hy_memory.values.frozen import frozen
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Layer


class Explain(StrEnum):
    """How much an answer tells about itself."""

    NO = "no"
    KEPT = "kept"
    DROPPED = "dropped"


@frozen
class BucketRequest:
    """One of the buckets beside `normal`: which layer it shows, what of it (None: it is off), how much.

    A negative `limit` is no cap.
    """

    layer: Layer
    where: ScopedFilter | None
    limit: int
    min_score: float


@frozen
class SearchRequest:
    """One question to one reader.

    `where` admits what may be recalled into the `normal` bucket; `top_k` 0 switches that bucket
    off. `pool` (at least `top_k`) is how many confirmed records are kept until the cut: more where
    `rerank` is to choose among them. `neighbours` is how many memories before and after a hit are
    shown with it. `query_embedding` is (dims,) float32 of unit length, or None to embed `query`.
    `asked_at` (epoch seconds) is the moment that "yesterday" is relative to; `as_of` the earlier moment
    that is asked about, None for now.
    `original_query` is what the caller asked, where a language model said it in full (`is_rewritten`).
    `sources` is the source filter, None where there is none: under it `where` admits superseded records
    too, and those are hits that no admitted newer one stands for. `scope` is all that the caller asked
    for, whatever the bucket.
    """

    request_id: str
    query: str
    where: ScopedFilter
    top_k: int
    pool: int
    min_score: float
    schemas: BucketRequest
    intentions: BucketRequest
    asked_at: float = 0.0
    created_after: float | None = None
    created_before: float | None = None
    original_query: str = ""
    is_rewritten: bool = False
    query_embedding: FloatArray | None = None
    rerank: bool = False
    neighbours: int = 0
    explain: Explain = Explain.NO
    as_of: float | None = None
    sources: Filter | None = None
    scope: Filter = EVERYTHING
