"""The value that passes through the stages of a search, and what the stages may reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from hy_memory.conversations.index import HasConversations
from hy_memory.conversations.turns import UserTurns
from hy_memory.filters.scope import ScopedFilter
from hy_memory.pipeline import Guarded
from hy_memory.ports import Embedder, KeywordIndex, Ranking, Reranker, ScoreArray, VectorIndex
from hy_memory.ranking.weights import RankingWeights, UseWeights
from hy_memory.temporal.window import Window
from hy_memory.text.mentions import Mentions
from hy_memory.values.frozen import frozen
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Layer, MemoryRecord, RecordVersion
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Dropped, Episode, Hit
from hy_memory.values.use import Use
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


class EntityIndex(Protocol):
    """The entity leg. Scores are in [0, 1]: the share of a question's mentions that a memory holds.

    Each is weighed by how rare it is among the memories of the user who has it, whatever the filter.
    """

    def search(self, mentions: Mentions, where: ScopedFilter, top_k: int) -> Ranking:
        """Return the `top_k` best points with a score above 0 among those `where` admits, ties included."""
        ...

    def score(self, mentions: Mentions, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Return the score of each of `ids` (n,), 0 where it mentions nothing, NaN where not admitted."""
        ...


class HasUses(Protocol):
    """Whoever can tell how any user's memories were used."""

    def of(self, user_id: str) -> Mapping[str, Use]:
        """Return what is kept of a user's memories, by id; not to be changed."""
        ...


@dataclass(frozen=True, slots=True)
class ReadPorts:
    """What the stages may reach.

    `keywords` is None where the backend has no keyword recall, `reranker` where local rerank is off
    or has no model (`rerank_blend` is the share of its judgement in the order, `second_hop` the weight of
    what the best hits' other words say there),
    `conversations` where episodes are not to be had, `entities` where that channel is off. `timezone`
    (IANA) is the asker's. `folds_near`: hits that say nothing new are folded, not those of equal words
    alone. `uses` is None where memories do not learn from use.
    """

    records: Records
    embedder: Embedder
    vectors: VectorIndex
    keywords: KeywordIndex | None
    reranker: Reranker | None = None
    rerank_blend: float = 1.0
    second_hop: float = 0.0
    conversations: HasConversations | None = None
    entities: EntityIndex | None = None
    weights: RankingWeights = field(default_factory=RankingWeights)
    folds_near: bool = False
    timezone: str = "UTC"
    uses: HasUses | None = None
    use_weights: UseWeights = field(default_factory=UseWeights)


@frozen
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
class Support:
    """What speaks for a memory beside the legs: its neighbours, its time, what it names.

    `scores` (n,) are what the legs say of `ids`, NaN for a memory outside the scope. `raises` names the
    memories that `ids` may raise, `needs` those whose legs' scores it must know to judge `ids`.
    `evidence` is what it says for each of the first `count`, at least 0, on the scale -log(1 - score).
    `most(score)` is the most it says for a memory when neither that nor anything it needs scores above
    `score`.
    """

    name: str
    raises: Callable[[Sequence[str], ScoreArray], Sequence[str]]
    needs: Callable[[Sequence[str], ScoreArray], Sequence[str]]
    evidence: Callable[[Sequence[str], ScoreArray, int], ScoreArray]
    most: Callable[[float], float]


def nothing_related(ids: Sequence[str], scores: ScoreArray) -> Sequence[str]:
    """Return that a support looks at each memory alone."""
    return ()


@frozen
class Candidates:
    """The best of the scope, best first, none below the request's `min_score`.

    `scores` (n,) are final; `by_leg` holds each leg's calibrated scores (n,), `by_support` the evidence
    of each support (n,), `rankings` what each leg listed. `complete` says that nothing else in the scope
    could reach `min_score`.
    """

    ids: tuple[str, ...] = ()
    scores: ScoreArray = field(default_factory=lambda: np.empty(0))
    by_leg: tuple[ScoreArray, ...] = ()
    by_support: tuple[ScoreArray, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    complete: bool = True


@frozen
class SearchState:
    """A search on its way. Stages return a changed copy; none changes what it was given.

    `vector` is the embedded query, `terms` how many distinct keywords it has, `windows` the times it
    speaks of. `turns` are the users' conversations.
    """

    request: SearchRequest
    vector: FloatArray | None = None
    terms: int = 0
    legs: tuple[Leg, ...] = ()
    turns: tuple[UserTurns, ...] = ()
    windows: tuple[Window, ...] = ()
    supports: tuple[Support, ...] = ()
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
