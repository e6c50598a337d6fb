"""Working and coding memory: what `add` keeps of a session, and what `search` finds of it (contract §6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConflictError, InvalidArgumentError, MemoryNotFoundError
from tests.support.stores import EVERYWHERE, LASTING, READERS, open_client, open_everywhere, quick_folder

WORKSPACE = "github.com/example/service"


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    """Return an assistant's message that edits a file."""
    arguments = json.dumps({"path": path, "old": old, "new": new})
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "str_replace", "arguments": arguments}}],
    }


def session(ask: str, path: str, result: str) -> list[dict[str, Any]]:
    """Return a whole exchange: what was asked, an edit, and what came of it."""
    return [
        {"role": "user", "content": ask},
        edit(path, "old", "new"),
        {"role": "assistant", "content": result},
    ]


def work(client: HyMemoryClient, query: str, scene: str = "coding", **more: Any) -> dict[str, Any]:
    """Return a lane's answer without thresholds, so that what is left out was filtered out."""
    arguments: dict[str, Any] = {"user_ids": ["u"], "working_fact_min_score": 0.0, **more}
    return dict(client.search(query, scene=scene, **arguments))


def statements(answer: Mapping[str, Any]) -> list[str]:
    """Return the first line of each fact: its task."""
    return sorted(one["statement"].split("\n")[0] for one in answer["facts"])


@pytest.fixture(params=EVERYWHERE)
def any_client(request: pytest.FixtureRequest, folder: Path) -> Any:
    with open_client(request.param, folder) as opened:
        yield opened


@pytest.mark.parametrize("reader", READERS)
def test_a_session_is_one_fact_with_what_was_done(any_client: HyMemoryClient, reader: str) -> None:
    done = session("alpha beta, please", "src/search.py", "gamma is done")
    added = any_client.add(
        done, user_id="u", scene="coding", workspace_id=WORKSPACE, branch="main", source="IDE"
    )
    assert (added["scene"], added["searchable"], added["deduplicated"]) == ("coding", True, [])
    answer = work(any_client, "alpha beta", workspace_id=WORKSPACE, branch="main", reader=reader)
    (fact,) = answer["facts"]
    assert fact["fact_id"] == added["memory_id"]
    assert fact["statement"] == "alpha beta, please\nApproach: edited src/search.py\nResult: gamma is done"
    assert (fact["subject"], fact["files"]) == ("alpha beta, please", ["src/search.py"])
    assert (fact["workspace_id"], fact["branch"], fact["source"]) == (WORKSPACE, "main", "ide")
    assert (fact["fact_chain_summary"], fact["derived_experience_ids"]) == ("", [])
    assert (answer["experiences"], answer["chain_block"], answer["chain_used"]) == ([], "", [])
    (detail,) = fact["details"]
    raw = any_client.get(detail["memory_id"])
    assert raw is not None
    assert "str_replace" in json.loads(raw["content"])[detail["at"]]["content"]


def test_a_word_of_a_file_name_finds_the_fact_by_hybrid(client: HyMemoryClient) -> None:
    client.add(session("alpha", "src/Zeta_Index.py", "done"), user_id="u", scene="coding")
    client.add(session("beta", "src/other.py", "done"), user_id="u", scene="coding")
    found = client.search("Zeta_Index.py", user_ids=["u"], scene="coding", reader="hybrid")
    assert found["facts"][0]["files"] == ["src/Zeta_Index.py"]  # type: ignore[typeddict-item]


def test_lanes_chat_users_and_workspaces_are_apart(any_client: HyMemoryClient) -> None:
    """No scene, user, workspace or branch sees another's; names that look alike are not the same."""
    places = [
        ("u", "coding", "a/b", "main"),
        ("u", "coding", "a-b", "main"),
        ("u", "coding", "a/b", "next"),
        ("u", "coding", "repo", None),
        ("u", "coding", "repo2", None),
        ("u", "coding", "a.b/c", "main"),
        ("u", "working", "a/b", "main"),
        ("v", "coding", "a/b", "main"),
    ]
    for at, (user_id, scene, workspace_id, branch) in enumerate(places):
        exchange = session(f"alpha {at}", "f.py", "done")
        any_client.add(exchange, user_id=user_id, scene=scene, workspace_id=workspace_id, branch=branch)
    any_client.add("alpha chat", user_id="u")
    for reader in READERS:
        for at, (user_id, scene, workspace_id, branch) in enumerate(places):
            if branch is not None or workspace_id.startswith("repo"):
                found = work(
                    any_client, "alpha", scene, user_ids=[user_id],
                    workspace_id=workspace_id, branch=branch, reader=reader,
                )  # fmt: skip
                assert statements(found) == [f"alpha {at}"]
        assert statements(work(any_client, "alpha", workspace_id="a/b", reader=reader)) == [
            "alpha 0",
            "alpha 2",
        ]
        assert len(work(any_client, "alpha", user_ids=["u", "v"], reader=reader)["facts"]) == 7
        assert work(any_client, "alpha", user_ids=["w"], reader=reader)["facts"] == []
        chat = any_client.search("alpha", user_ids=["u"], min_score=0, reader=reader)
        assert [one["content"] for one in chat["memories"]["normal"]] == ["alpha chat"]


def test_sources_are_filtered_as_in_chat(any_client: HyMemoryClient) -> None:
    for source in ("ide", "cli"):
        any_client.add(session(f"alpha {source}", "f.py", "x"), user_id="u", scene="working", source=source)
    assert statements(work(any_client, "alpha", "working", include_sources=["IDE"])) == ["alpha ide"]
    assert statements(work(any_client, "alpha", "working", exclude_sources=["ide"])) == ["alpha cli"]
    filters = {"source": {"in": ["cli"]}}
    assert statements(work(any_client, "alpha", "working", filters=filters)) == ["alpha cli"]


def test_a_session_that_goes_on_is_still_one_fact(client: HyMemoryClient) -> None:
    where: dict[str, Any] = {"user_id": "u", "scene": "coding", "session_id": "s", "workspace_id": "w"}
    first = client.add(session("alpha", "a.py", "first result"), **where)["memory_id"]
    second = client.add(session("beta", "b.py", "second result"), **where)["memory_id"]
    (fact,) = work(client, "alpha beta")["facts"]
    assert fact["fact_id"] == second
    assert fact["statement"].startswith("alpha; beta\n")
    assert fact["files"] == ["a.py", "b.py"]
    assert fact["fact_chain_summary"] == "first result"
    assert len(fact["details"]) == 2
    old = client.get(first)
    assert old is not None
    assert (old["status"], old["superseded_by"]) == ("superseded", second)
    client.delete(second)  # the session is again as it was
    assert statements(work(client, "alpha")) == ["alpha"]
    # another workspace, branch, agent or source is another session, whatever its name
    for name, other in (("workspace_id", "x"), ("branch", "b"), ("agent_id", "a"), ("source", "s")):
        there: dict[str, Any] = {**where, name: other}
        client.add(session("gamma", "g.py", "x"), **there)
    assert len(work(client, "gamma")["facts"]) == 5


def test_writes_that_name_no_session_are_sessions_of_their_own(client: HyMemoryClient) -> None:
    for ask in ("alpha", "beta"):
        client.add(session(ask, "a.py", "x"), user_id="u", scene="coding")
    assert statements(work(client, "alpha")) == ["alpha", "beta"]


def test_the_same_exchange_sent_twice_adds_nothing(client: HyMemoryClient) -> None:
    where: dict[str, Any] = {"user_id": "u", "scene": "coding", "session_id": "s"}
    exchange = session("alpha", "a.py", "x")
    first = client.add(exchange, **where)
    again = client.add(exchange, **where, request_id="r")
    assert (again["memory_id"], again["deduplicated"]) == (first["memory_id"], [first["memory_id"]])
    outcome = client.get_write_outcome("r", user_id="u")
    assert outcome is not None
    assert (outcome["user_id"], outcome["memory_ids"]) == ("u", [first["memory_id"]])
    with pytest.raises(ConflictError):
        client.add(session("beta", "a.py", "x"), **where, request_id="r")
    assert client.memory_stats(user_id="u")["scenes"] == {
        "coding": {"facts": 1, "experiences": 0, "edits": 1}
    }


@pytest.mark.parametrize("backend", LASTING)
def test_writers_to_one_session_at_once_make_one_fact(folder: Path, backend: str) -> None:
    """Each goes on from the one before, whoever comes first; nothing of any is lost."""
    with open_client(backend, folder) as client, ThreadPoolExecutor(8) as pool:

        def write(at: int) -> None:
            client.add(session(f"alpha {at}", f"{at}.py", "x"), user_id="u", scene="coding", session_id="s")

        list(pool.map(write, range(8)))
        (fact,) = work(client, "alpha")["facts"]
        assert sorted(fact["files"]) == [f"{at}.py" for at in range(8)]
        assert client.memory_stats(user_id="u")["scenes"] == {
            "coding": {"facts": 8, "experiences": 0, "edits": 8}
        }


@pytest.mark.parametrize(
    ("messages", "statement"),
    [
        ([{"role": "assistant", "tool_calls": [{"name": "look", "arguments": "{}"}]}], "look({})"),
        ([{"role": "tool", "tool_call_id": "a", "content": "alpha"}], "alpha"),
        (session("al\ud83d", "a\ud83d.py", "\0"), "al\ufffd\nApproach: edited a\ufffd.py\nResult: \ufffd"),
    ],
    ids=["a bare call", "a bare result", "cut characters"],
)  # fmt: skip
def test_odd_messages_are_stored_too(
    client: HyMemoryClient, messages: list[dict[str, Any]], statement: str
) -> None:
    client.add(messages, user_id="u", scene="coding", session_id="s")
    (fact,) = work(client, "alpha")["facts"]
    assert fact["statement"] == statement
    assert client.add(messages, user_id="u", scene="coding", session_id="s")["deduplicated"]


def test_coding_needs_a_tool_call_and_working_does_not(client: HyMemoryClient) -> None:
    with pytest.raises(InvalidArgumentError, match="tool calls"):
        client.add("alpha", user_id="u", scene="coding")
    client.add("alpha", user_id="u", scene="working")
    assert statements(work(client, "alpha", "working")) == ["alpha"]


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"role": "user", "content": "alpha"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t", "name": "edit",
                 "input": {"path": "a.py", "old": "1", "new": "2"}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
        ],
        [
            {"role": "user", "content": "alpha"},
            {"type": "function_call", "name": "edit", "call_id": "t",
             "arguments": '{"path": "a.py", "old": "1", "new": "2"}'},
            {"type": "function_call_output", "call_id": "t", "output": "ok"},
        ],
        [
            {"role": "user", "content": "alpha"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "t", "function": {"name": "apply_patch",
                 "arguments": "*** Begin Patch\n*** Update File: a.py\n@@\n-1\n+2\n*** End Patch"}},
            ]},
            {"role": "tool", "tool_call_id": "t", "content": "ok"},
        ],
    ],
    ids=["content parts", "items", "patch"],
)  # fmt: skip
def test_tool_calls_are_read_in_the_usual_forms(client: HyMemoryClient, messages: list[Any]) -> None:
    client.add(messages, user_id="u", scene="coding")
    (fact,) = work(client, "alpha")["facts"]
    assert fact["files"] == ["a.py"]
    (detail,) = fact["details"]
    raw = client.get(detail["memory_id"])
    assert raw is not None
    assert "a.py" in json.loads(raw["content"])[detail["at"]]["content"]


def test_an_edit_that_failed_changed_no_file(client: HyMemoryClient) -> None:
    failed = {"role": "tool", "tool_call_id": "c", "content": "Error: no such text in the file"}
    client.add(
        [{"role": "user", "content": "alpha"}, edit("a.py", "1", "2"), failed], user_id="u", scene="coding"
    )
    (fact,) = work(client, "alpha")["facts"]
    assert "edited" not in fact["statement"]
    assert [one["kind"] for one in fact["details"]] == ["error"]


def test_statements_are_in_the_language_of_the_task(client: HyMemoryClient) -> None:
    client.add(session("把搜索改快", "a.py", "快多了"), user_id="u", scene="coding")
    (fact,) = work(client, "搜索", reader="hybrid")["facts"]
    assert fact["statement"] == "把搜索改快\n做法: 修改 a.py\n结果: 快多了"


def test_thresholds_limit_and_layers(client: HyMemoryClient) -> None:
    for at in range(5):
        client.add(session(f"alpha {at}", "a.py", "x"), user_id="u", scene="coding")
    assert len(work(client, "alpha", limit=3)["facts"]) == 3
    assert work(client, "alpha", limit=0)["facts"] == []
    # one dot: 60 degrees from every statement
    assert len(work(client, "zeta.", working_fact_min_score=0.5)["facts"]) == 5
    assert work(client, "zeta.", working_fact_min_score=0.51)["facts"] == []
    with pytest.raises(InvalidArgumentError, match="layers"):
        work(client, "alpha", layers=["l2_fact"])
    with pytest.raises(InvalidArgumentError, match="layer"):
        client.add(session("a", "b", "c"), user_id="u", scene="coding", layer="l2_fact")
    with pytest.raises(InvalidArgumentError, match="metadata"):
        client.add(session("a", "b", "c"), user_id="u", scene="coding", metadata={"@fact": 1})


def test_all_scenes_at_once(client: HyMemoryClient) -> None:
    """Each lane is sure of its share; chat memory keeps its own buckets."""
    for at in range(6):
        client.add(session(f"alpha {at}", "a.py", "x"), user_id="u", scene="coding")
    client.add(session("alpha working", "a.py", "x"), user_id="u", scene="working")
    client.add("alpha chat", user_id="u")
    answer = work(client, "alpha", "all", limit=4, min_score=0)
    assert [one["content"] for one in answer["memories"]["normal"]] == ["alpha chat"]
    assert len(answer["facts"]) == 4
    assert "alpha working" in statements(answer)
    assert answer["errors"] == []
    scores = [one["score"] for one in answer["facts"]]
    assert scores == sorted(scores, reverse=True)


def _everything(client: HyMemoryClient, user_id: str) -> Sequence[Mapping[str, Any]]:
    layers = ["l1_raw", "l2_fact", "l6_schema"]
    return client.list_memories(user_id=user_id, scene="all", layers=layers)["memories"]


def test_the_other_verbs_cover_lanes(any_client: HyMemoryClient) -> None:
    where: dict[str, Any] = {"user_id": "u", "scene": "coding", "workspace_id": "w", "metadata": {"k": 1}}
    fact_id = any_client.add(session("alpha", "a.py", "x"), **where)["memory_id"]
    any_client.add(session("beta", "b.py", "x"), user_id="u", scene="working")
    got = any_client.get(fact_id, user_id="u")
    assert got is not None
    assert (got["user_id"], got["scene"], got["meta"]) == ("u", "coding", {"k": 1})
    assert any_client.get(fact_id, user_id="v") is None
    listed = any_client.list_memories(user_id="u", scene="coding", workspace_id="w")
    assert [one["memory_id"] for one in listed["memories"]] == [fact_id]
    assert any_client.list_memories(user_id="u")["memories"] == []
    assert any_client.list_memories(user_id="u", scene="coding", workspace_id="x")["total"] == 0
    with pytest.raises(MemoryNotFoundError):
        any_client.update(fact_id, "gamma", user_id="v")
    any_client.update(fact_id, "gamma delta", metadata={"k": 2}, user_id="u")
    (fact,) = work(any_client, "gamma delta", workspace_id="w", working_fact_min_score=0.9)["facts"]
    assert (fact["statement"], fact["files"], fact["workspace_id"]) == ("gamma delta", ["a.py"], "w")
    assert [one["event"] for one in any_client.history(fact_id, user_id="u")] == ["update", "add"]
    assert any(one["memory_id"] == fact_id for one in any_client.get_recent_history("u"))
    any_client.clone_user("u", "v")
    (copy,) = work(any_client, "gamma", user_ids=["v"], workspace_id="w")["facts"]
    raw = any_client.get(copy["details"][0]["memory_id"], user_id="v")
    assert raw is not None
    assert any_client.delete(fact_id, user_id="v")["deleted_count"] == 0
    assert any_client.delete(fact_id, user_id="u")["deleted_count"] == 1
    assert work(any_client, "gamma", workspace_id="w")["facts"] == []
    assert any_client.delete_all(user_id="u")["deleted_count"] == 1
    assert _everything(any_client, "u") == []
    assert len(_everything(any_client, "v")) == 4
    assert any_client.doctor()["healthy"]


def test_delete_all_of_a_session_reaches_its_lane(client: HyMemoryClient) -> None:
    for name in ("s", "t"):
        client.add(session("alpha", "a.py", "x"), user_id="u", scene="coding", session_id=name)
    assert client.delete_all(user_id="u", session_ids=["s"])["deleted_count"] == 1
    assert len(work(client, "alpha")["facts"]) == 1


def test_no_user_id_can_name_a_lane(client: HyMemoryClient) -> None:
    client.add(session("alpha", "a.py", "x"), user_id="u", scene="coding")
    for verb in (client.search, client.context):
        with pytest.raises(InvalidArgumentError, match=r"U\+001F"):
            verb("alpha", user_ids=["u\x1fcoding"])


def test_as_of_answers_from_the_fact_of_then(client: HyMemoryClient) -> None:
    where: dict[str, Any] = {"user_id": "u", "scene": "coding", "session_id": "s"}
    client.add(session("alpha", "a.py", "x"), **where)
    (then,) = work(client, "alpha")["facts"]
    client.add(session("beta", "b.py", "y"), **where)
    (found,) = work(client, "alpha", as_of=then["created_at"] + 1e-3)["facts"]
    assert found["fact_id"] == then["fact_id"]


def test_every_backend_finds_the_same(folder: Path) -> None:
    with quick_folder() as path, open_everywhere(path) as clients:
        first = next(iter(clients.values()))
        for at in range(8):
            first.add(session(f"alpha {'beta ' * at}", f"{at}.py", "x"), user_id="u", scene="coding")
        answers = {
            name: [(one["fact_id"], one["score"]) for one in work(one_client, "alpha beta", limit=5)["facts"]]
            for name, one_client in clients.items()
        }
        assert all(one == answers["memory"] for one in answers.values())


async def _twin(client: HyMemoryClient) -> dict[str, Any]:
    await client.async_add(session("alpha", "a.py", "x"), user_id="u", scene="coding")
    return dict(
        await client.async_search("alpha", user_ids=["u"], scene="coding", working_fact_min_score=0.0)
    )


def test_the_async_twins_do_the_same(client: HyMemoryClient) -> None:
    import asyncio

    assert statements(asyncio.run(_twin(client))) == ["alpha"]
