"""From results to the contract's dictionaries: what leaves the client."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from hy_memory import answers
from hy_memory.answers import (
    ChainEntry,
    DegradedPart,
    DeleteAnswer,
    Event,
    FailedSearch,
    FoldedItem,
    FoundItem,
    LLMUsage,
    Neighbour,
    ProfileAnswer,
    ProfileField,
    ProfilePeriod,
    Rewrite,
    StoredItem,
    StoredVersion,
    SucceededSearch,
    Trace,
    UseAnswer,
    WriteAnswer,
)
from hy_memory.dynamics.learned import now_of
from hy_memory.dynamics.salience import DAY, faded
from hy_memory.profile.fold import FieldHistory, Period, Profile
from hy_memory.values.lane import lane_of, user_of
from hy_memory.values.record import Json, MemoryRecord, RecordVersion, Status, is_reserved
from hy_memory.values.request import Explain, SearchRequest
from hy_memory.values.result import ChainText, Degradation, Episode, Hit, SearchResult, StageTrace
from hy_memory.values.turn import Turn
from hy_memory.values.usage import Usage
from hy_memory.values.use import Sector, Use
from hy_memory.values.write import Change, Written


def profile_answer(user_id: str, made: Profile) -> ProfileAnswer:
    """Return a profile as callers see it."""
    return {"user_id": user_id, "basic_info": {one.field.value: _profile_field(one) for one in made.fields}}


def _profile_field(known: FieldHistory) -> ProfileField:
    current = known.current
    return {
        "value": current.value if current else None,
        "memory_ids": list(current.memory_ids) if current else [],
        "since": current.first_at if current else None,
        "updated_at": current.last_at if current else None,
        "history": [_profile_period(one) for one in known.history],
    }


def _profile_period(period: Period) -> ProfilePeriod:
    return {
        "value": period.value,
        "first_at": period.first_at,
        "last_at": period.last_at,
        "memory_ids": list(period.memory_ids),
        "is_past": period.is_past,
    }


def write_answer(written: Written, started: float, scene: str = "chat") -> WriteAnswer:
    """Return the answer of a write that began at `started` (of `time.perf_counter`)."""
    return {
        "success": True,
        "scene": scene,
        "memory_id": written.memory_ids[0],
        "memory_ids": list(written.memory_ids),
        "deduplicated": list(written.deduplicated),
        "searchable": written.searchable,
        "request_id": written.request_id,
        "elapsed_ms": (time.perf_counter() - started) * 1000,
    }


def delete_answer(deleted: int) -> DeleteAnswer:
    """Return the answer of a delete."""
    return {"success": True, "deleted_count": deleted}


def search_answer(result: SearchResult, request: SearchRequest) -> SucceededSearch:
    """Return a successful answer; the caller sets `elapsed_ms`."""
    explain = request.explain
    answer: SucceededSearch = {
        "request_id": request.request_id,
        "memories": {
            "normal": [_hit(hit, explain) for hit in result.hits],
            "schema": [_hit(hit, explain) for hit in result.schemas],
            "proactive": [_hit(hit, explain) for hit in result.intentions],
        },
        "rewrite": rewrite(request, "normal"),
        "elapsed_ms": 0.0,
    }
    if result.episodes:
        _accompany(answer["memories"]["normal"], result.episodes)
    if result.degraded:
        answer["degraded"] = degraded_parts(result.degraded)
    if explain is not Explain.NO:
        answer["trace"] = _trace(result, explain)
    return answer


def rewrite(request: SearchRequest, scene: str) -> Rewrite:
    """Return what became of the question before it was searched for."""
    told: Rewrite = {
        "used": request.is_rewritten,
        "original_query": request.original_query or request.query,
        "effective_query": request.query,
        "created_after": request.created_after,
        "scene": scene,
    }
    if request.is_rewritten and request.created_before is not None:
        told["created_before"] = request.created_before
    return told


def usage(spent: Usage) -> LLMUsage:
    """Return what a language model was asked and what it counted."""
    return {
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
    }


def failed_answer(request_id: str, degraded: Sequence[Degradation]) -> FailedSearch:
    """Return the answer of a reader that failed: empty buckets, no `rewrite`, and why."""
    return {
        "request_id": request_id,
        "memories": {"normal": [], "schema": [], "proactive": []},
        "elapsed_ms": 0.0,
        "degraded": degraded_parts(degraded),
    }


def degraded_parts(parts: Sequence[Degradation]) -> list[DegradedPart]:
    """Return the notes on failed parts."""
    return [{"part": one.part, "error": one.error, "retryable": one.retryable} for one in parts]


def item(record: MemoryRecord) -> StoredItem:
    """Return a record as `get` and `list_memories` show it."""
    shown: StoredItem = {
        "memory_id": record.id,
        "content": record.content,
        "layer": record.layer.value,
        "user_id": user_of(record.user_id),
        "scene": lane_of(record.user_id) or "chat",
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "source": record.source,
        "owner": record.owner,
        "tags": list(record.tags),
        "memory_at": record.memory_at,
        "gmt_created": record.created_at,
        "gmt_modified": record.updated_at,
        "expires_at": record.expires_at,
        "meta": _own(record),
        "status": record.status.value,
        "version": record.version,
        "supersedes": record.supersedes,
        "superseded_by": record.superseded_by,
        "evidence_ids": list(record.evidence_ids),
    }
    if record.part_of is not None and record.position is not None:
        shown["part_of"], shown["position"] = record.part_of, record.position
    return shown


def _own(record: MemoryRecord) -> dict[str, Json]:
    """Return the caller's own metadata: in a lane there is some of ours beside it."""
    return {key: value for key, value in record.attributes.items() if not is_reserved(record, key)}


def use_answer(record: MemoryRecord, use: Use | None, begun: tuple[Sector, float], now: float) -> UseAnswer:
    """Return how a memory was used, as of `now`; `begun` is its sector and salience when it was new."""
    sector, start = begun
    if use is None:
        salience = faded(start, (now - record.created_at) / DAY, sector)
        use = Use(record.id, record.user_id, salience, now, start, sector)
    return {
        "memory_id": record.id,
        "sector": use.sector.value,
        "salience": now_of(use, now),
        "began_at": use.begun,
        "pinned": use.is_pinned,
        "uses": use.uses,
        "restated": use.restated,
        "last_used_at": use.used_at,
    }


def version(one: RecordVersion) -> StoredVersion:
    """Return a text that a memory used to have."""
    return {
        "memory_id": one.memory_id,
        "version": one.version,
        "content": one.content,
        "memory_at": one.memory_at,
        "recorded_at": one.recorded_at,
        "replaced_at": one.replaced_at,
    }


def event(one: Change) -> Event:
    """Return one event of a history."""
    return {
        "memory_id": one.memory_id,
        "user_id": user_of(one.user_id),
        "event": one.kind.value,
        "version": one.version,
        "at": one.at,
        "content": one.content,
    }


def _hit(hit: Hit, explain: Explain) -> FoundItem:
    record = hit.record
    shown: FoundItem = {
        "memory_id": record.id,
        "content": record.content,
        "score": hit.score,
        "layer": record.layer.value,
        "user_id": record.user_id,
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "source": record.source,
        "retrieval_source": hit.retrieval_source,
        "owner": record.owner,
        "tags": list(record.tags),
        "memory_at": record.memory_at,
        "gmt_created": record.created_at,
        "meta": dict(record.attributes),
    }
    if hit.rerank_score is not None:
        shown["rerank_score"] = hit.rerank_score
    if record.part_of is not None and record.position is not None:
        shown["part_of"], shown["position"] = record.part_of, record.position
    if record.status is Status.SUPERSEDED:
        shown["superseded_elsewhere"] = True
    if hit.chain:
        shown["evolution_chain"] = _chain(hit)
    if hit.folded:
        shown["folded"] = [_folded(one) for one in hit.folded]
    if explain is not Explain.NO:
        shown["evidence"] = [{"leg": one.leg, "rank": one.rank, "score": one.score} for one in hit.evidence]
    return shown


def _accompany(items: Sequence[FoundItem], episodes: Mapping[str, Episode]) -> None:
    """Add to `items` the episodes they have."""
    for item in items:
        episode = episodes.get(item["memory_id"])
        if episode is not None:
            item["episode_id"] = episode.id
            item["capsule_memories"] = [_neighbour(record) for record in episode.neighbours]
            item["timeline"] = [
                {"memory_id": turn.id, "memory_at": turn.event_at} for turn in episode.timeline
            ]


def _neighbour(record: MemoryRecord | Turn) -> Neighbour:
    return {
        "memory_id": record.id,
        "content": record.content or "",
        "layer": record.layer.value,
        "source": record.source,
        "owner": record.owner,
        "memory_at": record.memory_at,
        "gmt_created": record.created_at,
    }


def _folded(record: MemoryRecord) -> FoldedItem:
    return {
        "memory_id": record.id,
        "content": record.content,
        "source": record.source,
        "memory_at": record.memory_at,
        "gmt_created": record.created_at,
    }


def _chain(hit: Hit) -> list[ChainEntry]:
    """Return the text of a hit and those before it; each with when it was recorded."""
    record = hit.record
    now = ChainText(record.id, record.content, record.memory_at, record.updated_at, record.layer)
    return [
        {
            "memory_id": one.memory_id,
            "content": one.content,
            "memory_at": one.memory_at,
            "gmt_created": one.recorded_at,
            "layer": one.layer.value,
        }
        for one in (now, *hit.chain)
    ]


def stages(trace: Sequence[StageTrace]) -> list[answers.StageTrace]:
    """Return what each stage took."""
    return [
        {"stage": one.stage, "ms": one.milliseconds, "in": one.candidates_in, "out": one.candidates_out}
        for one in trace
    ]


def _trace(result: SearchResult, explain: Explain) -> Trace:
    trace: Trace = {"stages": stages(result.trace)}
    if result.windows:
        trace["times"] = [
            {"words": one.surface, "start": one.start, "end": one.end} for one in result.windows
        ]
    if explain is Explain.DROPPED:
        trace["dropped"] = [
            {"memory_id": one.memory_id, "score": one.score, "reason": one.reason} for one in result.dropped
        ]
    return trace
