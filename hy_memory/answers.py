"""The shapes of what the verbs answer (contract §2 and §8): every key, its type, and when it is there.

docs/reference/schemas/ is drawn from them by docs/generate.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NotRequired, TypeAlias, TypedDict

from hy_memory.values.lane import Lane
from hy_memory.values.record import Json, Layer, Status
from hy_memory.values.use import Sector
from hy_memory.values.write import ChangeKind


@dataclass(frozen=True, slots=True)
class Within:
    """The bounds of an annotated number, both inclusive; None where there is none."""

    least: float
    most: float | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """The values that an annotated text can have."""

    values: tuple[str, ...]


Score: TypeAlias = Annotated[float, Within(0.0, 1.0)]
Milliseconds: TypeAlias = Annotated[float, Within(0.0)]
Count: TypeAlias = Annotated[int, Within(0)]
LayerName: TypeAlias = Annotated[str, OneOf(tuple(Layer))]
StatusName: TypeAlias = Annotated[str, OneOf(tuple(Status))]
SceneName: TypeAlias = Annotated[str, OneOf(("chat", *Lane))]
SectorName: TypeAlias = Annotated[str, OneOf(tuple(Sector))]
EventName: TypeAlias = Annotated[str, OneOf(tuple(ChangeKind))]


class ChainEntry(TypedDict):
    """One text that a memory, or one that it superseded, has or had; `gmt_created`: when it was recorded."""

    memory_id: str
    content: str
    memory_at: float | None
    gmt_created: float
    layer: LayerName


class Item(TypedDict):
    """A memory as callers see it; times are UTC epoch seconds."""

    memory_id: str
    content: str
    layer: LayerName
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


class Neighbour(TypedDict):
    """A memory that stands next to a hit in its episode."""

    memory_id: str
    content: str
    layer: str
    source: str
    owner: str
    memory_at: float | None
    gmt_created: float


class Moment(TypedDict):
    """A memory of an episode and when it happened: its `memory_at`, else when it was stored."""

    memory_id: str
    memory_at: float


class Evidence(TypedDict):
    """What one leg said of an item: its rank from 1 (None: beyond what it listed) and its own score."""

    leg: str
    rank: int | None
    score: float


class FoundItem(Item):
    """A memory that a search found, with its score in [0, 1] and the leg that found it.

    `superseded_elsewhere`: there is a newer one, in a source that the caller's source filter leaves out.
    A section of a long text names the memory that holds all of it in `part_of`, and its `position` there.
    `episode_id`, `capsule_memories` and `timeline` are there together, where its episode holds more.
    """

    score: Score
    retrieval_source: str
    rerank_score: NotRequired[Score]
    part_of: NotRequired[str]
    position: NotRequired[Count]
    evolution_chain: NotRequired[list[ChainEntry]]
    superseded_elsewhere: NotRequired[bool]
    folded: NotRequired[list[FoldedItem]]
    episode_id: NotRequired[str]
    capsule_memories: NotRequired[list[Neighbour]]
    timeline: NotRequired[list[Moment]]
    evidence: NotRequired[list[Evidence]]


class StoredVersion(TypedDict):
    """A text that a memory used to have, from `recorded_at` to `replaced_at`."""

    memory_id: str
    version: Count
    content: str
    memory_at: float | None
    recorded_at: float
    replaced_at: float


class StoredItem(Item):
    """A memory as the store holds it; `versions`, newest first, where they were asked for."""

    scene: SceneName
    gmt_modified: float
    expires_at: float | None
    status: StatusName
    version: Count
    supersedes: str | None
    superseded_by: str | None
    evidence_ids: list[str]
    part_of: NotRequired[str]
    position: NotRequired[Count]
    versions: NotRequired[list[StoredVersion]]


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
    """What became of the question before it was searched for; `created_before` where it limits the time."""

    used: bool
    original_query: str
    effective_query: str
    created_after: float | None
    created_before: NotRequired[float]
    scene: str


class LLMUsage(TypedDict):
    """Requests to the language model, and the tokens it counted (0 where it does not say)."""

    calls: Count
    prompt_tokens: Count
    completion_tokens: Count


StageTrace = TypedDict("StageTrace", {"stage": str, "ms": Milliseconds, "in": Count, "out": Count})
"""What one stage took and how many candidates went in and out; `in` is no name to Python."""


class DroppedItem(TypedDict):
    """A memory that was recalled and then cut, with the reason."""

    memory_id: str
    score: Score
    reason: str


class TimeWindow(TypedDict):
    """A time that the question speaks of: the words, and [start, end) in UTC epoch seconds."""

    words: str
    start: float
    end: float


class Trace(TypedDict):
    """How an answer was made (`explain`), and what it leaves out (`explain="dropped"`)."""

    stages: list[StageTrace]
    times: NotRequired[list[TimeWindow]]
    dropped: NotRequired[list[DroppedItem]]


class _AnySearch(TypedDict):
    request_id: str
    memories: Memories
    elapsed_ms: Milliseconds
    usage: NotRequired[LLMUsage]


class SucceededSearch(_AnySearch):
    """What was found; `degraded` names the optional parts that failed, and is absent where none did."""

    rewrite: Rewrite
    degraded: NotRequired[list[DegradedPart]]
    trace: NotRequired[Trace]


class FailedSearch(_AnySearch):
    """The reader failed: three empty buckets, no `rewrite`, and why."""

    degraded: list[DegradedPart]


SearchAnswer: TypeAlias = SucceededSearch | FailedSearch
"""The answer of `search`."""


class FinalizeAnswer(TypedDict):
    """What closing a session led to: its last episode and when that was closed (epoch seconds).

    `episodes` is how many the session has. A session without memories has no episode and was not closed.
    """

    success: bool
    user_id: str
    agent_id: str
    session_id: str
    episode_id: str | None
    memory_ids: list[str]
    episodes: Count
    finalized_at: float | None


class WriteAnswer(TypedDict):
    """The answer of `add`: `memory_id` is the first of `memory_ids`.

    `usage` and `degraded` where a language model was asked, or should have been and failed.
    """

    success: bool
    scene: str
    memory_id: str
    memory_ids: list[str]
    deduplicated: list[str]
    searchable: bool
    request_id: str
    elapsed_ms: Milliseconds
    usage: NotRequired[LLMUsage]
    degraded: NotRequired[list[DegradedPart]]


class ExtractAnswer(TypedDict):
    """What reading what waited led to: how many exchanges were read, and how many wait still.

    `degraded` says what failed; `success` is False then.
    """

    success: bool
    read_count: Count
    waiting_count: Count
    usage: NotRequired[LLMUsage]
    degraded: NotRequired[list[DegradedPart]]


class DeleteAnswer(TypedDict):
    """How many memories a delete removed."""

    success: bool
    deleted_count: Count


class UseAnswer(TypedDict):
    """How a memory was used: its sector, its salience now and at first, and when it was last of use."""

    memory_id: str
    sector: SectorName
    salience: Score
    began_at: Score
    pinned: bool
    uses: Count
    restated: Count
    last_used_at: float | None


class ReinforceAnswer(TypedDict):
    """How many memories gained salience."""

    success: bool
    reinforced_count: Count


class DrainAnswer(TypedDict):
    """Of how many memories something was learned."""

    success: bool
    learned_count: Count


class CloneAnswer(TypedDict):
    """How many records a clone copied."""

    success: bool
    copied_count: Count


class Event(TypedDict):
    """One change of a memory; `content` is None where the text is gone."""

    memory_id: str
    user_id: str
    event: EventName
    version: Count
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
