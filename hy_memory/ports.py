"""The contracts between the core and everything that can be swapped.

A search asks *legs* for ranked candidates; a backend supplies one vector leg and perhaps a keyword leg. Legs
with a copy of the points are *fed* (`Fed`); others read the ledger (`PointSource`) and follow its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from hy_memory.edit_source import EditSource
from hy_memory.extraction_queue import ExtractionQueue
from hy_memory.fact_source import FactSource
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ranking.calibration import Calibration
from hy_memory.use_source import UseSource
from hy_memory.values.point import Changes, FloatArray, IdArray, Point
from hy_memory.values.record import Claimed, MemoryRecord, Page, RecordVersion
from hy_memory.values.turn import TurnChanges
from hy_memory.values.write import Change, EmbedderIdentity, Entry, ListQuery, Outcome

ScoreArray = npt.NDArray[np.float64]

TIE = 1e-5
"""Scores closer than this are one score. Engines round differently in the seventh digit; the
pipeline rounds to this grid before it orders by (score, id), so that all backends agree."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A leg's candidates: `ids` and their `scores` (n,), best first.

    `exhausted` says that nothing else in the scope has a score above 0 (keyword) or at all (vector).
    """

    ids: tuple[str, ...]
    scores: ScoreArray
    exhausted: bool


class VectorIndex(Protocol):
    """The vector leg. Scores are cosine similarities in [-1, 1]."""

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Return the `top_k` points most similar to `vector` (dims,) among those `where` admits.

        The filter acts before Top-K. Points tied with the last one (within TIE) are all included,
        so that the caller can break ties by id. Fewer matches than `top_k` is no error.
        """
        ...

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Return the cosine of each of `ids` (n,), NaN for one that is unknown or not admitted."""
        ...

    def count(self, where: ScopedFilter) -> int:
        """Return how many points `where` admits."""
        ...


class KeywordIndex(Protocol):
    """The keyword leg. Scores are in [0, 1]: BM25 over the most the query could reach.

    Statistics are those of each point's own user, over everything of theirs that is searchable,
    whatever the filter: another user's memories, or a stricter filter, never change a score.
    """

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Return the `top_k` best points with a score above 0 among those `where` admits, ties included."""
        ...

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Return the score of each of `ids` (n,), 0 where no term matches, NaN where not admitted."""
        ...


class Fed(Protocol):
    """An index that keeps its own copy and is fed from the ledger's change log. Feeding is idempotent."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`, replacing those with the same ids; searchable when it returns."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Forget `ids`; unknown ones are no error."""
        ...

    def clear(self) -> None:
        """Forget everything (before a rebuild)."""
        ...

    def ids(self) -> Iterable[str]:
        """Yield every stored id (for the consistency check)."""
        ...


class PointSource(Protocol):
    """The ledger, as a projection that reads it sees it.

    A record is a point when it was stored with a vector: active and superseded ones, told apart by
    `Payload.status`. Every request's filter says which of them it admits.
    """

    def freshness(self) -> int:
        """Return a number that differs whenever anything was committed, by any process. Cheap (~10 µs)."""
        ...

    def points(self, user_id: str) -> Changes:
        """Return every searchable point of one user and the sequence number they are current at."""
        ...

    def batches(self, user_id: str) -> Iterator[Changes]:
        """Yield the same in parts, one at least, all of one moment: a large user needs no second copy."""
        ...

    def changes(self, user_id: str, after: int) -> Changes:
        """Return what became of one user's points after sequence number `after`."""
        ...


class MentionSource(PointSource, Protocol):
    """The ledger, as the entity leg reads it: the texts of its points too."""

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist, by id."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """What a vector store supplies: its vector leg, its keyword leg if any, and who must be fed."""

    name: str
    vectors: VectorIndex
    keywords: KeywordIndex | None
    fed: Fed | None
    closers: tuple[Closeable, ...] = ()

    def close(self) -> None:
        """Close every part this backend opened."""
        for part in self.closers:
            part.close()


class Closeable(Protocol):
    """Something that holds a file, a thread or a connection."""

    def close(self) -> None:
        """Let go of it; closing twice is no error."""
        ...


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """What a backend's factory gets to know. `path` is a folder of its own; `url` a server."""

    dims: int
    path: str | None = None
    url: str | None = None
    api_key: str | None = None
    collection: str = "hy_memory"
    timeout: float = 10.0
    memory_budget: int = 2 << 30

    @property
    def shown_url(self) -> str:
        """The URL without user and password, as messages may show it."""
        parts = urlsplit(self.url or "")
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


class BackendFactory(Protocol):
    """The entry point of a backend (group ``hy_memory.backends``)."""

    def __call__(self, options: BackendOptions, source: PointSource) -> Backend:
        """Open the backend; raises a ConfigurationError that says what to do where it cannot."""
        ...


class Embedder(Protocol):
    """Texts to vectors. `name` with `dims` and `fingerprint` is the identity that the ledger remembers."""

    @property
    def name(self) -> str:
        """A stable name, such as "e5"."""
        ...

    @property
    def fingerprint(self) -> str:
        """Tells two models of one name apart; "" where the name says it all."""
        ...

    @property
    def dims(self) -> int:
        """Length of every vector."""
        ...

    @property
    def calibration(self) -> Calibration:
        """The monotone curve from cosine to score."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dims) float32 rows of unit length for texts to be stored.

        Raises EmbeddingError; never returns NaN, infinite or zero rows.
        """
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Return (dims,) float32 of unit length for a question."""
        ...


class Reranker(Protocol):
    """Reads a question and a text together; slower and better than comparing two vectors.

    Ready to use from the start: a call loads nothing. Threads share it.
    """

    def scores(self, query: str, texts: Sequence[str]) -> ScoreArray:
        """Return how well each text answers `query`: (n,) float64 in [0, 1].

        Raises RerankError where it cannot; never loads anything.
        """
        ...


@runtime_checkable
class EmbeddingService(Protocol):
    """What a caller may bring (`embedding_service=`): Hy-Memory's own protocol.

    Optional powers, used where present: `embed(text)` or `embed_query(text)` for questions,
    `name`, `fingerprint`, `calibration`.
    """

    def embed_batch(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Return one vector for each text."""
        ...

    def get_embedding_dims(self) -> int:
        """Return the length of a vector."""
        ...


class Ledger(PointSource, EditSource, ExtractionQueue, UseSource, FactSource, Protocol):
    """The truth: every record, version, vector and change. Each writing verb is one transaction.

    Raises LedgerError where the store cannot be read or written; nothing of a failed write remains.
    """

    def insert(self, entries: Sequence[Entry], outcome: Outcome | None = None) -> Outcome | None:
        """Store new records; returns None, or the outcome already stored under `outcome`'s request id.

        The check for an earlier outcome and the insert are one transaction: of two processes that
        send the same request at once, one writes and the other gets the first one's outcome (nothing
        of its own is stored then).

        An entry that `supersedes` a record goes on top of the newest member of that record's chain,
        which becomes superseded: however many writers name the same record, the chain stays one line.
        Raises MemoryNotFoundError for an id that is unknown or another user's, InvalidArgumentError
        for a raw turn.
        """
        ...

    def replace(self, entry: Entry, expected_version: int) -> None:
        """Store a new version of a record; the old text becomes a `RecordVersion`.

        Its status and its links to other records stay as the ledger has them.
        Raises MemoryNotFoundError, or ConflictError when the record is no longer `expected_version`.
        """
        ...

    def delete(self, ids: Sequence[str], rewritten: Sequence[Entry] = ()) -> int:
        """Remove records with versions, vectors and terms (text gone); returns how many there were.

        `rewritten` are records that quote a removed one: in the same transaction they get their new
        text, and no version keeps the old.

        A chain closes over the gap; a record whose successors are all gone is current again.
        """
        ...

    def delete_all(self, where: ScopedFilter) -> int:
        """Remove everything of the scope; outcomes too when it is whole users. Returns how many records."""
        ...

    def turns(self, user_id: str, after: int | None = None) -> TurnChanges:
        """Return a user's turns, or what became of them after sequence number `after`.

        A turn is an active record of the normal layers. `closings` are always all of the user's.
        """
        ...

    def close_session(self, user_id: str, agent_id: str, session_id: str) -> float | None:
        """Close a session's episodes: what is stored later begins a new one. Returns when it was closed.

        A session without a turn since its last closing keeps that closing; None, and nothing stored, for
        one that has no turn. `delete_all` of a whole user, agent or session forgets closings too.
        """
        ...

    def copy_closings(self, source_user: str, target_user: str) -> None:
        """Give one user the closings of another beside their own."""
        ...

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist, by id."""
        ...

    def page(self, where: ScopedFilter, query: ListQuery) -> Page:
        """Return records ordered by (created_at, id); text of every layer included."""
        ...

    def counts(self, user_id: str) -> dict[str, int]:
        """Return how many records a user has, by layer."""
        ...

    def claims(self, user_id: str) -> tuple[Claimed, ...]:
        """Return what a user's active records claim of them, by id; records without claims are not read."""
        ...

    def users(self) -> tuple[str, ...]:
        """Return every user that has records, sorted."""
        ...

    def versions(self, memory_id: str) -> tuple[RecordVersion, ...]:
        """Return the texts a record used to have, newest first."""
        ...

    def moment(self, user_ids: Sequence[str], at: float) -> tuple[Entry, ...]:
        """Return what could be searched of some users at an earlier moment (epoch seconds, inclusive).

        Each point's record is as it then was: its text is the newest one recorded by then, and it is
        superseded if its successor was there. `vector` and `terms` are given where the stored ones
        are of that text, else None. What was deleted since, or whose text of then was forgotten, is
        not there.
        """
        ...

    def history(
        self, *, user_id: str | None = None, memory_id: str | None = None, limit: int
    ) -> tuple[Change, ...]:
        """Return the last `limit` changes of a user or a memory, newest first."""
        ...

    def outcome(self, request_id: str, user_id: str | None = None) -> Outcome | None:
        """Return what a request led to, if it was acknowledged.

        Raises InvalidArgumentError where several users used the id and `user_id` does not say which.
        """
        ...

    def log(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return at most `limit` changes after sequence number `after`, oldest first, of all users."""
        ...

    def searchable(self, ids: Sequence[str]) -> dict[str, Point]:
        """Return those of `ids` that are points now."""
        ...

    def cursor(self, projection: str) -> int:
        """Return the sequence number up to which a fed projection holds everything (0: nothing)."""
        ...

    def set_cursor(self, projection: str, seq: int) -> None:
        """Remember that `projection` holds everything up to `seq`."""
        ...

    def feeding(self, projection: str) -> AbstractContextManager[None]:
        """Hold the right to feed `projection`; one process and thread at a time has it."""
        ...

    def embedder(self) -> EmbedderIdentity | None:
        """Return who made the stored vectors, None while there are none and nobody was bound."""
        ...

    def bind_embedder(self, identity: EmbedderIdentity) -> EmbedderIdentity:
        """Remember `identity` if none is remembered yet; return the one that is remembered then."""
        ...

    def reembed(self, identity: EmbedderIdentity, vectors: Iterable[tuple[Sequence[str], FloatArray]]) -> int:
        """Replace all vectors by batches of (ids, (n, dims) rows) and bind `identity`: one transaction."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong inside (engine's own integrity check, half records), empty when sound."""
        ...

    def close(self) -> None:
        """Close every connection; closing twice is no error."""
        ...
