"""Embed: the query as a vector."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.identity import check_same, identity_of
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.stages.buckets import is_open
from hy_memory.reading.state import ReadPorts, SearchState


def embed(state: SearchState, ports: ReadPorts) -> SearchState:
    """Set `vector`: the caller's own, or the embedded query; a failure leaves it to the other legs."""
    request = state.request
    if request.top_k == 0 and not is_open(request.schemas, ports) and not is_open(request.intentions, ports):
        return state
    same = guard("embedder", lambda: check_same(ports.records.embedder(), identity_of(ports.embedder)))
    if isinstance(same, Guarded):  # another process made the vectors anew, with another model
        return replace(state, failures=(*state.failures, same))
    if request.query_embedding is not None:
        return replace(state, vector=request.query_embedding)
    vector = guard("embedder", lambda: ports.embedder.embed_query(request.query))
    if isinstance(vector, Guarded):
        return replace(state, failures=(*state.failures, vector))
    return replace(state, vector=vector)
