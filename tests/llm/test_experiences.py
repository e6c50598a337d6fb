"""What is learned from sessions of agents: kept above a value, linked with the facts both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.testing.openai_double import OpenAIDouble, Reply
from tests.llm.conftest import Opening

WORKSPACE = "github.com/example/service"
LESSON: dict[str, Any] = {
    "task": "alpha search is slow",
    "solution": "Use an index instead of a scan.",
    "search_keys": ["gamma timeout"],
    "boundary": ["Python"],
    "files": ["src/search.py", "elsewhere.py"],
    "confidence": 0.8,
    "value": 0.9,
}
OTHER = {**LESSON, "task": "alpha tests are slow", "solution": "Run them in parallel.", "search_keys": []}


def session(ask: str, result: str = "done", path: str = "src/search.py") -> list[dict[str, Any]]:
    arguments = json.dumps({"path": path, "old": "scan()", "new": "index()"})
    call = {"id": "c", "function": {"name": "str_replace", "arguments": arguments}}
    return [
        {"role": "user", "content": ask},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": result},
    ]


def lessons(*several: dict[str, Any]) -> dict[str, Any]:
    return {"lessons": list(several)}


def add(client: HyMemoryClient, ask: str, **more: Any) -> Any:
    arguments: dict[str, Any] = {
        "user_id": "u",
        "scene": "coding",
        "workspace_id": WORKSPACE,
        "source": "ide",
        **more,
    }
    return client.add(session(ask), **arguments)


def work(client: HyMemoryClient, query: str, scene: str = "coding", **more: Any) -> Any:
    arguments: dict[str, Any] = {"user_ids": ["u"], "scene": scene, "working_fact_min_score": 0.0, **more}
    return client.search(query, **arguments)


@pytest.mark.parametrize("backend", ["faiss", "qdrant", "chroma"])
@pytest.mark.parametrize("scene", ["coding", "working"])
def test_a_lesson_is_found_by_itself_and_by_its_fact(
    opening: Opening, service: OpenAIDouble, backend: str, scene: str
) -> None:
    client = opening(backend, mode="pro")
    service.say(lessons(LESSON))
    added = add(client, "alpha is slow", scene=scene, branch="main")
    assert (len(service.chats), added["usage"]["calls"], added["searchable"]) == (1, 1, True)
    answer = work(client, "alpha", scene, workspace_id=WORKSPACE, branch="main")
    (fact,), (learned,) = answer["facts"], answer["experiences"]
    assert fact["fact_id"] == added["memory_id"]
    assert fact["derived_experience_ids"] == [learned["experience_id"]]
    assert learned["source_fact_ids"] == [fact["fact_id"]]
    for key, value in LESSON.items():
        name = {"boundary": "boundary_envs"}.get(key, key)
        if name in learned and name != "files":
            assert learned[name] == value
    assert (learned["files"], learned["source"]) == (["src/search.py"], "ide")
    assert (learned["workspace_id"], learned["branch"]) == (WORKSPACE, "main")
    assert work(client, "gamma timeout", scene, reader="hybrid")["experiences"][0]["matched_key"]
    other = "working" if scene == "coding" else "coding"
    assert work(client, "alpha", other)["experiences"] == []
    assert work(client, "alpha", scene, workspace_id="another")["experiences"] == []
    assert work(client, "alpha", scene, exclude_sources=["ide"])["experiences"] == []
    assert client.search("alpha", user_ids=["u"], min_score=0.0).get("memories") == {
        "normal": [],
        "schema": [],
        "proactive": [],
    }
    stats: Any = client.memory_stats(user_id="u")
    assert stats["scenes"][scene]["experiences"] == 1
    stored: Any = client.get(learned["experience_id"])
    assert (stored["scene"], stored["meta"]) == (scene, {})
    assert client.doctor()["problems"] == []


@pytest.mark.parametrize(
    ("least", "value", "kept"), [(0.6, 0.59, 0), (0.6, 0.6, 1), (0.9, 0.8, 0), (0.0, 0.0, 1)]
)
def test_only_what_is_worth_it_is_kept(
    opening: Opening, service: OpenAIDouble, least: float, value: float, kept: int
) -> None:
    client = opening(mode="pro", llm={"experience_min_value": least})
    service.say(lessons({**LESSON, "value": value}))
    add(client, "alpha")
    answer = work(client, "alpha")
    assert (len(answer["facts"]), len(answer["experiences"])) == (1, kept)
    assert len(answer["facts"][0]["derived_experience_ids"]) == kept


def test_lite_mode_asks_nobody(opening: Opening, service: OpenAIDouble) -> None:
    """Contract §7: no call of a language model in `lite`, and sessions are facts all the same."""
    client = opening()
    add(client, "alpha")
    assert service.chats == []
    assert len(work(client, "alpha")["facts"]) == 1


def test_a_known_lesson_is_told_better_in_its_place(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON))
    first = add(client, "alpha", session_id="one")
    better = {**LESSON, "solution": "Index, and measure.", "search_keys": ["delta"], "known": "a"}
    service.say(lessons(better, {**OTHER, "known": "A"}))
    second = add(client, "alpha", session_id="two")
    shown: Any = service.chats[1].body["messages"]
    assert LESSON["solution"] in shown[1]["content"]
    answer = work(client, "alpha")
    by_task = {one["task"]: one for one in answer["experiences"]}
    assert sorted(by_task) == sorted([LESSON["task"], OTHER["task"]])
    learned = by_task[LESSON["task"]]
    assert learned["solution"] == "Index, and measure."
    assert learned["search_keys"] == ["gamma timeout", "delta"]
    assert learned["source_fact_ids"] == [first["memory_id"], second["memory_id"]]
    derived = {one["fact_id"]: one["derived_experience_ids"] for one in answer["facts"]}
    assert derived[first["memory_id"]] == [learned["experience_id"]]
    assert len(derived[second["memory_id"]]) == 2
    assert client.doctor()["problems"] == []


@pytest.mark.parametrize(
    "other", [{"source": "cli"}, {"workspace_id": "b"}, {"scene": "working"}, {"user_id": "v"}]
)
def test_lessons_of_other_places_are_not_shown(
    opening: Opening, service: OpenAIDouble, other: dict[str, Any]
) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON), lessons({**OTHER, "known": "A"}))
    add(client, "alpha")
    add(client, "alpha", **other)
    shown: Any = service.chats[1].body["messages"]
    assert LESSON["solution"] not in shown[1]["content"]
    mine = client.list_memories(user_id="u", scene="coding", layers=["l6_schema"], include_sources=["ide"])
    assert LESSON["task"] in str(mine)


def test_a_session_that_goes_on_keeps_its_lessons(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON), lessons())
    add(client, "alpha", session_id="s")
    second = add(client, "alpha again", session_id="s")
    answer = work(client, "alpha")
    (fact,), (learned,) = answer["facts"], answer["experiences"]
    assert fact["fact_id"] == second["memory_id"]
    assert fact["derived_experience_ids"] == [learned["experience_id"]]
    assert fact["fact_id"] in learned["source_fact_ids"]


def test_a_model_that_fails_keeps_the_fact_and_learns_later(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro", llm={"timeout": 0.4})
    service.script(*[Reply(status=503)] * 20)
    added = add(client, "alpha")
    assert [one["part"] for one in added["degraded"]] == ["experience"]
    assert len(work(client, "alpha")["facts"]) == 1
    service.forget()
    service.say(lessons(LESSON))
    done: Any = client.extract(user_id="u")
    assert (done["read_count"], done["waiting_count"]) == (1, 0)
    (learned,) = work(client, "alpha")["experiences"]
    assert learned["source_fact_ids"] == [added["memory_id"]]


def test_the_same_session_again_asks_nobody(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON))
    first = add(client, "alpha", session_id="s", request_id="r")
    for more in ({"request_id": "r"}, {}):
        again = add(client, "alpha", session_id="s", **more)
        assert again["memory_ids"] == first["memory_ids"]
    assert len(service.chats) == 1


def test_a_deleted_session_leaves_nothing_that_was_learned_from_it_alone(
    opening: Opening, service: OpenAIDouble
) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON, OTHER), lessons({**LESSON, "known": "A"}))
    first = add(client, "alpha", session_id="one")["memory_id"]
    service_known = work(client, "alpha")["experiences"]
    second = add(client, "alpha search is slow", session_id="two")["memory_id"]
    assert len(service_known) == 2
    assert client.delete(first)["deleted_count"] == 1
    answer = work(client, "alpha")
    (left,) = answer["experiences"]
    assert (left["task"], left["source_fact_ids"]) == (LESSON["task"], [second])
    client.delete(second)
    assert work(client, "alpha")["experiences"] == []
    assert client.list_memories(user_id="u", scene="all")["total"] == 0
    assert client.doctor()["problems"] == []


def test_what_is_deleted_while_the_model_learns_does_not_come_back(
    opening: Opening, service: OpenAIDouble
) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON))

    def while_learning(body: Any) -> object:
        client.delete_all(user_id="u")
        return service.completion(body)

    service.routes["/v1/chat/completions"] = while_learning
    add(client, "alpha")
    assert client.list_memories(user_id="u", scene="all")["total"] == 0


def test_a_clone_has_its_own_links(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(lessons(LESSON))
    add(client, "alpha")
    client.clone_user("u", "v")
    client.delete_all(user_id="u")
    answer = work(client, "alpha", user_ids=["v"])
    (fact,), (learned,) = answer["facts"], answer["experiences"]
    assert fact["derived_experience_ids"] == [learned["experience_id"]]
    assert learned["source_fact_ids"] == [fact["fact_id"]]


def test_a_chinese_session_is_asked_about_in_chinese(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(lessons())
    client.add(session("搜索太慢了，请改快一点", "已经改用索引了"), user_id="u", scene="coding")
    messages: Any = service.chats[0].body["messages"]
    assert "智能体" in messages[0]["content"]
    assert "搜索太慢了" in messages[1]["content"]
    assert "搜索太慢了" not in messages[0]["content"]
