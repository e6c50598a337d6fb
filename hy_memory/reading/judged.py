"""A search after a language model was asked: the scene, and a request for what is really meant."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hy_memory.filters.tree import Compare, Filter, Op, all_of
from hy_memory.llm.judgement import Judgement
from hy_memory.reading.request import within
from hy_memory.values.request import BucketRequest, SearchRequest
from hy_memory.values.result import Degradation
from hy_memory.values.usage import Usage


@dataclass(frozen=True, slots=True)
class Judged:
    """What will be searched, and where. `usage` is None where no model was asked."""

    request: SearchRequest
    scene: str
    usage: Usage | None = None
    degraded: tuple[Degradation, ...] = ()


def apply(judgement: Judgement, request: SearchRequest, scene: str) -> Judged:
    """Return `request` as `judgement` understands it, in its scene; in `scene` where it names none."""
    period = _period(judgement)
    narrowed = replace(
        request,
        query=judgement.query or request.query,
        original_query=request.query,
        is_rewritten=judgement.query is not None,
        where=within(request.where, *period),
        schemas=_narrowed(request.schemas, period),
        intentions=_narrowed(request.intentions, period),
        scope=all_of(request.scope, *period),
        created_after=_later(request.created_after, judgement.after),
        created_before=_earlier(request.created_before, judgement.before),
    )
    return Judged(narrowed, judgement.scene or scene, judgement.usage)


def _period(judgement: Judgement) -> tuple[Filter, ...]:
    bounds = ((Op.GTE, judgement.after), (Op.LTE, judgement.before))
    return tuple(Compare("event_at", op, bound) for op, bound in bounds if bound is not None)


def _narrowed(bucket: BucketRequest, period: tuple[Filter, ...]) -> BucketRequest:
    return bucket if bucket.where is None else replace(bucket, where=within(bucket.where, *period))


def _later(one: float | None, other: float | None) -> float | None:
    known = [bound for bound in (one, other) if bound is not None]
    return max(known, default=None)


def _earlier(one: float | None, other: float | None) -> float | None:
    known = [bound for bound in (one, other) if bound is not None]
    return min(known, default=None)
