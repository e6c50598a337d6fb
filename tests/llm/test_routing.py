"""The table of contract §6: how often a language model is asked, over real HTTP, and what comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hy_memory.errors import InvalidArgumentError, LLMAnswerError
from hy_memory.testing.openai_double import OpenAIDouble, Reply
from tests.llm.conftest import Opening
from tests.support.stores import READERS, open_client

DAY = 86_400.0
WORKSPACE = "github.com/example/service"
MAY_1 = 1_777_593_600.0  # 2026-05-01T00:00Z
TRACE = [
    {"role": "user", "content": "fix the login test"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": json.dumps({"cmd": "pytest"})}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "1 passed"},
    {"role": "assistant", "content": "the login test passes now"},
]
CHAT = {"scene": "chat", "query": "alpha", "after": None, "before": None}
CODING, WORKING = {**CHAT, "scene": "coding"}, {**CHAT, "scene": "working"}
ROWS = [
    # what is asked, coding, rewriting, answer of the service, calls, scene, effective query
    ({"query": "alpha"}, True, True, CHAT, 0, "normal", "alpha"),
    ({"queries": ["gamma", "it?"]}, True, True, CHAT, 1, "normal", "alpha"),
    ({"queries": ["gamma", "it?"]}, True, False, {"scene": "chat"}, 1, "normal", "it?"),
    ({"queries": ["gamma", "it?"]}, False, True, CHAT, 1, "normal", "alpha"),
    ({"queries": ["gamma", "it?"]}, False, False, CHAT, 0, "normal", "it?"),
    ({"queries": ["gamma " * 40, "it?"]}, True, True, {"scene": "chat"}, 1, "normal", "it?"),
    ({"queries": ["gamma " * 40, "it?"]}, True, True, {"scene": "coding"}, 1, "coding", "it?"),
    ({"queries": ["gamma " * 40, "it?"]}, False, True, CHAT, 0, "normal", "it?"),
    ({"query": "it?", "search_mode": "agentic"}, False, False, CHAT, 1, "normal", "alpha"),
    ({"queries": ["gamma " * 40, "it?"], "search_mode": "agentic"}, False, False, CHAT, 1, "normal", "alpha"),
    (
        {"query": "it?", "search_mode": "agentic"},
        True,
        True,
        {**CHAT, "scene": "coding"},
        1,
        "coding",
        "alpha",
    ),
    (
        {"query": "it?", "search_mode": "agentic"},
        True,
        True,
        {**CHAT, "scene": "working"},
        1,
        "working",
        "alpha",
    ),
    ({"query": "it?", "search_mode": "agentic", "scene": "chat"}, True, True, CHAT, 0, "normal", "it?"),
    ({"queries": ["gamma", "it?"], "scene": "coding"}, True, True, CHAT, 0, "coding", "it?"),
    ({"queries": ["gamma", "it?"], "scene": "working"}, True, True, CHAT, 0, "working", "it?"),
    ({"queries": ["gamma", "it?"], "layers": ["l2_fact"]}, True, True, CHAT, 1, "normal", "alpha"),
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("asked", "coding", "rewriting", "said", "calls", "scene", "effective"), ROWS)
def test_every_row_of_the_table(
    opening: Opening,
    service: OpenAIDouble,
    asked: dict[str, Any],
    coding: bool,
    rewriting: bool,
    said: dict[str, Any],
    calls: int,
    scene: str,
    effective: str,
    reader: str,
) -> None:
    client = opening(
        coding={"enabled": coding}, recall={"query_rewrite": rewriting, "query_rewrite_max_chars": 100}
    )
    client.add("alpha", user_id="u")
    client.add(TRACE, user_id="u", scene="coding")
    service.say(said)
    answer: Any = client.search(**asked, user_ids=["u"], reader=reader)
    assert len(service.chats) == calls
    assert answer["rewrite"]["scene"] == scene
    assert answer["rewrite"]["effective_query"] == effective
    assert answer["rewrite"]["original_query"] == (asked.get("query") or asked["queries"][-1])
    assert answer["rewrite"]["used"] is (effective == "alpha" and calls == 1)
    assert ("usage" in answer) is (calls == 1)
    assert ("facts" in answer) is (scene != "normal")
    assert "degraded" not in answer
    if scene == "normal" and effective == "alpha":
        assert [one["content"] for one in answer["memories"]["normal"]][:1] == ["alpha"]


BROKEN = {
    "slow": Reply(delay=60),
    "down": Reply(status=503),
    "refused": Reply(status=401),
    "gone": Reply(hang_up=True),
    "no service": Reply(body=b"<html>"),
}
NONSENSE = {
    "prose": "I would say chat.",
    "wrong json": '{"scene": ',
    "wrong types": {"scene": 1, "query": ["alpha"], "after": 5},
    "unknown scene": {**CHAT, "scene": "cooking"},
    "blank query": {**CHAT, "query": "  "},
    "no such time": {**CHAT, "after": "last spring"},
}
LATE = {
    "time backwards": {**CHAT, "after": "2026-05-02", "before": "2026-05-01"},
    "other language": {**CHAT, "query": "阿尔法"},
}


@pytest.mark.parametrize("fault", [*BROKEN, *NONSENSE, *LATE])
def test_a_model_that_fails_leaves_the_question_as_it_is(
    opening: Opening, service: OpenAIDouble, fault: str
) -> None:
    """Contract §6: chat with the original query, and a note of it; with MEMORY_SEARCH_RAISE an error."""
    is_late = fault in ("slow", "down", "gone")
    client = opening(llm={"timeout": 0.4 if is_late else 60}, coding={"enabled": True})
    client.add("alpha", user_id="u")
    if fault in BROKEN:
        service.script(*[BROKEN[fault]] * 30)
    else:
        wrong = {**NONSENSE, **LATE}[fault]
        service.say(wrong, wrong)
    answer: Any = client.search(queries=["gamma", "alpha"], user_ids=["u"])
    assert [one["content"] for one in answer["memories"]["normal"]] == ["alpha"]
    assert answer["rewrite"] == {
        "used": False,
        "original_query": "alpha",
        "effective_query": "alpha",
        "created_after": None,
        "scene": "normal",
    }
    (note,) = answer["degraded"]
    assert note["part"] == "llm"
    assert note["retryable"] is (fault != "refused")


def test_failures_raise_where_searches_are_to(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(recall={"raise_on_failure": True})
    service.say("prose", "prose")
    with pytest.raises(LLMAnswerError):
        client.search(queries=["gamma", "alpha"], user_ids=["u"])


def test_a_search_with_a_deadline_waits_no_longer(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(recall={"timeout": 2.0}, llm={"timeout": 60})
    client.add("alpha", user_id="u")
    service.script(Reply(delay=60))
    answer: Any = client.search(queries=["gamma", "alpha"], user_ids=["u"])
    assert [one["part"] for one in answer["degraded"]] == ["llm"]
    assert len(answer["memories"]["normal"]) == 1


@pytest.mark.parametrize(
    ("zone", "after", "before", "found"),
    [
        ("UTC", "2026-05-01T00:00", "2026-05-01T23:59", ["noon", "start"]),
        ("UTC", "2026-05-01T10:00", None, ["later", "noon"]),
        ("UTC", None, "2026-05-01T10:00", ["start"]),
        ("UTC", "2026-05-01", "2026-05-01", ["noon", "start"]),
        ("Asia/Shanghai", "2026-05-01T20:00", "2026-05-01T20:00", ["noon"]),  # 12:00 in UTC
        ("America/New_York", "2026-05-01T08:00", "2026-05-01T08:59", ["noon"]),
    ],
)
@pytest.mark.parametrize("backend", ["faiss", "qdrant", "chroma"])
def test_a_time_range_has_both_ends_in_the_callers_zone(
    opening: Opening,
    service: OpenAIDouble,
    backend: str,
    zone: str,
    after: Any,
    before: Any,
    found: list[str],
) -> None:
    client = opening(backend, timezone=zone)
    for text, at in (("alpha start", 0.0), ("alpha noon", DAY / 2), ("alpha later", DAY)):
        client.add(text, user_id="u", memory_at=MAY_1 + at)
    service.say({"query": "alpha", "after": after, "before": before})
    answer: Any = client.search(queries=["gamma", "alpha?"], user_ids=["u"], min_score=0.0)
    assert sorted(one["content"].split()[1] for one in answer["memories"]["normal"]) == found
    assert ("created_before" in answer["rewrite"]) is (before is not None)
    assert (answer["rewrite"]["created_after"] is not None) is (after is not None)


def test_the_callers_own_bounds_hold_beside_the_models(opening: Opening, service: OpenAIDouble) -> None:
    client = opening()
    for text, at in (("alpha start", 0.0), ("alpha noon", DAY / 2)):
        client.add(text, user_id="u", memory_at=MAY_1 + at)
    service.say({"query": "alpha", "after": "2026-04-01T00:00", "before": None})
    answer: Any = client.search(
        queries=["gamma", "alpha?"], user_ids=["u"], min_score=0.0, created_after=MAY_1 + 1
    )
    assert [one["content"] for one in answer["memories"]["normal"]] == ["alpha noon"]
    assert answer["rewrite"]["created_after"] == MAY_1 + 1


def test_a_bare_day_of_the_caller_is_all_of_it_beside_a_models_end(
    opening: Opening, service: OpenAIDouble
) -> None:
    client = opening()
    client.add("alpha noon", user_id="u", memory_at=MAY_1 + DAY / 2)
    service.say({"query": "alpha", "after": None, "before": "2026-06-01"})
    answer: Any = client.search(
        queries=["gamma", "alpha?"], user_ids=["u"], min_score=0.0, created_before="2026-05-01"
    )
    assert [one["content"] for one in answer["memories"]["normal"]] == ["alpha noon"]
    assert MAY_1 + DAY - 1 < answer["rewrite"]["created_before"] < MAY_1 + DAY


def test_the_conversation_reaches_the_model_fenced_and_in_its_language(
    opening: Opening, service: OpenAIDouble
) -> None:
    client = opening(timezone="Asia/Shanghai")
    service.say({"query": "我上周买的相机是什么牌子？"})
    client.search(queries=["我上周买了一台相机", "什么牌子？"], user_ids=["u"])
    messages: Any = service.chats[0].body["messages"]
    assert "时区为 Asia/Shanghai" in messages[0]["content"]
    assert "我上周买了一台相机" in messages[1]["content"]
    assert "我上周买了一台相机" not in messages[0]["content"]


def test_agentic_search_needs_a_model(folder: Any) -> None:
    with open_client("faiss", folder) as client:
        with pytest.raises(InvalidArgumentError, match="MEMORY_LLM_BASE_URL"):
            client.search("alpha", user_ids=["u"], search_mode="agentic")
        answer: Any = client.search(queries=["gamma", "alpha"], user_ids=["u"])
        assert answer["rewrite"]["used"] is False


def test_mistakes_are_found_before_the_model_is_asked(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(coding={"enabled": True})
    for wrong in ({"limit": -1}, {"user_ids": []}, {"min_score": "x"}, {"reader": 3}):
        with pytest.raises(InvalidArgumentError):
            client.search(**{"queries": ["gamma", "alpha"], "user_ids": ["u"], **wrong})  # type: ignore[arg-type]
    assert service.chats == []


@pytest.mark.parametrize(
    ("data", "scene", "coding", "said", "calls", "goes_to"),
    [
        ("alpha", None, True, {}, 0, "chat"),
        (TRACE[:1], None, True, {}, 0, "chat"),
        (TRACE, None, False, {}, 0, "chat"),
        (TRACE, None, True, {"scene": "coding"}, 1, "coding"),
        (TRACE, None, True, {"scene": "working"}, 1, "working"),
        (TRACE, None, True, {"scene": "chat"}, 1, "chat"),
        (TRACE, "chat", True, {}, 0, "chat"),
        (TRACE, "coding", True, {}, 0, "coding"),
        (TRACE, "working", False, {}, 0, "working"),
        (TRACE, None, True, "prose", 2, "chat"),
    ],
)
def test_every_row_for_writes(
    opening: Opening,
    service: OpenAIDouble,
    data: Any,
    scene: str | None,
    coding: bool,
    said: Any,
    calls: int,
    goes_to: str,
) -> None:
    client = opening(coding={"enabled": coding})
    service.say(said, said)
    added: Any = client.add(data, user_id="u", scene=scene)
    assert len(service.chats) == calls
    assert added["scene"] == goes_to
    assert ("usage" in added) is (calls == 1)
    assert [one["part"] for one in added.get("degraded", ())] == (["llm"] if said == "prose" else [])
    stored = client.get(added["memory_id"])
    assert stored is not None
    assert (stored["scene"], stored["user_id"]) == (goes_to, "u")


def test_coding_without_tools_is_an_error_that_says_so(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(coding={"enabled": True})
    with pytest.raises(InvalidArgumentError, match="tool calls"):
        client.add("alpha", user_id="u", scene="coding")
    assert service.chats == []


def test_a_repeated_write_goes_where_it_went_and_asks_nobody(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(coding={"enabled": True})
    service.say({"scene": "coding"}, {"scene": "chat"})
    first = client.add(TRACE, user_id="u", request_id="r", workspace_id=WORKSPACE)
    again = client.add(TRACE, user_id="u", request_id="r", workspace_id=WORKSPACE)
    assert (first["memory_ids"], first["scene"]) == (again["memory_ids"], again["scene"])
    assert len(service.chats) == 1
    assert client.add(TRACE, user_id="u", workspace_id=WORKSPACE)["scene"] == "chat"
