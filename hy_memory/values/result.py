"""What a reader answers, before it becomes the contract's dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hy_memory.temporal.window import Window
from hy_memory.values.frozen import frozen
from hy_memory.values.record import Layer, MemoryRecord
from hy_memory.values.turn import Turn


@dataclass(frozen=True, slots=True)
class LegEvidence:
    """What one leg said about a hit: its rank from 1 (None: beyond what it listed) and its own score."""

    leg: str
    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class ChainText:
    """A text that was current until another took its place; `recorded_at` in epoch seconds."""

    memory_id: str
    content: str
    memory_at: float | None
    recorded_at: float
    layer: Layer


@frozen
class Hit:
    """A record found, its score in [0, 1], the leg that found it, and why.

    `rerank_score` is None unless it was reranked; `chain` are the texts it used to have and those of
    the records it superseded, newest first; `folded` are further hits that say the same.
    """

    record: MemoryRecord
    score: float
    retrieval_source: str
    evidence: tuple[LegEvidence, ...] = ()
    rerank_score: float | None = None
    chain: tuple[ChainText, ...] = ()
    folded: tuple[MemoryRecord, ...] = ()


@frozen
class Episode:
    """The company of a hit: its episode's id, the memories next to it, and the turns around it in order."""

    id: str
    neighbours: Sequence[MemoryRecord | Turn]
    timeline: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something recalled and then cut, with the reason."""

    memory_id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class StageTrace:
    """What one stage took (milliseconds) and how many candidates went in and out."""

    stage: str
    milliseconds: float
    candidates_in: int
    candidates_out: int


@dataclass(frozen=True, slots=True)
class Degradation:
    """A part that failed while the rest answered. `error` names kind and cause, never memory text."""

    part: str
    error: str
    retryable: bool


@frozen
class SearchResult:
    """A reader's whole answer; `errors` are those behind `degraded`, in the same order.

    `episodes` are of `hits`, by memory id; most hits of a search may have none. `windows` are the times
    that the question speaks of.
    """

    hits: tuple[Hit, ...] = ()
    episodes: Mapping[str, Episode] = field(default_factory=dict[str, Episode])
    schemas: tuple[Hit, ...] = ()
    intentions: tuple[Hit, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    errors: tuple[Exception, ...] = ()
    trace: tuple[StageTrace, ...] = ()
    windows: tuple[Window, ...] = ()
    dropped: tuple[Dropped, ...] = field(default=())
