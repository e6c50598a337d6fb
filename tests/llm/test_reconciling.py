"""Facts beside what is known: whose words may join whose, what happens meanwhile, and what is too much."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import EmbeddingError
from hy_memory.llm.extract import WINDOW, windows
from hy_memory.testing.openai_double import OpenAIDouble
from hy_memory.verbs import extracting
from tests.llm.conftest import Opening

CITY, TOWN = "The user lives in alpha city", "The user lives in alpha town"


def facts(*texts: str) -> dict[str, Any]:
    return {"facts": [{"text": one, "turns": [1]} for one in texts]}


def decide(action: str, text: str | None = None) -> dict[str, Any]:
    return {"decisions": [{"fact": 1, "action": action, "memory": "A", "text": text}]}


def found(client: HyMemoryClient, **more: Any) -> list[str]:
    asked: dict[str, Any] = {"user_ids": ["u"], "min_score": 0.0, **more}
    answer: Any = client.search("alpha", **asked)
    return sorted(one["content"] for one in answer["memories"]["normal"])


def test_the_same_conversation_twice_adds_nothing(opening: Opening, service: OpenAIDouble) -> None:
    """Whether the model says it in the same words or not."""
    client = opening(mode="pro")
    service.say(facts(CITY), facts(CITY), facts("Alpha city is where the user lives"), decide("nothing"))
    first = client.add("I live in alpha city", user_id="u")
    for _ in range(2):
        again = client.add("I live in alpha city", user_id="u")
        assert again["memory_ids"] == again["deduplicated"] == first["memory_ids"]
        assert found(client) == [CITY]
    assert client.list_memories(user_id="u", layers=["l2_fact"])["total"] == 1


@pytest.mark.parametrize("action", ["nothing", "update", "word for word"])
def test_words_of_one_source_do_not_stand_in_another(
    opening: Opening, service: OpenAIDouble, action: str
) -> None:
    """Contract §3: what a source said is found under its filter, and holds nothing of another's."""
    client = opening(mode="pro")
    text = CITY if action == "word for word" else TOWN
    service.say(facts(CITY), facts(text), decide("nothing" if action != "update" else action, "both of them"))
    client.add("one", user_id="u", source="one")
    client.add("two", user_id="u", source="two")
    assert found(client, include_sources=["one"]) == [CITY]
    assert found(client, include_sources=["two"]) == [text]


def test_another_source_may_supersede(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(facts(CITY), facts(TOWN), decide("supersede"))
    client.add("one", user_id="u", source="one")
    client.add("two", user_id="u", source="two")
    assert found(client) == [TOWN]
    old: Any = client.search("alpha", user_ids=["u"], min_score=0.0, include_sources=["one"])
    (item,) = old["memories"]["normal"]
    assert (item["content"], item["superseded_elsewhere"]) == (CITY, True)


def test_two_that_say_the_same_at_once_store_it_once(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    both = threading.Barrier(2)

    def together(body: Any) -> object:
        # both are being read before either is stored, unless one reads the other's exchange with its own
        with suppress(threading.BrokenBarrierError):
            both.wait(2)
        return service.completion(body)

    service.say(facts(CITY), facts(CITY))
    service.routes["/v1/chat/completions"] = together
    with ThreadPoolExecutor(2) as pool:
        adds = [pool.submit(client.add, f"I live in alpha city {at}", user_id="u") for at in range(2)]
        assert all(one.result()["success"] for one in adds)
    # which of the two is told the fact's id depends on who reads the other's exchange along with its own
    assert found(client) == [CITY]
    assert client.doctor()["problems"] == []


@pytest.mark.parametrize("action", ["nothing", "supersede"])
def test_a_known_memory_that_goes_meanwhile_takes_no_fact_along(
    opening: Opening, service: OpenAIDouble, action: str
) -> None:
    client = opening(mode="pro")
    service.say(facts(CITY), facts(TOWN), decide(action), facts(TOWN))
    known = client.add("one", user_id="u")["memory_id"]

    def while_asked(body: Any) -> object:
        if "New facts" in str(body):
            client.delete(known)
            service.routes["/v1/chat/completions"] = service.completion
        return service.completion(body)

    service.routes["/v1/chat/completions"] = while_asked
    added: Any = client.add("alpha two", user_id="u")
    assert [one["part"] for one in added["degraded"]] == ["extraction"]
    assert found(client) == ["alpha two"]
    client.extract(user_id="u")
    assert found(client) == [TOWN]


def test_a_message_too_long_to_be_shown_is_merged_with_nothing(
    opening: Opening, service: OpenAIDouble
) -> None:
    client = opening(mode="pro")
    long = ("alpha town " * 200).strip()
    client.add_extracted([long], user_id="u")
    service.say(facts(TOWN), decide("update", "a part of it"))
    client.add("two", user_id="u")
    shown: Any = service.chats[1].body["messages"]
    assert 80 < shown[1]["content"].count("alpha town") < 110
    assert found(client) == sorted([long, TOWN])


def test_results_of_tools_are_shown_in_brief(opening: Opening, service: OpenAIDouble) -> None:
    client = opening(mode="pro")
    service.say(facts(CITY))
    data = [
        {"role": "user", "content": "where do I live?"},
        {"role": "tool", "content": "row " * 50_000},
        {"role": "assistant", "content": "in alpha city"},
    ]
    client.add(data, user_id="u", scene="chat")
    assert len(service.chats) == 1
    assert len(str(service.chats[0].body["messages"])) < 8_000


def test_windows_hold_everything_in_order() -> None:
    messages = ["a" * 10, "b" * (2 * WINDOW + 5), "", "c" * WINDOW, "d"]
    parts = list(windows(messages))
    text = "".join(part for part, _ in parts)
    for letter, message in zip("abcd", [one for one in messages if one], strict=True):
        assert text.count(letter) == len(message)
    assert all(len(part) < WINDOW + 100 for part, _ in parts)
    wholes = [whole for _, whole in parts]
    assert wholes == sorted(wholes)
    assert wholes[-1] == len(messages)
    assert list(windows([])) == []


def test_what_is_beyond_a_million_characters_stays_as_it_is(
    opening: Opening, service: OpenAIDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hy_memory.llm.extract._MOST_PARTS", 1)
    client = opening(mode="pro")
    service.say(facts(CITY))
    client.add([{"content": f"alpha {'x' * (WINDOW - 50)}"}, {"content": "alpha unread " * 9}], user_id="u")
    assert len(service.chats) == 1
    assert [one[:12] for one in found(client)] == [CITY[:12], "alpha unread"]


def test_schemas_that_fail_fail_no_write(
    opening: Opening, service: OpenAIDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: object) -> None:
        raise EmbeddingError("down")

    monkeypatch.setattr(extracting, "evolve", fails)
    client = opening(mode="ultra")
    service.say(facts(CITY))
    added: Any = client.add("I live in alpha city", user_id="u")
    assert [one["part"] for one in added["degraded"]] == ["evolve"]
    assert found(client) == [CITY]


@pytest.mark.parametrize("odd", ["a\0b", "👨‍👩‍👧 café", "x" * 2001, "  ", "```json\n{}```", "}{"])
def test_odd_texts_in_answers_are_stored_or_refused(
    opening: Opening, service: OpenAIDouble, odd: str
) -> None:
    """C33: whatever a model writes, nothing crashes and the messages are there."""
    client = opening(mode="pro")
    service.say(facts(odd), facts(odd))
    added: Any = client.add("alpha", user_id="u")
    assert ("degraded" in added) is (not odd.strip() or len(odd) > 2000)
    assert client.get(added["memory_id"]) is not None
    assert client.doctor()["problems"] == []


@pytest.mark.parametrize("field", ["session_id", "agent_id"])
@pytest.mark.parametrize("backend", ["faiss", "qdrant", "chroma"])
def test_texts_of_two_sessions_are_never_merged(
    opening: Opening, service: OpenAIDouble, backend: str, field: str
) -> None:
    """Else one's words would be in answers of the other, and stay when it is deleted."""
    client = opening(backend, mode="pro")
    service.say(facts(CITY), facts(TOWN), decide("update", text=f"{CITY}; {TOWN}"))
    client.add("one", user_id="u", **{field: "first"})  # type: ignore[arg-type]
    client.add("two", user_id="u", **{field: "second"})  # type: ignore[arg-type]
    scope: Any = {f"{field}s": ["second"]}
    answer: Any = client.search("alpha", user_ids=["u"], min_score=0.0, **scope)
    assert [one["content"] for one in answer["memories"]["normal"]] == [TOWN]
    client.delete_all(user_id="u", **{f"{field}s": ["first"]})  # type: ignore[arg-type]
    assert found(client) == [TOWN]
