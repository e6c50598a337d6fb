"""Turns: the users' conversations, for the stages that look at who said what when."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.state import ReadPorts, SearchState

PART = "episode"
"""What `degraded` calls it when conversations cannot be read."""


def turns(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `turns` with each user's, where the search wants hits."""
    conversations = ports.conversations
    if conversations is None or state.request.top_k == 0:
        return state
    users = guard(PART, lambda: tuple([conversations.of(one) for one in state.request.where.user_ids]))
    if isinstance(users, Guarded):
        return replace(state, failures=(*state.failures, users))
    return replace(state, turns=users)
