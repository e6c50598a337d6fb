"""Points in a Chroma collection: Chroma stores and filters, the matches are compared here.

Chroma's own search walks a graph over all users' points: with a user's filter it found 90 to 98 of
the 100 best, fewer among equal vectors, and costs twice as much as naming the matches. So it is asked
for the ids of the matches, and their vectors are compared exactly. A vector is fetched once (25 µs):
a row id is the memory's id and a digest of the vector, and therefore never means another vector.

Chroma has no keyword index of ours: `Backend.keywords` is None, which the runtime reads as an empty
keyword result (or as the local index, where that is configured).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hy_memory.errors import ClosedError, ConfigurationError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import TIE, Backend, BackendOptions, PointSource, Ranking, ScoreArray
from hy_memory.values.point import FloatArray, Point
from hy_memory.vectors.chroma.connect import Connection, connect, translated
from hy_memory.vectors.chroma.filter import (
    Metadata,
    Where,
    compile_filter,
    decode_text,
    encode_text,
    to_metadata,
)
from hy_memory.vectors.chroma.rows import RowCache

_MEMORY = "memory_id"
_PAGE = 2048  # rows of one fetch: each is a Python list on its way
_REQUEST_BYTES = (
    16 << 20
)  # of one upsert; servers refuse more than 40 MB, and a number takes up to 20 as JSON
_BYTES_PER_NUMBER = 20
_FORM = "hy_memory:dims"
_GRAPH = {"space": "cosine", "ef_construction": 16, "max_neighbors": 8}
"""Chroma builds its graph unasked; as small as this it takes half the time of an insert."""
_ANSWER = TypeVar("_ANSWER")


class ChromaPoints:
    """A collection, as vector leg and as fed index. Safe for threads; closing ends every later call."""

    def __init__(self, connection: Connection, options: BackendOptions) -> None:
        """Open the collection or make it; raises ConfigurationError where it holds something else."""
        self._connection = connection
        self._name = options.collection
        self._dims = options.dims
        self._rows = RowCache(options.dims, options.memory_budget)
        self._lock = threading.Lock()
        self._collection: Any = self._open()
        largest = _REQUEST_BYTES // (_BYTES_PER_NUMBER * options.dims)
        self._batch = max(1, min(connection.max_batch_size(), largest))

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """See `VectorIndex`."""
        clause = compile_filter(where)
        if clause is None:
            return _ranking([], np.empty(0), top_k)
        rows = self._matches(clause)
        return _ranking(rows, self._rows.cosines(rows, vector, self._vectors), top_k)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """See `VectorIndex`."""
        clause = compile_filter(where)
        scores: dict[str, float] = {}
        for batch in self._batches(ids) if clause is not None else ():
            rows = self._matches({"$and": [_are(batch), clause]})
            cosines = self._rows.cosines(rows, vector, self._vectors)
            scores.update(zip(map(_memory_id, rows), cosines.tolist(), strict=True))
        return np.array([scores.get(one, np.nan) for one in ids], dtype=np.float64)

    def count(self, where: ScopedFilter) -> int:
        """See `VectorIndex`."""
        clause = compile_filter(where)
        return 0 if clause is None else len(set(map(_memory_id, self._matches(clause))))

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Fed`."""
        latest = {point.id: point for point in points}
        for batch in self._batches(list(latest)):
            self._upsert([latest[one] for one in batch])

    def remove(self, ids: Sequence[str]) -> None:
        """See `Fed`."""
        for batch in self._batches(ids):
            self._delete(self._matches(_are(batch)))

    def clear(self) -> None:
        """See `Fed`; the collection is made anew, because deleted points stay in Chroma's graph."""
        with self._lock, translated():
            self._live()
            self._connection.client.delete_collection(self._name)
            self._collection = self._open()
        self._rows.clear()

    def ids(self) -> Iterator[str]:
        """See `Fed`."""
        yield from dict.fromkeys(map(_memory_id, self._matches(None)))

    def close(self) -> None:
        """Let go of the folder or the connection."""
        with self._lock:
            self._collection = None
            self._connection.close()
        self._rows.clear()

    def _upsert(self, points: Sequence[Point]) -> None:
        """Store one batch, then take away the rows of older vectors.

        In this order a reader may see both for a moment, and keeps the better one, but never neither.
        """
        fresh: dict[str, Metadata] = {
            _row_id(point): {_MEMORY: encode_text(point.id), **to_metadata(point.payload)} for point in points
        }
        where = _are([point.id for point in points])
        before = self._call(lambda collection: collection.get(where=where, include=["metadatas"]))
        stale: list[str] = []
        for row, old in zip(before["ids"], before["metadatas"], strict=True):
            if row in fresh:
                # Chroma merges metadata: what a point no longer has must be set to nothing.
                fresh[row].update(dict.fromkeys(set(old) - fresh[row].keys()))
            else:
                stale.append(row)
        rows, vectors = list(fresh), np.stack([point.vector for point in points])
        metadatas = list(fresh.values())
        self._call(lambda collection: collection.upsert(ids=rows, embeddings=vectors, metadatas=metadatas))
        self._delete(stale)
        self._rows.add(rows, vectors)

    def _delete(self, rows: Sequence[str]) -> None:
        for start in range(0, len(rows), self._batch):
            page = list(rows[start : start + self._batch])
            self._call(lambda collection, page=page: collection.delete(ids=page))
        self._rows.discard(rows)

    def _matches(self, clause: Where | None) -> list[str]:
        """Return the row ids that `clause` admits."""
        found = self._call(lambda collection: collection.get(where=clause, include=[]))
        return cast("list[str]", found["ids"])

    def _vectors(self, rows: Sequence[str]) -> tuple[Sequence[str], npt.ArrayLike]:
        """Return those of `rows` that are still stored, with their vectors."""
        ids: list[str] = []
        vectors: list[FloatArray] = []
        for start in range(0, len(rows), _PAGE):
            page = list(rows[start : start + _PAGE])
            found = self._call(lambda collection, page=page: collection.get(ids=page, include=["embeddings"]))
            if found["ids"]:
                ids += found["ids"]
                vectors.append(np.asarray(found["embeddings"], dtype=np.float32))
        return ids, np.concatenate(vectors) if vectors else np.empty((0, self._dims), dtype=np.float32)

    def _batches(self, ids: Sequence[str]) -> Iterator[list[str]]:
        """Yield distinct `ids` in lists that one call of Chroma takes."""
        distinct = list(dict.fromkeys(ids))
        for start in range(0, len(distinct), self._batch):
            yield distinct[start : start + self._batch]

    def _call(self, action: Callable[[Any], _ANSWER]) -> _ANSWER:
        """Do `action` on the collection; once more where another client made it anew meanwhile."""
        collection = self._live()
        with translated():
            try:
                return action(collection)
            except self._connection.gone:
                with self._lock:
                    self._live()
                    collection = self._collection = self._open()
                return action(collection)

    def _live(self) -> Any:
        collection = self._collection
        if collection is None:
            raise ClosedError
        return collection

    def _open(self) -> Any:
        """Return the collection, made if it is missing, or empty with other dimensions."""
        with translated():
            collection = self._make()
            if not _is_of(collection, self._dims) and collection.count() == 0:
                self._connection.client.delete_collection(self._name)
                collection = self._make()
        if _is_of(collection, self._dims):
            return collection
        stored = (collection.metadata or {}).get(_FORM)
        what = f"vectors of {stored} dimensions" if stored else "something else than our points"
        raise ConfigurationError(
            f"the Chroma collection {self._name!r} holds {what}, the embedder gives {self._dims} dimensions; "
            f"set MEMORY_COLLECTION_NAME to another name, or run `hy-memory reindex`"
        )

    def _make(self) -> Any:
        return self._connection.client.get_or_create_collection(
            self._name,
            metadata={_FORM: self._dims},
            embedding_function=None,
            configuration={"hnsw": _GRAPH},
        )


def open_backend(options: BackendOptions, source: PointSource) -> Backend:
    """Return the Chroma backend over `options.path` or the server at `options.url`; it is fed.

    Raises ConfigurationError for options that cannot work, StoreLockedError where another process
    holds the folder, BackendError where the server cannot be reached.
    """
    del source
    connection = connect(options)
    try:
        points = ChromaPoints(connection, options)
    except BaseException:
        connection.close()
        raise
    return Backend("chroma", vectors=points, keywords=None, fed=points, closers=(points,))


def _is_of(collection: Any, dims: int) -> bool:
    """Return whether a collection is one of ours for vectors of this width."""
    return (collection.metadata or {}).get(_FORM) == dims


def _are(ids: Sequence[str]) -> Where:
    return {_MEMORY: {"$in": [encode_text(one) for one in ids]}}


def _row_id(point: Point) -> str:
    """Return the id of the row that holds a point with this very vector."""
    digest = hashlib.blake2b(point.vector.tobytes(), digest_size=8).hexdigest()
    return f"{encode_text(point.id)}:{digest}"


def _memory_id(row: str) -> str:
    return decode_text(row.rpartition(":")[0])


def _ranking(rows: Sequence[str], cosines: ScoreArray, top_k: int) -> Ranking:
    """Return the `top_k` best of all matches with their ties, best first; NaN marks a row that is gone."""
    there = np.flatnonzero(~np.isnan(cosines))
    if top_k <= 0:
        return Ranking((), np.empty(0), exhausted=not len(there))
    kept = there
    if top_k < len(there):
        bar = np.partition(cosines[there], -top_k)[-top_k] - TIE
        kept = there[cosines[there] >= bar]
    found = sorted(
        (-cosine, _memory_id(rows[at]))
        for cosine, at in zip(cosines[kept].tolist(), kept.tolist(), strict=True)
    )
    best: dict[str, float] = {}
    for negative, memory_id in found:
        best.setdefault(memory_id, -negative)
    exhausted = len(kept) == len(there)
    if len(best) < len(found) and not exhausted:
        # Rows of an old and a new vector of one memory: one of them took another memory's place.
        return _ranking(rows, cosines, top_k + len(found) - len(best))
    return Ranking(tuple(best), np.array(list(best.values()), dtype=np.float64), exhausted)
