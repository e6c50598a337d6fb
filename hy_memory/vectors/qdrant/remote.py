"""The server form: one collection of a Qdrant server, which many processes and machines may share.

Every call we make may be made twice (an upsert replaces, a deletion of nothing is none), so each
is tried again, with jitter, when the connection or the server fails for a moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from tenacity import (
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from hy_memory.errors import BackendError, ClosedError, ConfigurationError, HyMemoryError
from hy_memory.ports import BackendOptions
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

_OLDEST_SERVER = (1, 19)  # the first that counts IDF over a part of the collection
_NESTED_SINCE = (1, 20)  # the first with indexes that keep the objects of an array apart
_BATCH = 256  # points per request: about 2 MB of JSON at 384 dimensions, of the 32 MB a server takes
_PAGE = 1_000
_ATTEMPTS = 4
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0  # seconds; a server that restarts is back within a few
_CONNECTIONS = 16  # kept alive; without a number the client opens one for each local request
_TRANSIENT = frozenset({408, 429, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_T = TypeVar("_T")


class RemoteEngine:
    """An `Engine` over the collection `options.collection` at `options.url`."""

    def __init__(self, options: BackendOptions) -> None:
        """Connect, make the collection where there is none, and check the one there is.

        Raises ConfigurationError for a refused key, a server that is too old, or a collection of
        another form; BackendError where the server cannot be reached.
        """
        self._collection = options.collection
        self._dims = options.dims
        self._url = options.url or ""
        self._shown = options.shown_url
        self._closed = False
        # tenacity keeps a call's state per thread, so one policy serves all of them.
        self._retrying = Retrying(
            retry=retry_if_exception(_is_transient),
            wait=wait_random_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT),
            # A call that used up its time is not begun again.
            stop=stop_after_attempt(_ATTEMPTS) | stop_after_delay(options.timeout),
            reraise=True,
        )
        self._client = QdrantClient(
            url=self._url,
            api_key=options.api_key,
            timeout=math.ceil(options.timeout),
            check_compatibility=False,  # it warns from a thread of its own; `_prepare` checks
            pool_size=_CONNECTIONS,
        )
        try:
            self._prepare()
        except BaseException:
            self._client.close()
            raise

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`; the server has indexed them on return."""
        for start in range(0, len(points), _BATCH):
            batch = points[start : start + _BATCH]
            refuse_unusable(batch, self._dims)
            structs = [_to_point(point) for point in batch]
            self._call(lambda structs=structs: self._client.upsert(self._collection, structs, wait=True))

    def delete(self, ids: Sequence[str]) -> None:
        """Forget the points `ids`."""
        chosen = models.PointIdsList(points=list(ids))
        self._call(lambda: self._client.delete(self._collection, chosen, wait=True))

    def clear(self) -> None:
        """Forget every point; the collection stays, for others may be connected to it."""
        everything = models.FilterSelector(filter=models.Filter(must=[]))
        self._call(lambda: self._client.delete(self._collection, everything, wait=True))

    def run(self, queries: Sequence[Query]) -> list[Scored]:
        """Return the answer to each query, all of them in one request."""
        requests = [_to_request(query) for query in queries]
        answers = self._call(lambda: self._client.query_batch_points(self._collection, requests))
        return [
            _to_scored(answer.points, query.limit) for answer, query in zip(answers, queries, strict=True)
        ]

    def count(self, where: Clause) -> int:
        """Return how many points `where` admits."""
        admitted = _to_filter(where)
        return self._call(
            lambda: self._client.count(self._collection, count_filter=admitted, exact=True)
        ).count

    def memory_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the memory ids that the payloads of `ids` hold."""
        found = self._call(
            lambda: self._client.retrieve(self._collection, list(ids), with_payload=[MEMORY_ID])
        )
        return {str(one.id): str(one.payload[MEMORY_ID]) for one in found if one.payload}

    def every_id(self) -> Iterator[tuple[str, str | None]]:
        """Yield every point id, page by page, with the memory id in its payload."""
        start: str | None = None
        while True:
            found, following = self._call(
                lambda start=start: self._client.scroll(
                    self._collection, limit=_PAGE, offset=start, with_payload=[MEMORY_ID]
                )
            )
            for one in found:
                yield str(one.id), (one.payload or {}).get(MEMORY_ID)
            if following is None:
                return
            start = str(following)

    def compact(self) -> None:
        """Do nothing: a server optimises by itself."""

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._client.close()

    def _call(self, action: Callable[[], _T]) -> _T:
        if self._closed:
            raise ClosedError
        with _translated(self._shown):
            return self._retrying(action)

    def _prepare(self) -> None:
        version = _parsed(self._call(self._client.info).version)
        if version < _OLDEST_SERVER:
            raise ConfigurationError(
                f"the Qdrant server at {self._shown} is {'.'.join(map(str, version))}; keyword scores of one "
                "user's own need 1.19 or newer: upgrade it, or use the faiss backend"
            )
        if not self._call(lambda: self._client.collection_exists(self._collection)):
            self._create()
        known = self._check()
        for field, kind in INDEXES.items():
            if field not in known:
                self._make_index(field, _index(field, kind, nested=version >= _NESTED_SINCE))

    def _create(self) -> None:
        threshold = max(1, GRAPH_FROM * self._dims * 4 // 1024)  # in KB of vectors
        dense = models.VectorParams(size=self._dims, distance=models.Distance.COSINE)
        try:
            self._call(
                lambda: self._client.create_collection(
                    self._collection,
                    vectors_config={DENSE: dense},
                    sparse_vectors_config={TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                    # Filters that admit less are scanned exactly, graph or not.
                    hnsw_config=models.HnswConfigDiff(full_scan_threshold=threshold),
                    shard_number=1,  # IDF is counted in each shard by itself
                )
            )
        except BackendError as error:
            cause = error.__cause__
            if not (isinstance(cause, UnexpectedResponse) and cause.status_code == 409):
                raise  # 409: another process made it first

    def _check(self) -> frozenset[str]:
        """Return the fields that are indexed; raise ConfigurationError where the collection is not ours."""
        info = self._call(lambda: self._client.get_collection(self._collection))
        params = info.config.params
        dense = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
        terms = (params.sparse_vectors or {}).get(TERMS)
        if dense is None or terms is None or terms.modifier != models.Modifier.IDF:
            raise ConfigurationError(
                f"the collection {self._collection!r} at {self._shown} was made by something else; "
                "name another collection"
            )
        if dense.size != self._dims:
            raise ConfigurationError(
                f"the collection {self._collection!r} holds vectors of {dense.size} dimensions, the embedder "
                f"gives {self._dims}; delete it, or name another one, and fill it with "
                "`hy-memory reindex --vectors qdrant`"
            )
        if params.shard_number not in (None, 1):
            raise ConfigurationError(
                f"the collection {self._collection!r} has {params.shard_number} shards, each of which would "
                "count word frequencies by itself; delete it and let this package make it"
            )
        return frozenset(info.payload_schema)

    def _make_index(self, field: str, schema: models.KeywordIndexParams | models.FloatIndexParams) -> None:
        self._call(
            lambda: self._client.create_payload_index(
                self._collection, field_name=field, field_schema=schema, wait=True
            )
        )


def _to_filter(clause: Clause) -> models.Filter:
    """Return `clause` in the client's classes."""
    return models.Filter(
        must=[_to_condition(part) for part in clause.must] or None,
        should=[_to_condition(part) for part in clause.should] or None,
        must_not=[_to_condition(part) for part in clause.must_not] or None,
    )


def _to_condition(part: Condition) -> models.Condition:
    if isinstance(part, Match):
        if len(part.values) == 1:
            return models.FieldCondition(key=part.key, match=models.MatchValue(value=part.values[0]))
        return models.FieldCondition(key=part.key, match=models.MatchAny(any=list(part.values)))
    if isinstance(part, Range):
        bounds = models.Range(gt=part.gt, gte=part.gte, lt=part.lt, lte=part.lte)
        return models.FieldCondition(key=part.key, range=bounds)
    if isinstance(part, Missing):
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=part.key))
    if isinstance(part, HasId):
        return models.HasIdCondition(has_id=list(part.ids))
    if isinstance(part, Nested):
        return models.NestedCondition(nested=models.Nested(key=part.key, filter=_to_filter(part.clause)))
    return _to_filter(part)


def _to_request(query: Query) -> models.QueryRequest:
    where = _to_filter(query.where)
    if isinstance(query, DenseQuery):
        return models.QueryRequest(query=query.vector.tolist(), using=DENSE, filter=where, limit=query.limit)
    if isinstance(query, SparseQuery):
        terms = models.SparseVector(indices=query.ids.tolist(), values=query.values.tolist())
        params = models.SearchParams(idf=models.IdfCorpusParams(corpus=_to_filter(query.corpus)))
        return models.QueryRequest(query=terms, using=TERMS, filter=where, params=params, limit=query.limit)
    return models.QueryRequest(filter=where, limit=query.limit)


def _to_scored(found: Sequence[models.ScoredPoint], limit: int) -> Scored:
    scores = np.fromiter((one.score for one in found), dtype=np.float64, count=len(found))
    return Scored([str(one.id) for one in found], scores, exhausted=len(found) < limit)


def _to_point(point: Point) -> models.PointStruct:
    terms = models.SparseVector(indices=point.terms.ids.tolist(), values=point.terms.weights.tolist())
    # A point without terms gets an empty vector all the same: only points that have one count in IDF.
    vectors: dict[str, models.Vector] = {DENSE: point.vector.tolist(), TERMS: terms}
    return models.PointStruct(id=point_id(point.id), vector=vectors, payload=to_payload(point))


def _index(field: str, kind: FieldType, nested: bool) -> models.KeywordIndexParams | models.FloatIndexParams:
    inside = NUMBERS if nested and is_number_part(field) else None
    if kind is FieldType.FLOAT:
        return models.FloatIndexParams(type=models.FloatIndexType.FLOAT, nested=inside)
    return models.KeywordIndexParams(
        type=models.KeywordIndexType.KEYWORD, is_tenant=kind is FieldType.TENANT or None, nested=inside
    )


def _parsed(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version such as "1.19.2-dev"."""
    major, minor, *_ = [*version.split("."), "0", "0"]
    return int(major) if major.isdigit() else 0, int(minor) if minor.isdigit() else 0


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code in _TRANSIENT
    return isinstance(error, ResponseHandlingException | ResourceExhaustedResponse)


@contextmanager
def _translated(url: str) -> Generator[None]:
    """Turn what the client raises into BackendError, or ConfigurationError for a refused key."""
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:
        if isinstance(error, UnexpectedResponse) and error.status_code in _REFUSED:
            raise ConfigurationError(f"the Qdrant server at {url} refuses the API key") from error
        raise BackendError(f"the Qdrant server at {url} failed: {error}") from error
