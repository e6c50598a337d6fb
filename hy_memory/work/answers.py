"""The shapes of what a search of working or coding memory answers (contract §6)."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict

from hy_memory.answers import (
    Count,
    DegradedPart,
    LLMUsage,
    Memories,
    Milliseconds,
    Rewrite,
    Score,
    Trace,
)


class FactDetail(TypedDict):
    """Where a text stands word for word: message `at` of the raw turn `memory_id`; `text` is how it begins.

    `kind` is "command", "edit" or "error".
    """

    memory_id: str
    at: Count
    kind: str
    text: str


class FactItem(TypedDict):
    """What a session did. `fact_chain_summary` tells how it came to this, "" where it is the first."""

    fact_id: str
    statement: str
    subject: str
    files: list[str]
    details: list[FactDetail]
    fact_chain_summary: str
    workspace_id: str | None
    branch: str | None
    derived_experience_ids: list[str]
    created_at: float
    score: Score
    source: str


class ExperienceItem(TypedDict):
    """What was learned. `via` is "query", or "fact" where a fact that was found gave rise to it.

    `matched_key` is the search key that the question's words are in, "" where there is none.
    """

    experience_id: str
    task: str
    search_keys: list[str]
    solution: str
    boundary_envs: list[str]
    confidence: Score
    workspace_id: str | None
    branch: str | None
    files: list[str]
    source_fact_ids: list[str]
    via: str
    matched_key: str
    score: Score
    updated_at: float
    source: str


class _AnyWork(TypedDict):
    request_id: str
    scene: str
    facts: list[FactItem]
    experiences: list[ExperienceItem]
    elapsed_ms: Milliseconds
    usage: NotRequired[LLMUsage]


class SucceededWork(_AnyWork):
    """What a lane holds on a question; `degraded` names the optional parts that failed."""

    rewrite: Rewrite
    degraded: NotRequired[list[DegradedPart]]
    trace: NotRequired[Trace]


class SucceededCoding(SucceededWork):
    """The same of coding memory: `chain_block` is the code's history, "" where it is off.

    `chain_used` are the places in `facts` that the block already shows.
    """

    chain_block: str
    chain_used: list[int]


class FailedWork(_AnyWork):
    """The reader failed: nothing was found out, no `rewrite`, and why."""

    degraded: list[DegradedPart]


class FailedCoding(FailedWork):
    """The same of coding memory."""

    chain_block: str
    chain_used: list[int]


WorkAnswer: TypeAlias = SucceededWork | SucceededCoding | FailedWork | FailedCoding
"""The answer of `search` with the scene `working` or `coding`."""


class LaneError(TypedDict):
    """A scene that could not be searched while the others could."""

    scene: str
    error: str
    retryable: bool


class EverywhereAnswer(TypedDict):
    """The answer of `search` with the scene `all`: chat memory's buckets, and the facts and experiences.

    Facts and experiences are those of both lanes, best first, each lane with its fair share of `limit`.
    """

    request_id: str
    scene: str
    memories: Memories
    facts: list[FactItem]
    experiences: list[ExperienceItem]
    rewrite: NotRequired[Rewrite]
    errors: list[LaneError]
    degraded: NotRequired[list[DegradedPart]]
    chain_block: str
    chain_used: list[int]
    elapsed_ms: Milliseconds
