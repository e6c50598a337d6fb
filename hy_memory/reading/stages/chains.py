"""Chains: a hit that was updated brings the texts it used to have; they never take a place of their own."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.result import Hit


def chains(state: SearchState, ports: ReadPorts) -> SearchState:
    """Attach the earlier versions of every hit that has any, newest first."""
    if not any(hit.record.version > 1 for hit in state.hits or ()):
        return state
    attached = guard("chain", lambda: tuple(_with_chain(hit, ports) for hit in state.hits or ()))
    if isinstance(attached, Guarded):
        return replace(state, failures=(*state.failures, attached))
    return replace(state, hits=attached)


def _with_chain(hit: Hit, ports: ReadPorts) -> Hit:
    return hit if hit.record.version == 1 else replace(hit, versions=ports.records.versions(hit.record.id))
