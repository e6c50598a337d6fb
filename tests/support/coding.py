"""Sessions of an agent that codes, and what a search answers on the code they touched."""

from __future__ import annotations

import itertools
import json
from typing import Any, cast

from hy_memory import HyMemoryClient

WORKSPACE = "github.com/example/service"
CODE = "def rank(rows):\n    return {}\n"
ON = {"coding": {"chain_block_enabled": True}}
"""The settings that show the history of the code."""
_ids = itertools.count()


def ask(words: str) -> dict[str, Any]:
    """Return a user's message."""
    return {"role": "user", "content": words}


def call(name: str, result: str | None = None, **arguments: Any) -> list[dict[str, Any]]:
    """Return an assistant's message that calls a tool, and the tool's answer where there is one."""
    number = str(next(_ids))
    made: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": number, "function": {"name": name, "arguments": json.dumps(arguments)}}],
        }
    ]
    return made if result is None else [*made, {"role": "tool", "tool_call_id": number, "content": result}]


def store(client: HyMemoryClient, *messages: dict[str, Any], **more: Any) -> str:
    """Store a session, of `u` in WORKSPACE on `main` unless told otherwise; return its fact's id."""
    place: dict[str, Any] = {"user_id": "u", "workspace_id": WORKSPACE, "branch": "main", **more}
    return client.add(list(messages), scene="coding", **place)["memory_id"]


def change(
    client: HyMemoryClient, words: str, old: str, new: str, path: str = "src/search.py", **more: Any
) -> str:
    """Store a session that replaces some lines."""
    return store(client, ask(words), *call("edit", path=path, old=old, new=new), **more)


def found(client: HyMemoryClient, query: str = "code", **more: Any) -> dict[str, Any]:
    """Return what a coding search answers, without thresholds."""
    arguments: dict[str, Any] = {"user_ids": ["u"], "working_fact_min_score": 0.0, **more}
    return cast("dict[str, Any]", client.search(query, scene="coding", **arguments))


def shown(client: HyMemoryClient, query: str = "code", **more: Any) -> str:
    """Return the block of a coding search."""
    return found(client, query, **more)["chain_block"]


def check_isolation(client: HyMemoryClient) -> None:
    """Store the same file's history on grounds that differ in one thing each, and look from each of them."""
    grounds: list[dict[str, Any]] = [
        {},
        {"user_id": "v"},
        {"workspace_id": WORKSPACE + "2"},
        {"workspace_id": WORKSPACE.replace("/", "-")},
        {"workspace_id": None, "branch": None},
        {"branch": "main2"},
        {"branch": None},
    ]
    for at, ground in enumerate(grounds):
        change(client, f"words{at}", f"old{at}", f"new{at}", **ground)
    for at, ground in enumerate(grounds):
        where: dict[str, Any] = {"workspace_id": WORKSPACE, "branch": "main", **ground}
        user = where.pop("user_id", "u")
        seen = shown(client, user_ids=[user], **where)
        assert f"new{at}" in seen
        exact = where["branch"] is not None  # a workspace alone is all of its branches
        others = {n for n in range(len(grounds)) if f"words{n}" in seen or f"new{n}" in seen} - {at}
        assert others == set() if exact else others <= {0, 5, 2, 3, 4, 6}, (ground, seen)
        assert "words1" not in seen or user == "v"
    both = shown(client, user_ids=["u", "v"], workspace_id=WORKSPACE, branch="main")
    assert "words0" in both
    assert "words1" in both
    assert both.count("src/search.py") == 2  # side by side, never one history


def check_removal(client: HyMemoryClient) -> None:
    """Remove histories by every verb that removes: no word of them is shown again."""
    one = change(client, "alpha words", "old", "alpha_code", session_id="a")
    change(client, "beta words", "alpha_code", "beta_code", session_id="b")
    change(client, "gamma words", "beta_code", "gamma_code", session_id="c")
    change(client, "delta words", "x", "delta_code", user_id="v")
    client.delete(one)
    assert "alpha words" not in shown(client)
    client.delete_all(user_id="u", session_ids=["b"])
    assert "beta words" not in shown(client)
    client.clone_user("u", "w")
    assert "gamma_code" in shown(client, user_ids=["w"])
    assert client.memory_stats(user_id="w")["scenes"]["coding"]["edits"] == 1
    client.delete_all(user_id="u")
    assert shown(client) == ""
    assert "gamma_code" in shown(client, user_ids=["w"])
    assert "delta_code" in shown(client, user_ids=["v"])
    client.delete_all(user_id="w")
    ledger = client._open().ledger  # pyright: ignore[reportPrivateUsage]
    assert [ledger.edit_count(f"{user}\x1fcoding") for user in "uvw"] == [0, 1, 0]
