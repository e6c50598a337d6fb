"""A search of an earlier moment: the records of then in the place of those of now.

What could be searched then is read from the ledger, and an index in memory is built over it for the
search. The stages are the same and do not know: they get other ports. It costs in proportion to
what the users had; the last moment is kept, for the questions that follow about the same one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.conversations.index import Conversations, TurnSource
from hy_memory.conversations.turn import turn_of
from hy_memory.filters.scope import ScopedFilter
from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import (
    Backend,
    Embedder,
    Ledger,
    MentionSource,
    PointSource,
    Ranking,
    ScoreArray,
    VectorIndex,
)
from hy_memory.ranking.bm25 import document_terms
from hy_memory.reading.state import EntityIndex, ReadPorts, Records
from hy_memory.values.point import Changes, FloatArray, Point, payload_of
from hy_memory.values.record import (
    NORMAL_LAYERS,
    Layer,
    MemoryRecord,
    RecordVersion,
    Status,
    indexed_text,
)
from hy_memory.values.turn import Turn, TurnChanges
from hy_memory.values.write import EmbedderIdentity, Entry

_BEYOND = 1 << 62  # a sequence number that no change has: what is asked for after it are closings alone
_KEPT = 20_000  # records of a moment that is kept for the next question: some 60 MB


class Moments:
    """Earlier moments of a ledger, made searchable by `open_index` (exact, fed by nobody). Thread-safe.

    `open_conversations` makes the conversations of the turns there were.
    """

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        open_index: Callable[[PointSource], Backend],
        open_conversations: Callable[[TurnSource], Conversations],
        open_entities: Callable[[MentionSource], EntityIndex],
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._open_index = open_index
        self._open_conversations = open_conversations
        self._open_entities = open_entities
        self._last: _Moment | None = None

    def ports(self, now: ReadPorts, user_ids: Sequence[str], at: float) -> ReadPorts:
        """Return `now` with everything that answers replaced by what was so `at` that moment."""
        moment = self._moment((tuple(user_ids), at, self._ledger.freshness()))
        return replace(
            now,
            records=_PastRecords(moment.records, moment.layers, now.records),
            vectors=moment.vectors,
            # no keywords now, none then: `hybrid` of this client stays what it is
            keywords=None if now.keywords is None else moment.index.keywords,
            conversations=None if now.conversations is None else moment.conversations,
            entities=None if now.entities is None else self._open_entities(moment.points),
            uses=None,  # what was of use later was not known then
        )

    def _moment(self, key: tuple[tuple[str, ...], float, int]) -> _Moment:
        last = self._last
        if last is not None and last.key == key:
            return last
        user_ids, at, _ = key  # its freshness was read before the records: never newer than they are
        entries = self._ledger.moment(user_ids, at)
        rows = guard("embedder", lambda: self._vectors(entries))
        points = _points(entries, [] if isinstance(rows, Guarded) else rows, self._embedder)
        index = self._open_index(points)
        vectors = _Unembedded(rows.error) if isinstance(rows, Guarded) else index.vectors
        records = [one.record for one in entries]
        layers = frozenset((one.user_id, one.layer) for one in records)
        turns = self._open_conversations(_PastTurns(records, self._ledger, at))
        by_id = {one.id: one for one in records}
        moment = _Moment(key, by_id, layers, points, index, vectors, turns)
        if not isinstance(rows, Guarded) and len(entries) <= _KEPT:
            self._last = moment
        return moment

    def _vectors(self, entries: Sequence[Entry]) -> list[FloatArray]:
        """Return the vectors of the texts that nobody has any more, in their order."""
        texts = [indexed_text(one.record) for one in entries if one.vector is None]
        return list(self._embedder.embed_documents(texts)) if texts else []


@dataclass(frozen=True, slots=True)
class _Moment:
    """What some users had at a moment; `key` names users, moment, and what the ledger held."""

    key: tuple[tuple[str, ...], float, int]
    records: dict[str, MemoryRecord]
    layers: frozenset[tuple[str, Layer]]
    points: MentionSource
    index: Backend
    vectors: VectorIndex
    conversations: Conversations


@dataclass(frozen=True, slots=True)
class _PastRecords:
    """`Records` of a moment; who made the vectors is a question about now."""

    then: dict[str, MemoryRecord]
    layers: frozenset[tuple[str, Layer]]
    now: Records

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """See `Records`."""
        return {one: self.then[one] for one in ids if one in self.then}

    def versions(self, memory_id: str) -> tuple[RecordVersion, ...]:
        """Return the texts it had before the one it had then, newest first."""
        shown = self.then[memory_id].version
        return tuple(one for one in self.now.versions(memory_id) if one.version < shown)

    def embedder(self) -> EmbedderIdentity | None:
        """See `Records`."""
        return self.now.embedder()

    def has_layer(self, user_ids: Sequence[str], layer: Layer) -> bool:
        """See `Records`."""
        return any((one, layer) in self.layers for one in user_ids)


@dataclass(frozen=True, slots=True)
class _PastPoints:
    """A `MentionSource` in which nothing ever happens."""

    by_user: dict[str, tuple[Point, ...]]
    then: dict[str, MemoryRecord]

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """See `MentionSource`."""
        return {one: self.then[one] for one in ids if one in self.then}

    def freshness(self) -> int:
        """See `PointSource`."""
        return 0

    def points(self, user_id: str) -> Changes:
        """See `PointSource`."""
        return Changes(0, self.by_user.get(user_id, ()), ())

    def batches(self, user_id: str) -> Iterator[Changes]:
        """See `PointSource`."""
        yield self.points(user_id)

    def changes(self, user_id: str, after: int) -> Changes:
        """See `PointSource`."""
        return Changes(after, (), ())


@dataclass(frozen=True, slots=True)
class _PastTurns:
    """A `TurnSource` of the turns among `then`, and of the sessions closed by `at`."""

    then: Sequence[MemoryRecord]
    ledger: Ledger
    at: float

    def freshness(self) -> int:
        """See `TurnSource`."""
        return 0

    def turns(self, user_id: str, after: int | None = None) -> TurnChanges:
        """See `TurnSource`."""
        closings = self.ledger.turns(user_id, after=_BEYOND).closings
        there = tuple(_turn(one) for one in self.then if one.user_id == user_id and _is_turn(one))
        until = tuple(one for one in closings if one.at <= self.at)
        return TurnChanges(after or 0, there if after is None else (), (), until)


def _is_turn(record: MemoryRecord) -> bool:
    return record.status is Status.ACTIVE and record.layer in NORMAL_LAYERS and record.part_of is None


def _turn(one: MemoryRecord) -> Turn:
    kind = (one.agent_id, one.session_id, one.source, one.layer, one.expires_at)
    return turn_of(one.id, kind, (one.created_at, one.memory_at), (one.content, one.owner))


@dataclass(frozen=True, slots=True)
class _Unembedded:
    """The vector leg of a moment whose texts could not be embedded: it fails, the keyword leg stands."""

    error: Exception

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Raise why."""
        raise self.error

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Raise why."""
        raise self.error

    def count(self, where: ScopedFilter) -> int:
        """Raise why."""
        raise self.error


def _points(entries: Sequence[Entry], made: Sequence[FloatArray], embedder: Embedder) -> MentionSource:
    """Return `entries` as points; `made` are the missing vectors in order, empty where there are none."""
    nothing, vectors = np.zeros(embedder.dims, dtype=np.float32), iter(made)
    by_user: defaultdict[str, list[Point]] = defaultdict(list)
    for one in entries:
        record = one.record
        vector = next(vectors, nothing) if one.vector is None else one.vector
        terms = one.terms or document_terms(record.content, record.context)
        by_user[record.user_id].append(Point(record.id, vector, terms, payload_of(record)))
    then = {one.record.id: one.record for one in entries}
    return _PastPoints({user_id: tuple(points) for user_id, points in by_user.items()}, then)
