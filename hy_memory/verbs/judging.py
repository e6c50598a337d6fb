"""Asking a language model first: which scene a call belongs to, and what its question says in full."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hy_memory import answers, present
from hy_memory.deadline import within
from hy_memory.errors import InvalidArgumentError
from hy_memory.lifecycle import Lifecycle
from hy_memory.llm.judgement import Task
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.judged import Judged, apply
from hy_memory.reading.route import route
from hy_memory.values.lane import Lane, partition
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Degradation
from hy_memory.values.usage import Usage
from hy_memory.work.scope import CHAT
from hy_memory.work.trace import has_tools, parse_trace

_log = logging.getLogger("hy_memory")
PART = "llm"
Noted: TypeAlias = answers.SearchAnswer | answers.WriteAnswer | answers.ExtractAnswer


class Judging(Lifecycle):
    """The part of verbs that may ask a language model. Where there is none, nothing is asked."""

    def _task(
        self, mode: str, queries: Sequence[str] | None, *, has_scene: bool, has_layers: bool
    ) -> Task | None:
        """Return what to ask before a search; raises for a mode that needs a model where there is none."""
        settings = self._open().settings
        is_agentic = mode == "agentic" and not has_scene
        if not settings.llm.is_configured:
            if is_agentic:
                raise InvalidArgumentError(
                    "search_mode",
                    mode,
                    "it needs a language model: set MEMORY_LLM_BASE_URL, MEMORY_LLM_API_KEY or both",
                )
            return None
        task = route(
            is_agentic=is_agentic,
            has_scene=has_scene,
            has_context=queries is not None,
            is_long=sum(map(len, queries or ())) > settings.recall.query_rewrite_max_chars,
            # layers are of chat memory alone: who names some has named the scene
            coding=settings.coding.enabled and not has_layers,
            rewriting=settings.recall.query_rewrite,
        )
        return Task.QUERY if task is Task.BOTH and has_layers else task

    def _judged(self, task: Task | None, texts: Sequence[str], request: SearchRequest, scene: str) -> Judged:
        """Return what to search, and where; a model that fails leaves the question as it is."""
        runtime = self._open()
        model, recall = runtime.llm, runtime.settings.recall
        if task is None or model is None:
            return Judged(request, scene)
        from hy_memory.llm.judge import judge  # answers' shapes take 20 ms to make, and most ask no model

        zone, now = runtime.settings.timezone, request.asked_at
        outcome = guard(
            PART, lambda: within(recall.timeout, lambda: judge(model, task, texts, now=now, zone=zone))
        )
        if not isinstance(outcome, Guarded):
            return apply(outcome, request, scene)
        _log.warning("search %s: %s failed: %s", request.request_id, PART, outcome.degradation.error)
        if recall.raise_on_failure:
            raise outcome.error
        return Judged(request, scene, degraded=(outcome.degradation,))

    def _session_scene(self, data: object, user_id: str, request_id: str) -> Classified:
        """Return which scene messages belong to whose writer named none: chat, without the call of a tool.

        A write that is repeated goes where it went. A model that fails means chat, with a note.
        """
        runtime = self._open()
        model = runtime.llm if runtime.settings.coding.enabled and has_tools(data) else None
        if model is None:
            return Classified(CHAT)
        for lane in (None, *Lane) if request_id else ():
            whose = user_id if lane is None else partition(user_id, lane)
            if runtime.ledger.outcome(request_id, whose) is not None:
                return Classified(CHAT if lane is None else lane.value, is_open=True)
        from hy_memory.llm.judge import judge_session  # see above

        outcome = guard(PART, lambda: judge_session(model, parse_trace(data).told()))
        if not isinstance(outcome, Guarded):
            return Classified(outcome.scene or CHAT, is_open=True, usage=outcome.usage)
        _log.warning("add: %s failed: %s", PART, outcome.degradation.error)
        return Classified(CHAT, is_open=True, degraded=(outcome.degradation,))


@dataclass(frozen=True, slots=True)
class Classified:
    """Where a write goes; `usage` is None where no model was asked.

    `is_open`: it was for a model to say, so that a workspace is no mistake where it is chat.
    """

    scene: str
    is_open: bool = False
    usage: Usage | None = None
    degraded: tuple[Degradation, ...] = ()


def noted(answer: Noted, usage: Usage | None, degraded: Sequence[Degradation]) -> None:
    """Add to an answer what a model cost, and that it failed."""
    if usage is not None:
        answer["usage"] = present.usage(usage)
    if degraded:
        answer["degraded"] = [*present.degraded_parts(degraded), *answer.get("degraded", ())]
