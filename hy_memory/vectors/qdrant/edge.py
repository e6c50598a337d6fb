"""The embedded form: a Qdrant Edge shard in a folder, held by one process at a time.

A folder holds one shard per collection name and a lock file beside it. The write-ahead log makes
every write survive the death of the process. A shard is built in a folder of its own and renamed
when its indexes are there, so that a half-made one is never opened.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import qdrant_edge as qd
from filelock import FileLock, Timeout

from hy_memory.errors import BackendError, ClosedError, ConfigurationError, HyMemoryError, StoreLockedError
from hy_memory.values.point import Point
from hy_memory.vectors.qdrant.engine import (
    GRAPH_FROM,
    DenseQuery,
    Query,
    Scored,
    SparseQuery,
    refuse_unusable,
)
from hy_memory.vectors.qdrant.filter import Clause, Condition, HasId, Match, Missing, Nested, Range
from hy_memory.vectors.qdrant.schema import (
    DENSE,
    INDEXES,
    MEMORY_ID,
    NUMBERS,
    TERMS,
    FieldType,
    is_number_part,
    point_id,
    to_payload,
)

_BATCH = 1_000  # points per write: past some hundreds the throughput no longer grows
# Points between flushes. What is not flushed is replayed from the log when the shard is opened after
# its process was killed, at about 15,000 points a second; a flush costs 5 µs of CPU for each point.
_FLUSH_EVERY = 10_000
_PAGE = 10_000
_LONGEST_CALL = 60.0  # seconds a call may still be inside when its shard is closed; a scan takes far less
_PAUSE = 0.001
_CONFIG = "edge_config.json"
_REBUILD = (
    "the ledger holds everything, so the folder can be deleted and filled again "
    "with `hy-memory reindex --vectors qdrant`"
)
_WAY_OUT = (
    "one client at a time can hold it: close the other one, "
    "or use a Qdrant server (a URL), or the faiss backend, which many processes may share"
)
_T = TypeVar("_T")


class EdgeEngine:
    """An `Engine` over a Qdrant Edge shard; searches run without Python's global lock."""

    def __init__(self, path: str, collection: str, dims: int, graph_from: int = GRAPH_FROM) -> None:
        """Open the shard `collection` in the folder `path`, or make it.

        Raises StoreLockedError where another client holds it, ConfigurationError where the folder
        holds something else, a damaged shard, or one of other dimensions.
        """
        if not collection or Path(collection).name != collection or collection.startswith("."):
            raise ConfigurationError(f"the collection name {collection!r} cannot be a folder's name")
        self._folder = Path(path) / collection
        self._dims = dims
        self._config = _configuration(dims, graph_from)
        self._unflushed = 0
        self._swap = threading.Lock()
        self._lock = _lock(Path(path), collection)
        self._shard: qd.EdgeShard | None = None
        try:
            self._shard = self._open()
        except BaseException:
            self._lock.release()
            raise

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`, searchable on return and safe from a killed process."""
        for start in range(0, len(points), _BATCH):
            batch = points[start : start + _BATCH]
            refuse_unusable(batch, self._dims)
            operation = qd.UpdateOperation.upsert_points([_to_point(point) for point in batch])
            self._call(lambda shard, operation=operation: shard.update(operation))
            self._unflushed += len(batch)
            if self._unflushed >= _FLUSH_EVERY:
                self._unflushed = 0
                self._call(lambda shard: shard.flush())

    def delete(self, ids: Sequence[str]) -> None:
        """Forget the points `ids`."""
        operation = qd.UpdateOperation.delete_points(list(ids))
        self._call(lambda shard: shard.update(operation))

    def clear(self) -> None:
        """Replace the shard by an empty one: deleting each point would keep their room."""
        with self._swap, _translated():
            if self._shard is None:
                raise ClosedError
            fresh = self._make()
            shard, self._shard = self._shard, None
            _shut(shard)
            shutil.rmtree(self._folder)
            fresh.rename(self._folder)
            self._shard = qd.EdgeShard.load(str(self._folder), self._config)

    def run(self, queries: Sequence[Query]) -> list[Scored]:
        """Return the answer to each query."""
        requests = [_to_request(query) for query in queries]
        if len(requests) == 1:
            answers = [self._call(lambda shard: shard.query(requests[0]))]
        else:
            answers = self._call(lambda shard: shard.query_batch(qd.QueryBatchRequest(requests)))
        return [_to_scored(answer, query.limit) for answer, query in zip(answers, queries, strict=True)]

    def count(self, where: Clause) -> int:
        """Return how many points `where` admits."""
        request = qd.CountRequest(exact=True, filter=to_filter(where))
        return self._call(lambda shard: shard.count(request))

    def memory_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the memory ids that the payloads of `ids` hold."""
        found = self._call(lambda shard: shard.retrieve(list(ids), [MEMORY_ID], False))
        return {str(one.id): one.payload[MEMORY_ID] for one in found if one.payload}

    def every_id(self) -> Iterator[tuple[str, str | None]]:
        """Yield every point id, page by page, with the memory id in its payload."""
        offset: qd.PointId | None = None
        while True:
            request = qd.ScrollRequest(offset=offset, limit=_PAGE, with_payload=[MEMORY_ID])
            found, offset = self._call(lambda shard, request=request: shard.scroll(request))
            for one in found:
                yield str(one.id), (one.payload or {}).get(MEMORY_ID)
            if offset is None:
                return

    def compact(self) -> None:
        """Merge segments, drop deleted points, and build a graph where there are enough points for one.

        Blocks: with a graph to build it takes about 2 ms of CPU for each point. Meant for the end of
        a rebuild, not for the way of a write.
        """
        self._call(lambda shard: shard.optimize())

    def close(self) -> None:
        """Flush and close the shard, then release its folder."""
        with self._swap:
            shard, self._shard = self._shard, None
            try:
                if shard is not None:
                    with _translated():
                        _shut(shard)
            finally:
                self._lock.release()

    def _call(self, action: Callable[[qd.EdgeShard], _T]) -> _T:
        """Do `action` on the shard; once more where `clear` replaced the shard meanwhile."""
        shard = self._live()
        try:
            with _translated():
                return action(shard)
        except BackendError:
            current = self._live()
            if current is shard:
                raise
        with _translated():
            return action(current)

    def _live(self) -> qd.EdgeShard:
        shard = self._shard
        if shard is None:
            with self._swap:  # a `clear` in progress ends before this is had
                shard = self._shard
        if shard is None:
            raise ClosedError
        return shard

    def _open(self) -> qd.EdgeShard:
        if not self._folder.exists():
            _refuse_foreign(self._folder.parent)
            with _translated():
                self._make().rename(self._folder)
        else:
            _check_dims(self._folder, self._dims)
        try:
            with _translated():
                shard = qd.EdgeShard.load(str(self._folder), self._config)
                _make_indexes(shard)
        except BackendError as error:
            raise ConfigurationError(f"{self._folder} cannot be opened ({error}); {_REBUILD}") from error
        return shard

    def _make(self) -> Path:
        """Return a folder beside the real one that holds an empty shard with its indexes, closed."""
        folder = self._folder.with_name(f"{self._folder.name}.new")
        shutil.rmtree(folder, ignore_errors=True)
        shard = qd.EdgeShard.create(str(folder), self._config)
        try:
            _make_indexes(shard)
        finally:
            shard.close()
        return folder


def to_filter(clause: Clause) -> qd.Filter:
    """Return `clause` in the engine's classes."""
    return qd.Filter(
        must=[_to_condition(part) for part in clause.must] or None,
        should=[_to_condition(part) for part in clause.should] or None,
        must_not=[_to_condition(part) for part in clause.must_not] or None,
    )


def _to_condition(part: Condition) -> qd.ConditionType:
    if isinstance(part, Match):
        if len(part.values) == 1:
            return qd.FieldCondition(key=part.key, match=qd.MatchValue(value=part.values[0]))
        return qd.FieldCondition(key=part.key, match=qd.MatchAny(any=list(part.values)))
    if isinstance(part, Range):
        bounds = qd.RangeFloat(gt=part.gt, gte=part.gte, lt=part.lt, lte=part.lte)
        return qd.FieldCondition(key=part.key, range=bounds)
    if isinstance(part, Missing):
        return qd.IsEmptyCondition(key=part.key)
    if isinstance(part, HasId):
        return qd.HasIdCondition(point_ids=set(part.ids))
    if isinstance(part, Nested):
        return qd.NestedCondition(part.key, to_filter(part.clause))
    return to_filter(part)


def _to_request(query: Query) -> qd.QueryRequest:
    where = to_filter(query.where)
    if isinstance(query, DenseQuery):
        nearest = qd.Query.Nearest(query.vector.tolist(), using=DENSE)
        return qd.QueryRequest(limit=query.limit, query=nearest, filter=where)
    if isinstance(query, SparseQuery):
        terms = qd.SparseVector(indices=query.ids.tolist(), values=query.values.tolist())
        params = qd.SearchParams(exact=True, idf=qd.IdfParams(corpus=to_filter(query.corpus)))
        nearest = qd.Query.Nearest(terms, using=TERMS)
        return qd.QueryRequest(limit=query.limit, query=nearest, filter=where, params=params)
    return qd.QueryRequest(limit=query.limit, filter=where)


def _to_scored(answer: Sequence[qd.ScoredPoint], limit: int) -> Scored:
    scores = np.fromiter((one.score for one in answer), dtype=np.float64, count=len(answer))
    return Scored([str(one.id) for one in answer], scores, exhausted=len(answer) < limit)


def _to_point(point: Point) -> qd.Point:
    terms = qd.SparseVector(indices=point.terms.ids.tolist(), values=point.terms.weights.tolist())
    # A point without terms gets an empty vector all the same: only points that have one count in IDF.
    vectors = {DENSE: point.vector.tolist(), TERMS: terms}
    return qd.Point(id=point_id(point.id), vector=vectors, payload=to_payload(point))


def _configuration(dims: int, graph_from: int) -> qd.EdgeConfig:
    """The shard's form. Both thresholds are in KB of vectors and stand for `graph_from` points: only
    from there on does `optimize` build a graph, and only a filter that admits more is searched with it."""
    threshold = max(1, graph_from * dims * 4 // 1024)
    return qd.EdgeConfig(
        vectors={DENSE: qd.EdgeVectorParams(size=dims, distance=qd.Distance.Cosine)},
        sparse_vectors={TERMS: qd.EdgeSparseVectorParams(modifier=qd.Modifier.Idf)},
        # m and ef_construct are the engine's defaults' doubles: above 100,000 points of one user
        # recall matters more than the minutes of a rebuild.
        hnsw_config=qd.HnswIndexConfig(m=32, ef_construct=200, full_scan_threshold=threshold),
        optimizers=qd.EdgeOptimizersConfig(indexing_threshold=threshold),
        # With one, a search runs on the thread that asks: many callers search side by side, and no
        # pool spins for work afterwards, which doubles the CPU of a search among 10,000 points.
        max_search_threads=1,
    )


def _make_indexes(shard: qd.EdgeShard) -> None:
    """Make those payload indexes that the shard does not have."""
    known = shard.info().payload_schema
    for field, kind in INDEXES.items():
        if field not in known:
            shard.update(qd.UpdateOperation.create_field_index(field, _index(field, kind)))


def _index(field: str, kind: FieldType) -> qd.KeywordIndexParams | qd.FloatIndexParams:
    nested = NUMBERS if is_number_part(field) else None
    if kind is FieldType.FLOAT:
        return qd.FloatIndexParams(nested=nested)
    return qd.KeywordIndexParams(is_tenant=kind is FieldType.TENANT, nested=nested)


def _shut(shard: qd.EdgeShard) -> None:
    """Close `shard` once the searches that are inside it have ended; nobody enters it any more."""
    deadline = time.monotonic() + _LONGEST_CALL
    while True:
        try:
            shard.close()
            return
        except RuntimeError:  # the binding's "already borrowed": a call is still inside
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _lock(folder: Path, collection: str) -> FileLock:
    """Take the folder's lock, which the system releases however its holder ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{collection}.lock", timeout=0, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise StoreLockedError(f"{folder / collection} is open already; {_WAY_OUT}") from error
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be used as a Qdrant folder: {error}") from error
    return lock


def _refuse_foreign(folder: Path) -> None:
    """Raise ConfigurationError where `folder` holds things that are not ours."""
    for entry in folder.iterdir():
        if entry.suffix not in (".lock", ".new") and not (entry / _CONFIG).exists():
            raise ConfigurationError(
                f"{folder} holds {entry.name}, which is no Qdrant Edge shard; name an empty folder"
            )


def _check_dims(folder: Path, dims: int) -> None:
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        stored = cast("int", config["vectors"][DENSE]["size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{folder} is not a sound Qdrant Edge shard of this package ({error!r}); {_REBUILD}"
        ) from error
    if stored != dims:
        raise ConfigurationError(
            f"{folder} holds vectors of {stored} dimensions, the embedder gives {dims}; {_REBUILD}"
        )


@contextmanager
def _translated() -> Generator[None]:
    """Turn what the engine raises (a plain Exception, mostly) into BackendError."""
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:
        raise BackendError(f"Qdrant Edge failed: {error}") from error
