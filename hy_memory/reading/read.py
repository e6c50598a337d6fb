"""One search: a request through a reader's stages to a result."""

from __future__ import annotations

from collections.abc import Sequence

from hy_memory.pipeline import run, run_traced
from hy_memory.reading.state import ReadPorts, SearchState, Stage
from hy_memory.values.request import Explain, SearchRequest
from hy_memory.values.result import SearchResult


def read(stages: Sequence[Stage], request: SearchRequest, ports: ReadPorts) -> SearchResult:
    """Return what the reader made of `stages` finds. Raises what the last working part raised."""
    state = SearchState(request)
    if request.explain is Explain.NO:
        state, trace = run(stages, state, ports), ()
    else:
        state, trace = run_traced(stages, state, ports)
    return SearchResult(
        hits=state.hits or (),
        episodes=state.episodes,
        schemas=state.schemas,
        intentions=state.intentions,
        degraded=tuple(failure.degradation for failure in state.failures),
        errors=tuple(failure.error for failure in state.failures),
        trace=trace,
        windows=state.windows,
        dropped=state.dropped,
    )
