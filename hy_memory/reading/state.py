"""The value that passes through the stages of a search, and what the stages may reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from hy_memory.conversations.index import Conversations
from hy_memory.pipeline import Guarded
from hy_memory.ports import Embedder, KeywordIndex, Ranking, Reranker, ScoreArray, VectorIndex
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Layer, MemoryRecord, RecordVersion
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Dropped, Episode, Hit
from hy_memory.values.write import EmbedderIdentity


class Records(Protocol):
    """The truth as a search sees it: the ledger as it is, or as it was."""

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist, by id."""
        ...

    def versions(self, memory_id: str) -> tuple[RecordVersion, ...]:
        """Return the texts a record used to have, newest first."""
        ...

    def embedder(self) -> EmbedderIdentity | None:
        """Return who made the stored vectors."""
        ...

    def has_layer(self, user_ids: Sequence[str], layer: Layer) -> bool:
        """Return whether any of the users has a record of `layer`."""
        ...


@dataclass(frozen=True, slots=True)
class ReadPorts:
    """What the stages may reach.

    `keywords` is None where the backend has no keyword recall, `reranker` where local rerank is off,
    `conversations` where episodes are not to be had.
    """

    records: Records
    embedder: Embedder
    vectors: VectorIndex
    keywords: KeywordIndex | None
    reranker: Reranker | None = None
    conversations: Conversations | None = None


@dataclass(frozen=True, slots=True)
class Leg:
    """One source of candidates, already tied to the query and its scope.

    `search(k)` gives its k best, `score(ids)` its scores of given ids (NaN: not admitted), and
    `calibrate` brings both into [0, 1].
    """

    name: str
    search: Callable[[int], Ranking]
    score: Callable[[Sequence[str]], ScoreArray]
    calibrate: Callable[[ScoreArray], ScoreArray]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best of the scope, best first, none below the request's `min_score`.

    `scores` (n,) are fused; `by_leg` holds each leg's calibrated scores (n,), `rankings` what each
    leg listed. `complete` says that nothing else in the scope could reach `min_score`.
    """

    ids: tuple[str, ...] = ()
    scores: ScoreArray = field(default_factory=lambda: np.empty(0))
    by_leg: tuple[ScoreArray, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SearchState:
    """A search on its way. Stages return a changed copy; none changes what it was given.

    `vector` is the embedded query, `terms` how many distinct keywords it has.
    """

    request: SearchRequest
    vector: FloatArray | None = None
    terms: int = 0
    legs: tuple[Leg, ...] = ()
    candidates: Candidates = Candidates()
    hits: tuple[Hit, ...] | None = None
    episodes: Mapping[str, Episode] = field(default_factory=dict[str, Episode])
    schemas: tuple[Hit, ...] = ()
    intentions: tuple[Hit, ...] = ()
    failures: tuple[Guarded, ...] = ()
    dropped: tuple[Dropped, ...] = ()

    @property
    def size(self) -> int:
        """How many candidates there are now."""
        return len(self.candidates.ids) if self.hits is None else len(self.hits)


Stage: TypeAlias = Callable[[SearchState, ReadPorts], SearchState]
