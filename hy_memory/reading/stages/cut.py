"""Cut: of the hits in their final order, the best `top_k` are the answer."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.request import Explain
from hy_memory.values.result import Dropped


def cut(state: SearchState, ports: ReadPorts) -> SearchState:
    """Keep the first `top_k` of `hits`."""
    hits, top_k = state.hits or (), state.request.top_k
    if len(hits) <= top_k:
        return state
    dropped = state.dropped
    if state.request.explain is Explain.DROPPED:
        dropped += tuple(Dropped(hit.record.id, hit.score, "beyond limit") for hit in hits[top_k:])
    return replace(state, hits=hits[:top_k], dropped=dropped)
