"""Finalizing a session: its current episode ends, and whatever is stored later begins a new one."""

from __future__ import annotations

from hy_memory.answers import FinalizeAnswer
from hy_memory.conversations.index import Conversations
from hy_memory.ports import Ledger
from hy_memory.values.turn import Closing


def finalize_session(
    session: tuple[str, str, str], ledger: Ledger, conversations: Conversations
) -> FinalizeAnswer:
    """Close a session (user, agent, session) and return the episode that this ended, or had ended before."""
    user_id, agent_id, session_id = session
    at = ledger.close_session(user_id, agent_id, session_id)
    memory_ids: tuple[str, ...] = ()
    episodes = 0
    if at is not None:
        memory_ids, episodes = conversations.of(user_id).closed_by(Closing(agent_id, session_id, at))
    return {
        "success": True,
        "user_id": user_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "episode_id": f"ep-{memory_ids[0]}" if memory_ids else None,
        "memory_ids": list(memory_ids),
        "episodes": episodes,
        "finalized_at": at,
    }
