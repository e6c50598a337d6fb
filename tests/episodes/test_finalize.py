"""finalize_session: the end of an episode that a caller names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from tests.support.peer import peer
from tests.support.stores import BACKENDS, normal, open_client


def hit(client: HyMemoryClient, content: str, user_id: str = "u") -> dict[str, Any]:
    """Return the hit of one text."""
    found = normal(client.search(content, user_ids=[user_id], min_score=0.0))
    return next(one for one in found if one["content"] == content)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_session_is_closed_and_goes_on_in_a_new_episode(folder: Path, backend: str) -> None:
    with open_client(backend, folder) as client:
        told = [client.add(word, user_id="u", session_id="s")["memory_id"] for word in ("alpha", "beta")]
        closed = client.finalize_session(user_id="u", session_id="s")
        assert closed == {
            "success": True,
            "user_id": "u",
            "agent_id": "default_agent",
            "session_id": "s",
            "episode_id": f"ep-{told[0]}",
            "memory_ids": told,
            "episodes": 1,
            "finalized_at": closed["finalized_at"],
        }
        for _ in range(2):
            assert client.finalize_session(user_id="u", session_id="s") == closed
        later = client.add("gamma", user_id="u", session_id="s")["memory_id"]
        found = hit(client, "gamma")
        assert "episode_id" not in found
        again = client.finalize_session(user_id="u", session_id="s")
        assert (again["episode_id"], again["memory_ids"], again["episodes"]) == (f"ep-{later}", [later], 2)
        assert (again["finalized_at"] or 0) > (closed["finalized_at"] or 0)
    with open_client(backend, folder) as client:
        assert client.finalize_session(user_id="u", session_id="s") == again


def test_a_session_that_is_not_there_is_no_error(client: HyMemoryClient) -> None:
    client.add("alpha", user_id="u", session_id="s")
    for session in (
        {"user_id": "u", "session_id": "t"},
        {"user_id": "v", "session_id": "s"},
        {"user_id": "u", "session_id": "s", "agent_id": "x"},
    ):
        assert client.finalize_session(**session) == {
            "success": True,
            "agent_id": "default_agent",
            **session,
            "episode_id": None,
            "memory_ids": [],
            "episodes": 0,
            "finalized_at": None,
        }


def test_only_the_current_episode_is_told(client: HyMemoryClient) -> None:
    """A pause has ended the one before; what happened last is current, whenever it was stored."""
    last = client.add("alpha", user_id="u", memory_at="2026-03-02T08:00:00Z")["memory_id"]
    client.add("beta", user_id="u", memory_at="2026-03-01T08:00:00Z")
    closed = client.finalize_session(user_id="u", session_id="default_session")
    assert (closed["memory_ids"], closed["episodes"]) == ([last], 2)


def test_closing_changes_nothing_else(client: HyMemoryClient) -> None:
    memory_id = client.add("alpha", user_id="u")["memory_id"]
    before = client.get(memory_id), client.history(memory_id), client.get_recent_history(user_id="u")
    client.finalize_session(user_id="u", session_id="default_session")
    assert (
        client.get(memory_id),
        client.history(memory_id),
        client.get_recent_history(user_id="u"),
    ) == before
    assert client.doctor()["healthy"]


def test_a_clone_keeps_its_episodes(client: HyMemoryClient) -> None:
    client.add("alpha", user_id="u")
    closed = client.finalize_session(user_id="u", session_id="default_session")
    client.add("beta", user_id="u")
    client.clone_user("u", "v")
    found = hit(client, "alpha", "v")
    assert "episode_id" not in found
    cloned = client.finalize_session(user_id="v", session_id="default_session")
    assert cloned["episodes"] == 2
    assert (cloned["finalized_at"] or 0) > (closed["finalized_at"] or 0)


def test_a_deleted_session_begins_anew(client: HyMemoryClient) -> None:
    client.add("alpha", user_id="u", session_id="s")
    client.finalize_session(user_id="u", session_id="s")
    client.delete_all(user_id="u", session_ids=["s"])
    assert client.finalize_session(user_id="u", session_id="s")["episode_id"] is None


def test_the_async_twin(client: HyMemoryClient) -> None:
    client.add("alpha", user_id="u")

    async def close() -> object:
        return await client.async_finalize_session(user_id="u", session_id="default_session")

    assert asyncio.run(close()) == client.finalize_session(user_id="u", session_id="default_session")


def test_another_process_is_heard_at_once(folder: Path) -> None:
    """C46: its memories are neighbours of ours, and the session it closes is closed for us."""
    with open_client("faiss", folder) as here, peer(folder) as there:
        mine = here.add("alpha", user_id="u")["memory_id"]
        assert "timeline" not in hit(here, "alpha")
        theirs = there.ask("add", data="beta", user_id="u")["memory_id"]
        found = hit(here, "alpha")
        assert [one["memory_id"] for one in found["timeline"]] == [mine, theirs]
        closed = there.ask("finalize_session", user_id="u", session_id="default_session")
        assert closed["memory_ids"] == [mine, theirs]
        later = here.add("gamma", user_id="u")["memory_id"]
        found = hit(here, "alpha")
        assert [one["memory_id"] for one in found["timeline"]] == [mine, theirs]
        again = here.finalize_session(user_id="u", session_id="default_session")
        assert again["memory_ids"] == [later]
        assert there.ask("finalize_session", user_id="u", session_id="default_session") == again
