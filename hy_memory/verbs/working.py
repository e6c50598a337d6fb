"""Searching working and coding memory: what `search` does where its scene is one of these, or all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, cast

from hy_memory import answers
from hy_memory.lifecycle import Lifecycle
from hy_memory.pipeline import Guarded, guard
from hy_memory.plugins import CODE_HISTORY, load
from hy_memory.reading.state import Stage
from hy_memory.settings.switches import wants_chain_block
from hy_memory.values.lane import Lane
from hy_memory.values.request import SearchRequest
from hy_memory.verbs.attempt import attempt
from hy_memory.work import present
from hy_memory.work.answers import EverywhereAnswer, WorkAnswer
from hy_memory.work.readers import for_work
from hy_memory.work.request import WorkRequest
from hy_memory.work.search import ChainPorts, WorkResult, search_lane

Chained: TypeAlias = "Callable[[WorkResult, SearchRequest, ChainPorts], WorkResult]"


class Working(Lifecycle):
    """The part of searching that reads lanes."""

    def _search_lane(self, reader: str, request: WorkRequest) -> WorkAnswer:
        """Return a lane's answer; a reader that fails answers too, unless searches are to raise."""
        outcome = self._read_lane(reader, request)
        if isinstance(outcome, Guarded):
            return present.failed_work(request, outcome.degradation)
        return present.work_answer(request, outcome)

    def _search_everywhere(
        self, reader: str, chat: answers.SearchAnswer, requests: Sequence[WorkRequest]
    ) -> EverywhereAnswer:
        """Return the answer of chat memory with those of the lanes; a lane that fails leaves the others."""
        outcomes = [(one, self._read_lane(reader, one)) for one in requests]
        return present.everywhere_answer(chat, outcomes)

    def _found(self, stages: Sequence[Stage], request: WorkRequest) -> WorkResult:
        """Return what a lane holds; of coding memory with the history of the code, where it is wanted now."""
        runtime, search = self._open(), request.search
        found = search_lane(stages, search, request.experience_min_score, runtime.ports(search))
        section = runtime.settings.coding
        if request.lane is not Lane.CODING:
            return found
        wanted = guard("chain", partial(wants_chain_block, section))
        if isinstance(wanted, Guarded):
            return found.degraded_by(wanted)
        if not wanted:
            return found
        history = cast("Chained", load(CODE_HISTORY))
        return history(found, search, runtime.chain)

    def _read_lane(self, reader: str, request: WorkRequest) -> WorkResult | Guarded:
        runtime, search = self._open(), request.search
        stages = for_work(runtime.reader(reader))
        return attempt(
            search.request_id,
            lambda: self._found(stages, request),
            runtime.settings.recall,
            self._open,
        )
