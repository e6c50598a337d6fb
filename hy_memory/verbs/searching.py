"""Searching: a question in, memories out; arguments are checked before anything is touched."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from hy_memory import answers, present
from hy_memory.aio import twin
from hy_memory.pipeline import Guarded
from hy_memory.reading.context import Context, build
from hy_memory.reading.read import read
from hy_memory.reading.request import parse_mode, parse_queries, search_request
from hy_memory.values import check
from hy_memory.values.point import FloatArray
from hy_memory.values.request import SearchRequest
from hy_memory.verbs.arguments import Moment
from hy_memory.verbs.attempt import attempt
from hy_memory.verbs.judging import Judging, noted
from hy_memory.verbs.working import Working
from hy_memory.work.request import (
    WorkRequest,
    lanes_of,
    parse_scene,
    parse_thresholds,
    refuse_mismatch,
    work_request,
)
from hy_memory.work.scope import CHAT, EVERYWHERE, parse_place

_log = logging.getLogger("hy_memory")


class Searching(Working, Judging):
    """The verbs that answer questions."""

    def search(
        self,
        query: str | None = None,
        *,
        queries: Sequence[str] | None = None,
        user_ids: Sequence[str],
        agent_ids: Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
        include_sources: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        limit: int = 10,
        min_score: float = 0.4,
        schema_limit: int = 10,
        schema_min_score: float = 0.4,
        intention_limit: int = 0,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        layers: Sequence[str] | None = None,
        reader: str = "",
        scene: str | None = None,
        search_mode: str = "default",
        workspace_id: str | None = None,
        branch: str | None = None,
        working_fact_min_score: float = 0.30,
        working_experience_min_score: float | None = None,
        query_embedding: Sequence[float] | FloatArray | None = None,
        rerank: bool = True,
        request_id: str | None = None,
        filters: Mapping[str, object] | None = None,
        as_of: Moment | None = None,
        explain: bool | Literal["dropped"] = False,
    ) -> answers.SearchAnswer:
        """Return the memories that answer a question, best first.

        `score` is in [0, 1], comparable across questions, and what `min_score` gates. All filters
        act before the best are chosen. A reader that fails answers with empty buckets and
        `degraded`, unless MEMORY_SEARCH_RAISE is set. docs/reference/search.md has every argument.

        Raises:
            InvalidArgumentError: an argument cannot be meant; nothing was touched.
        """
        started = time.perf_counter()
        wanted, place = parse_scene(scene), parse_place(workspace_id, branch)
        refuse_mismatch(wanted, place, layers)
        texts = parse_queries(query, queries)
        task = self._task(
            parse_mode(search_mode),
            None if queries is None else texts,
            has_scene=scene is not None,
            has_layers=bool(layers),
        )
        thresholds = parse_thresholds(working_fact_min_score, working_experience_min_score)
        request = search_request(
            self._open().asked(),
            texts[-1],
            user_ids=user_ids,
            agent_ids=agent_ids,
            session_ids=session_ids,
            include_sources=include_sources,
            exclude_sources=exclude_sources,
            limit=limit,
            min_score=min_score,
            schema_limit=schema_limit,
            schema_min_score=schema_min_score,
            intention_limit=intention_limit,
            created_after=created_after,
            created_before=created_before,
            layers=layers,
            query_embedding=query_embedding,
            rerank=rerank,
            request_id=request_id,
            filters=filters,
            as_of=as_of,
            explain=explain,
        )
        reader = check.string("reader", reader)
        judged = self._judged(task, texts, request, wanted)
        lanes = [work_request(judged.request, lane, place, thresholds) for lane in lanes_of(judged.scene)]
        answer = self._answer(judged.scene, reader, judged.request, lanes)
        noted(answer, judged.usage, judged.degraded)
        answer["elapsed_ms"] = (time.perf_counter() - started) * 1000
        return answer

    def _answer(
        self, scene: str, reader: str, request: SearchRequest, lanes: Sequence[WorkRequest]
    ) -> answers.SearchAnswer:
        """Return the answer of a scene; a lane's is typed as `search` is, and shaped as its own."""
        if scene == CHAT:
            return self._read(reader, request)
        if scene == EVERYWHERE:
            whole = self._search_everywhere(reader, self._read(reader, request), lanes)
            return cast("answers.SearchAnswer", whole)
        return cast("answers.SearchAnswer", self._search_lane(reader, lanes[0]))

    def _read(self, reader: str, request: SearchRequest) -> answers.SearchAnswer:
        runtime = self._open()
        stages = runtime.reader(reader)
        outcome = attempt(
            request.request_id,
            lambda: read(stages, request, runtime.ports(request)),
            runtime.settings.recall,
            self._open,
        )
        if isinstance(outcome, Guarded):
            return present.failed_answer(request.request_id, (outcome.degradation,))
        if runtime.learner is not None and request.as_of is None:
            runtime.learner.note([hit.record.id for hit in outcome.hits], request.asked_at)
        return present.search_answer(outcome, request)

    def context(
        self,
        query: str,
        *,
        user_ids: Sequence[str],
        max_tokens: int = 1000,
        limit: int = 30,
        min_score: float = 0.4,
        intention_limit: int = 3,
        reader: str = "",
        include_sources: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        as_of: Moment | None = None,
    ) -> Context:
        """Return the memories that answer a question as one block for a prompt, within `max_tokens`.

        Dated, grouped by bucket, and quoted so that recalled text cannot pose as instructions. Tokens
        are estimated: a quarter of the characters, one for each character of scripts without spaces.
        """
        budget = check.count("max_tokens", max_tokens)
        answer = self.search(
            query,
            user_ids=user_ids,
            limit=limit,
            min_score=min_score,
            intention_limit=intention_limit,
            reader=reader,
            include_sources=include_sources,
            exclude_sources=exclude_sources,
            as_of=as_of,
        )
        return build(answer, budget)

    async_search = twin(search)
    async_context = twin(context)
