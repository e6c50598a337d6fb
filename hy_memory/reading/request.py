"""From the arguments of `search` to a request; every mistake is found here, before any backend is touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.parse import parse_filter
from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import And, Compare, Filter, Not, Op, Or, all_of, one_of
from hy_memory.ports import Embedder
from hy_memory.values import check
from hy_memory.values.instant import LATEST, is_date_only, to_epoch
from hy_memory.values.point import FloatArray
from hy_memory.values.record import NORMAL_LAYERS, Layer, Status
from hy_memory.values.request import BucketRequest, Explain, SearchRequest
from hy_memory.values.vectors import unit_rows

_DAY = 86_400.0
SCENES = ("chat", "working", "coding", "all")
SEARCH_MODES = ("default", "agentic")
MIXED = "mixed"
"""The source of a memory derived from several; left out under any source filter that does not name it."""
_ACTIVE = Compare("status", Op.EQ, Status.ACTIVE.value)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request takes from the client that is asked: its clock, its embedder, and its settings.

    Where it `reranks`, `pool_factor` times `limit` hits are chosen from; `neighbours` are shown with a hit.
    """

    now: float
    new_id: Callable[[], str]
    embedder: Embedder
    reranks: bool
    pool_factor: int
    neighbours: int


def search_request(
    asked: Asked,
    question: str,
    *,
    include_sources: object,
    exclude_sources: object,
    limit: object,
    min_score: object,
    schema_limit: object,
    schema_min_score: object,
    intention_limit: object,
    created_after: object,
    created_before: object,
    layers: object,
    query_embedding: object,
    rerank: object,
    request_id: object,
    as_of: object,
    explain: object,
    **scope_of: object,
) -> SearchRequest:
    """Return the request for `search`, its arguments checked; `scope_of` are users, agents … and filters."""
    moment = parse_as_of(as_of, asked.now)
    now = asked.now if moment is None else moment
    least, least_schema = (
        check.score("min_score", min_score),
        check.score("schema_min_score", schema_min_score),
    )
    scope = parse_scope(
        include_sources=include_sources,
        exclude_sources=exclude_sources,
        created_after=created_after,
        created_before=created_before,
        **scope_of,
    )
    sources = parse_sources(include_sources, exclude_sources)
    where = current(scope, sources)
    reranked = check.flag("rerank", rerank) and asked.reranks
    top_k = check.count("limit", limit)
    return SearchRequest(
        request_id=asked.new_id() if request_id is None else check.identifier("request_id", request_id),
        query=question,
        where=within(where, searchable_layers(layers, now)),
        top_k=top_k,
        pool=top_k * asked.pool_factor if reranked else top_k,
        min_score=least,
        schemas=bucket(where, layers, Layer.L6_SCHEMA, schema_limit, min_score=least_schema, now=now),
        intentions=bucket(where, layers, Layer.L7_INTENTION, intention_limit, min_score=least, now=now),
        asked_at=now,
        created_after=None if created_after is None else to_epoch("created_after", created_after),
        created_before=None if created_before is None else parse_until("created_before", created_before),
        query_embedding=parse_embedding(query_embedding, asked.embedder),
        rerank=reranked,
        neighbours=asked.neighbours,
        explain=parse_explain(explain),
        as_of=moment,
        sources=sources,
        scope=where.tree,
    )


def parse_queries(query: object, queries: object) -> tuple[str, ...]:
    """Return `query`, or `queries`: the last one is the question, earlier ones are its context."""
    if (query is None) == (queries is None):
        raise InvalidArgumentError("query", query, "give exactly one of query and queries")
    if query is not None:
        return (check.text("query", query),)
    if isinstance(queries, str) or not isinstance(queries, list | tuple) or not queries:
        raise InvalidArgumentError("queries", queries, "give a non-empty list of texts")
    return tuple(check.text(f"queries[{at}]", one) for at, one in enumerate(queries))


def parse_scope(
    *,
    user_ids: object,
    agent_ids: object = None,
    session_ids: object = None,
    include_sources: object = None,
    exclude_sources: object = None,
    created_after: object = None,
    created_before: object = None,
    filters: object = None,
) -> ScopedFilter:
    """Return what the caller may see and wants to: the scope of a search, a list, or a delete."""
    parts: list[Filter] = []
    for field, name, value in (
        ("agent_id", "agent_ids", agent_ids),
        ("session_id", "session_ids", session_ids),
    ):
        ids = check.optional_identifiers(name, value)
        if ids:
            parts.append(one_of(field, ids))
    parts.extend(_sources(include_sources, exclude_sources))
    parts.extend(_period(created_after, created_before))
    if filters is not None:
        parts.append(parse_filter(filters))
    return scoped(check.identifiers("user_ids", user_ids), all_of(*parts))


def parse_sources(include: object, exclude: object) -> Filter | None:
    """Return the source filter, None where neither list names anything."""
    parts = _sources(include, exclude)
    return all_of(*parts) if parts else None


def current(where: ScopedFilter, sources: Filter | None) -> ScopedFilter:
    """Return what of a scope may be found: active records; under a source filter superseded ones too.

    Whether a superseded one is the newest that the sources admit takes its chain to tell: see `wall`.
    """
    return within(where, _ACTIVE) if sources is None else where


def searchable_layers(layers: object, now: float) -> Filter:
    """Return the filter of the `normal` bucket at `now`: its layers, without what has expired.

    An intention joins as an ordinary fact from the moment of its expiry (inclusive); every other
    memory is hidden from that moment.
    """
    normal, intentions = _kinds(parse_layers(layers))
    expired = Compare("expires_at", Op.LTE, now)
    fresh = And((normal, Not(expired)))
    return Or((fresh, And((intentions, expired)))) if intentions else fresh


def bucket(
    where: ScopedFilter, layers: object, layer: Layer, limit: object, *, min_score: float, now: float
) -> BucketRequest:
    """Return what the bucket of one `layer` may hold at `now`: nothing expired; off at limit 0."""
    wanted = parse_layers(layers)
    most = check.whole("schema_limit" if layer is Layer.L6_SCHEMA else "intention_limit", limit)
    if most == 0 or (wanted and layer not in wanted):
        return BucketRequest(layer, None, most, min_score)
    open_ones = And((Compare("layer", Op.EQ, layer.value), Not(Compare("expires_at", Op.LTE, now))))
    return BucketRequest(layer, within(where, open_ones), most, min_score)


@lru_cache(maxsize=256)
def _kinds(wanted: tuple[Layer, ...]) -> tuple[Filter, Filter | None]:
    """Return the filter of the normal layers among `wanted`, and that of intentions if they are."""
    normal = Compare("layer", Op.IN, tuple(one.value for one in NORMAL_LAYERS if not wanted or one in wanted))
    if wanted and Layer.L7_INTENTION not in wanted:
        return normal, None
    return normal, Compare("layer", Op.EQ, Layer.L7_INTENTION.value)


def parse_layers(layers: object) -> tuple[Layer, ...]:
    """Return the layers of a list; None and an empty list mean all of them."""
    names = check.optional_identifiers("layers", layers)
    for name in names:
        if name not in tuple(Layer):
            raise InvalidArgumentError("layers", name, f"unknown layer; use some of {', '.join(Layer)}")
    return tuple(Layer(name) for name in names)


def parse_embedding(value: object, embedder: Embedder) -> FloatArray | None:
    """Return the caller's own query vector (dims,) at unit length."""
    return None if value is None else unit_rows("query_embedding", [value], 1, embedder.dims)[0]


def parse_explain(value: object) -> Explain:
    """Return how much the answer shall tell about itself: False, True or "dropped"."""
    if isinstance(value, str) and value == Explain.DROPPED.value:
        return Explain.DROPPED
    return Explain.KEPT if check.flag("explain", value) else Explain.NO


def _sources(include: object, exclude: object) -> Sequence[Filter]:
    allowed, denied = (
        check.source_names("include_sources", include),
        check.source_names("exclude_sources", exclude),
    )
    parts: list[Filter] = []
    if allowed:
        parts.append(one_of("source", allowed))
    if denied:
        parts.append(Not(one_of("source", denied)))
    if parts and MIXED not in allowed:
        parts.append(Not(Compare("source", Op.EQ, MIXED)))
    return parts


def _period(after: object, before: object) -> Sequence[Filter]:
    """Return the bounds on event time, both inclusive; a bare day as upper bound includes that whole day."""
    parts: list[Filter] = []
    if after is not None:
        parts.append(Compare("event_at", Op.GTE, to_epoch("created_after", after)))
    if before is not None:
        parts.append(Compare("event_at", Op.LTE, parse_until("created_before", before)))
    return parts


def parse_as_of(value: object, now: float) -> float | None:
    """Return the earlier moment that is asked about; None for now, which a later one means too."""
    at = None if value is None else parse_until("as_of", value)
    return None if at is None or at >= now else at


def parse_until(name: str, value: object) -> float:
    """Return an upper bound, inclusive; a bare day includes that whole day."""
    bound = to_epoch(name, value)
    whole_day = is_date_only(value) and bound + _DAY < LATEST
    return math.nextafter(bound + _DAY, bound) if whole_day else bound


def within(where: ScopedFilter, *narrower: Filter) -> ScopedFilter:
    """Return the same users' scope, narrowed further."""
    return scoped(where.user_ids, all_of(where.tree, *narrower))


def parse_mode(search_mode: object) -> str:
    """Return the mode of a search."""
    if not isinstance(search_mode, str) or search_mode not in SEARCH_MODES:
        raise InvalidArgumentError("search_mode", search_mode, f"give one of {', '.join(SEARCH_MODES)}")
    return str(search_mode)
