"""From what a lane holds to the contract's dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from hy_memory import answers, present
from hy_memory.pipeline import Guarded
from hy_memory.values.lane import Lane
from hy_memory.values.result import Degradation, Hit
from hy_memory.work.answers import (
    EverywhereAnswer,
    ExperienceItem,
    FactDetail,
    FactItem,
    FailedCoding,
    FailedWork,
    LaneError,
    SucceededCoding,
    SucceededWork,
    WorkAnswer,
)
from hy_memory.work.experience import experience_of
from hy_memory.work.merge import fair
from hy_memory.work.request import WorkRequest
from hy_memory.work.scope import CHAT, EVERYWHERE, place_of
from hy_memory.work.search import FoundExperience, WorkResult, fact_of_hit


def work_answer(request: WorkRequest, result: WorkResult) -> WorkAnswer:
    """Return a lane's answer; the caller sets `elapsed_ms`."""
    answer: SucceededWork = {
        "request_id": request.search.request_id,
        "scene": request.lane.value,
        "facts": [_fact(hit, result) for hit in result.facts],
        "experiences": [_experience(one) for one in result.experiences],
        "rewrite": present.rewrite(request.search, request.lane.value),
        "elapsed_ms": 0.0,
    }
    if result.degraded:
        answer["degraded"] = present.degraded_parts(result.degraded)
    if result.trace:
        answer["trace"] = {"stages": present.stages(result.trace)}
    if request.lane is Lane.WORKING:
        return answer
    coding: SucceededCoding = {
        **answer,
        "chain_block": result.chain.text,
        "chain_used": list(result.chain.used),
    }
    return coding


def failed_work(request: WorkRequest, why: Degradation) -> WorkAnswer:
    """Return the answer of a lane whose reader failed."""
    answer: FailedWork = {
        "request_id": request.search.request_id,
        "scene": request.lane.value,
        "facts": [],
        "experiences": [],
        "elapsed_ms": 0.0,
        "degraded": present.degraded_parts((why,)),
    }
    if request.lane is Lane.WORKING:
        return answer
    coding: FailedCoding = {**answer, "chain_block": "", "chain_used": []}
    return coding


def everywhere_answer(
    chat: answers.SearchAnswer, outcomes: Sequence[tuple[WorkRequest, WorkResult | Guarded]]
) -> EverywhereAnswer:
    """Return the answers of all scenes as one; the caller sets `elapsed_ms`."""
    found = [(request, one) for request, one in outcomes if not isinstance(one, Guarded)]
    limit = outcomes[0][0].search.top_k
    shown = fair([[(hit.score, (hit, one)) for hit in one.facts] for _, one in found], limit)
    learned = fair([[(hit.hit.score, hit) for hit in one.experiences] for _, one in found], limit)
    answer: EverywhereAnswer = {
        "request_id": chat["request_id"],
        "scene": EVERYWHERE,
        "memories": chat["memories"],
        "facts": [_fact(hit, one) for hit, one in shown],
        "experiences": [_experience(one) for one in learned],
        "errors": _errors(chat, outcomes),
        "chain_block": "\n".join(one.chain.text for _, one in found if one.chain.text),
        "chain_used": [at for at, (hit, one) in enumerate(shown) if _is_in_block(hit, one)],
        "elapsed_ms": 0.0,
    }
    if "rewrite" in chat:
        answer["rewrite"] = chat["rewrite"]
    degraded = [*chat.get("degraded", ())] if "rewrite" in chat else []
    degraded += [part for _, one in found for part in present.degraded_parts(one.degraded)]
    if degraded:
        answer["degraded"] = degraded
    return answer


def _is_in_block(hit: Hit, result: WorkResult) -> bool:
    """Return whether the block of a lane's answer shows what a fact of it did."""
    return any(result.facts[at] is hit for at in result.chain.used)


def _errors(
    chat: answers.SearchAnswer, outcomes: Sequence[tuple[WorkRequest, WorkResult | Guarded]]
) -> list[LaneError]:
    """Return which scenes could not be read at all."""
    of_chat = [] if "rewrite" in chat else [_error(CHAT, one) for one in chat.get("degraded", ())]
    of_lanes = [
        _error(request.lane, present.degraded_parts((outcome.degradation,))[0])
        for request, outcome in outcomes
        if isinstance(outcome, Guarded)
    ]
    return of_chat + of_lanes


def _error(scene: str, why: answers.DegradedPart) -> LaneError:
    return {"scene": str(scene), "error": why["error"], "retryable": why["retryable"]}


def _fact(hit: Hit, result: WorkResult) -> FactItem:
    record, fact, place = hit.record, fact_of_hit(hit), place_of(hit.record)
    details: list[FactDetail] = [
        {"memory_id": one.raw_id, "at": one.at, "kind": one.kind, "text": one.preview} for one in fact.details
    ]
    return {
        "fact_id": record.id,
        "statement": record.content,
        "subject": fact.subject,
        "files": list(fact.files),
        "details": details,
        "fact_chain_summary": fact.chain_summary,
        "workspace_id": place.workspace_id,
        "branch": place.branch,
        "derived_experience_ids": list(result.experience_ids.get(record.id, ())),
        "created_at": record.created_at,
        "score": hit.score,
        "source": record.source,
    }


def _experience(found: FoundExperience) -> ExperienceItem:
    record = found.hit.record
    learned, place = experience_of(record), place_of(record)
    return {
        "experience_id": record.id,
        "task": learned.task,
        "search_keys": list(learned.search_keys),
        "solution": learned.solution,
        "boundary_envs": list(learned.boundary),
        "confidence": learned.confidence,
        "workspace_id": place.workspace_id,
        "branch": place.branch,
        "files": list(learned.files),
        "source_fact_ids": list(learned.fact_ids),
        "via": found.via,
        "matched_key": found.matched_key,
        "score": found.hit.score,
        "updated_at": record.updated_at,
        "source": record.source,
    }
