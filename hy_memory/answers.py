"""The shapes of what the verbs answer (contract §2 and §8): every key, its type, and when it is there."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from hy_memory.values.record import Json


class ChainEntry(TypedDict):
    """One text that a memory has or had; `gmt_created` is when that text was recorded."""

    memory_id: str
    content: str
    memory_at: float | None
    gmt_created: float
    layer: str


class Item(TypedDict):
    """A memory as callers see it; times are UTC epoch seconds."""

    memory_id: str
    content: str
    layer: str
    user_id: str
    agent_id: str
    session_id: str
    source: str
    owner: str
    tags: list[str]
    memory_at: float | None
    gmt_created: float
    meta: dict[str, Json]


class FoldedItem(TypedDict):
    """A memory that says the same as the one it is listed under."""

    memory_id: str
    content: str
    source: str
    memory_at: float | None
    gmt_created: float


class FoundItem(Item):
    """A memory that a search found, with its score in [0, 1] and the leg that found it."""

    score: float
    retrieval_source: str
    rerank_score: NotRequired[float]
    evolution_chain: NotRequired[list[ChainEntry]]
    folded: NotRequired[list[FoldedItem]]
    evidence: NotRequired[list[dict[str, object]]]


class StoredItem(Item):
    """A memory as the store holds it; `versions`, newest first, where they were asked for."""

    gmt_modified: float
    expires_at: float | None
    status: str
    version: int
    supersedes: str | None
    superseded_by: str | None
    evidence_ids: list[str]
    versions: NotRequired[list[dict[str, object]]]


class DegradedPart(TypedDict):
    """A part that failed while the rest answered."""

    part: str
    error: str
    retryable: bool


class Memories(TypedDict):
    """The three buckets of an answer."""

    normal: list[FoundItem]
    schema: list[FoundItem]
    proactive: list[FoundItem]


class Rewrite(TypedDict):
    """What became of the question before it was searched for."""

    used: bool
    original_query: str
    effective_query: str
    created_after: float | None
    scene: str


class SearchAnswer(TypedDict):
    """The answer of `search`; `rewrite` is absent where the reader failed, `degraded` where nothing did."""

    request_id: str
    memories: Memories
    elapsed_ms: float
    rewrite: NotRequired[Rewrite]
    degraded: NotRequired[list[DegradedPart]]
    trace: NotRequired[dict[str, object]]


class WriteAnswer(TypedDict):
    """The answer of `add`: `memory_id` is the first of `memory_ids`."""

    success: bool
    scene: str
    memory_id: str
    memory_ids: list[str]
    deduplicated: list[str]
    searchable: bool
    request_id: str
    elapsed_ms: float


class DeleteAnswer(TypedDict):
    """How many memories a delete removed."""

    success: bool
    deleted_count: int


class CloneAnswer(TypedDict):
    """How many records a clone copied."""

    success: bool
    copied_count: int


class Event(TypedDict):
    """One change of a memory; `content` is None where the text is gone."""

    memory_id: str
    user_id: str
    event: str
    version: int
    at: float
    content: str | None


class Outcome(TypedDict):
    """What became of a write."""

    request_id: str
    user_id: str
    status: str
    memory_ids: list[str]
    recorded_at: float


class ProfilePeriod(TypedDict):
    """A value that a field had: when it was first and last said, and in which memories.

    `is_past` where it was said to be over; a value that another one followed need not be.
    """

    value: str
    first_at: float
    last_at: float
    memory_ids: list[str]
    is_past: bool


class ProfileField(TypedDict):
    """What holds now, since when and when it was last said, and all that ever held, oldest first.

    `value`, `since` and `updated_at` are None where everything known is over.
    """

    value: str | None
    memory_ids: list[str]
    since: float | None
    updated_at: float | None
    history: list[ProfilePeriod]


class ProfileAnswer(TypedDict):
    """What a user's memories say of them, by field; a field nothing is known of is absent."""

    user_id: str
    basic_info: dict[str, ProfileField]
