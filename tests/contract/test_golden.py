"""The guards of all answers can fail: wrong answers are caught, and the right ones beside them are not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import fastjsonschema
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from hy_memory import HyMemoryClient, present
from hy_memory.values.result import Degradation
from tests.support import golden, leaks
from tests.support.golden import VERBS, Watch, check_schema, schema_of

_ITEM: dict[str, Any] = {
    "memory_id": "m1",
    "content": "alpha",
    "score": 0.9,
    "layer": "l2_fact",
    "user_id": "u",
    "agent_id": "a",
    "session_id": "s",
    "source": "app",
    "retrieval_source": "VDB",
    "owner": "user",
    "tags": ["t"],
    "memory_at": None,
    "gmt_created": 5.0,
    "meta": {"memory_id": "theirs"},
}
_ASKED: dict[str, Any] = {
    "user_ids": ["u"],
    "agent_ids": None,
    "session_ids": None,
    "include_sources": None,
    "exclude_sources": None,
    "layers": None,
    "limit": 10,
    "min_score": 0.4,
    "schema_limit": 10,
    "schema_min_score": 0.4,
    "intention_limit": 3,
    "request_id": None,
}


class _Ledger:
    """A ledger of chosen memories in which nothing is written meanwhile, unless `quiet` is False."""

    quiet = True

    def __init__(self) -> None:
        self.held = {
            "mine": leaks.Origin("u", "app"),
            "other": leaks.Origin("u", "other"),
            "theirs": leaks.Origin("v", "app"),
            "mixed": leaks.Origin("u", "mixed"),
            "schema": leaks.Origin("u", "app", ("m1",)),
            "lonely": leaks.Origin("u", "app", ("m9",)),
        }

    def origin(self, memory_id: str) -> leaks.Origin | None:
        return self.held.get(memory_id)

    def is_quiet(self) -> bool:
        return self.quiet


def _item(memory_id: str = "m1", **changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(_ITEM), "memory_id": memory_id, **changed}


def _answer(*normal: dict[str, Any], **more: Any) -> dict[str, Any]:
    memories = {"normal": [*normal], "schema": more.pop("schema", []), "proactive": more.pop("proactive", [])}
    rewrite = {
        "used": False,
        "original_query": "alpha",
        "effective_query": "alpha",
        "created_after": None,
        "scene": "normal",
    }
    return {"request_id": "r", "memories": memories, "rewrite": rewrite, "elapsed_ms": 1.0, **more}


_CHAINED = {"content": "x", "memory_at": None, "gmt_created": 1.0, "layer": "l2_fact"}
LEAKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another user": ({}, _answer(_item(user_id="v"))),
    "a source not on the white list": ({"include_sources": ["other"]}, _answer(_item())),
    "a source on the black list": ({"exclude_sources": [" APP "]}, _answer(_item())),
    "a source on both lists": (
        {"include_sources": ["app"], "exclude_sources": ["app"]},
        _answer(_item()),
    ),
    "mixed beside a white list": ({"include_sources": ["app"]}, _answer(_item(source="mixed"))),
    "mixed under a black list": ({"exclude_sources": ["other"]}, _answer(_item(source="mixed"))),
    "another agent": ({"agent_ids": ["b"]}, _answer(_item())),
    "another session": ({"session_ids": ["t"]}, _answer(_item())),
    "another layer": ({"layers": ["l3_summary"]}, _answer(_item())),
    "a raw turn": ({}, _answer(_item(layer="l1_raw"))),
    "a schema among facts": ({}, _answer(_item(layer="l6_schema"))),
    "a fact among schemas": ({}, _answer(schema=[_item()])),
    "a fact among intentions": ({}, _answer(proactive=[_item()])),
    "a schema of another user": ({}, _answer(schema=[_item(layer="l6_schema", user_id="v")])),
    "a weak schema that cites no hit": (
        {},
        _answer(_item(), schema=[_item("lonely", layer="l6_schema", score=0.1)]),
    ),
    "an old text of another user": (
        {},
        _answer(_item(evolution_chain=[{"memory_id": "theirs", **_CHAINED}])),
    ),
    "an old text from another source": (
        {"include_sources": ["app"]},
        _answer(_item(evolution_chain=[{"memory_id": "other", **_CHAINED}])),
    ),
    "an attached memory of another user": ({}, _answer(_item(capsule_memories=[{"memory_id": "theirs"}]))),
    "a mixed memory attached": (
        {"exclude_sources": ["other"]},
        _answer(_item(folded=[{"memory_id": "mixed"}])),
    ),
    "a series with somebody else's": ({}, _answer(_item(timeline=[{"memory_id": "theirs"}]))),
    "an attachment deep inside": ({}, _answer(_item(episode={"parts": [{"memory_ids": ["theirs"]}]}))),
    "an attachment that no ledger knows": ({}, _answer(_item(timeline=[{"memory_id": "nowhere"}]))),
    "evidence of another user": (
        {},
        _answer(_item(evidence=[{"leg": "cites theirs", "rank": None, "score": 1.0}])),
    ),
    "somebody else's among the dropped": (
        {},
        _answer(trace={"stages": [], "dropped": [{"memory_id": "theirs", "score": 0.1, "reason": "x"}]}),
    ),
    "a score above 1": ({}, _answer(_item(score=1.01))),
    "a score that is no number": ({}, _answer(_item(score=float("nan")))),
    "a rerank score below 0": ({}, _answer(_item(rerank_score=-0.1))),
    "worse before better": ({}, _answer(_item(score=0.5), _item("m2", score=0.6))),
    "equal scores, ids out of order": ({}, _answer(_item("m2"), _item("m1"))),
    "the order of before rerank": (
        {},
        _answer(_item(score=0.9, rerank_score=0.1), _item("m2", score=0.5, rerank_score=0.2)),
    ),
    "twice in a bucket": ({}, _answer(_item(), _item())),
    "in two buckets": ({}, _answer(_item(), schema=[_item(layer="l6_schema")])),
    "more than limit": ({"limit": 1}, _answer(_item("m1"), _item("m2"))),
    "more schemas than their limit": ({"schema_limit": 0}, _answer(schema=[_item(layer="l6_schema")])),
    "more intentions than their limit": (
        {"intention_limit": 0},
        _answer(proactive=[_item(layer="l7_intention")]),
    ),
    "below min_score": ({}, _answer(_item(score=0.399))),
    "an intention below min_score": ({}, _answer(proactive=[_item(layer="l7_intention", score=0.3)])),
    "somebody else's request id": ({"request_id": "mine"}, _answer()),
    "a failure with items": ({}, {**_answer(_item()), "rewrite": None}),
    "a failure that does not say why": ({}, {**_answer(degraded=[]), "rewrite": None}),
}


def _without_rewrite(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if not (key == "rewrite" and value is None)}


@pytest.mark.parametrize(("asked", "answer"), LEAKS.values(), ids=LEAKS)
def test_a_wrong_answer_of_search_is_caught(asked: dict[str, Any], answer: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        leaks.check("search", {**_ASKED, **asked}, _without_rewrite(answer), _Ledger())


RIGHT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, _answer()),
    "one item, whose `meta` is the caller's own": ({}, _answer(_item())),
    "by the white list": ({"include_sources": [" APP "]}, _answer(_item())),
    "mixed where it is named": ({"include_sources": ["mixed"]}, _answer(_item(source="mixed"))),
    "mixed without a filter": (
        {"include_sources": [], "exclude_sources": []},
        _answer(_item(source="mixed")),
    ),
    "past the black list": ({"exclude_sources": ["other"]}, _answer(_item())),
    "own attachments": (
        {"include_sources": ["app"]},
        _answer(_item(folded=[{"memory_id": "mine"}], evolution_chain=[{"memory_id": "m1", **_CHAINED}])),
    ),
    "a weak schema that cites a hit": (
        {},
        _answer(_item(), schema=[_item("schema", layer="l6_schema", score=0.1)]),
    ),
    "the order of rerank": (
        {},
        _answer(_item(score=0.5, rerank_score=0.2), _item("m2", rerank_score=0.1)),
    ),
    "an intention past its expiry": ({}, _answer(_item(layer="l7_intention"))),
    "no cap of schemas": ({"schema_limit": -1}, _answer(schema=[_item(layer="l6_schema")])),
    "a failure": ({}, {**_answer(degraded=[{"part": "reader"}]), "rewrite": None}),
}


@pytest.mark.parametrize(("asked", "answer"), RIGHT.values(), ids=RIGHT)
def test_a_right_answer_of_search_is_not(asked: dict[str, Any], answer: dict[str, Any]) -> None:
    leaks.check("search", {**_ASKED, **asked}, _without_rewrite(answer), _Ledger())


def test_what_is_gone_while_others_write_is_no_leak() -> None:
    ledger = _Ledger()
    ledger.quiet = False
    leaks.check("search", _ASKED, _answer(_item(timeline=[{"memory_id": "nowhere"}])), ledger)
    with pytest.raises(AssertionError, match="asked was for"):
        leaks.check("search", _ASKED, _answer(_item(timeline=[{"memory_id": "theirs"}])), ledger)


_STORED: dict[str, Any] = {
    **{key: value for key, value in _ITEM.items() if key not in ("score", "retrieval_source")},
    "gmt_modified": 5.0,
    "expires_at": None,
    "status": "active",
    "version": 1,
    "supersedes": None,
    "superseded_by": None,
    "evidence_ids": [],
}
_PAGE_ASKED: dict[str, Any] = {"user_id": "u", "limit": 1, "statuses": None, "layers": None}


def _page(**changed: Any) -> dict[str, Any]:
    return {"memories": [{**_STORED, **changed}], "total": 1, "limit": 1, "offset": 0, "has_more": False}


OTHERS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "a page with another user's": ("list_memories", _PAGE_ASKED, _page(user_id="v")),
    "a page from a denied source": (
        "list_memories",
        {**_PAGE_ASKED, "exclude_sources": ["app"]},
        _page(),
    ),
    "a page with another status": ("list_memories", {**_PAGE_ASKED, "statuses": ["superseded"]}, _page()),
    "a page with a raw turn": ("list_memories", _PAGE_ASKED, _page(layer="l1_raw")),
    "a page that is too long": ("list_memories", {**_PAGE_ASKED, "limit": 0}, _page()),
    "a page with a memory twice": (
        "list_memories",
        {**_PAGE_ASKED, "limit": 2},
        {**_page(), "memories": [_STORED, _STORED], "total": 2},
    ),
    "a total that is too small": ("list_memories", _PAGE_ASKED, {**_page(), "total": 0}),
    "a block with another user's": (
        "context",
        {"user_ids": ["u"], "max_tokens": 9},
        {"memory_ids": ["mine", "theirs"], "dropped": [], "tokens": 5},
    ),
    "a block that dropped another user's": (
        "context",
        {"user_ids": ["u"], "max_tokens": 9},
        {"memory_ids": ["mine"], "dropped": ["theirs"], "tokens": 5},
    ),
    "a block beyond its budget": (
        "context",
        {"user_ids": ["u"], "max_tokens": 4},
        {"memory_ids": ["mine"], "dropped": [], "tokens": 5},
    ),
    "a block with a memory twice": (
        "context",
        {"user_ids": ["u"], "max_tokens": 9},
        {"memory_ids": ["mine"], "dropped": ["mine"], "tokens": 5},
    ),
    "a profile that rests on another user's": (
        "get_user_profile",
        {"user_id": "u"},
        {"user_id": "u", "basic_info": {"name": {"memory_ids": [], "history": [{"memory_ids": ["theirs"]}]}}},
    ),
    "a profile of another user": ("get_user_profile", {"user_id": "u"}, {"user_id": "v", "basic_info": {}}),
    "another memory": ("get", {"memory_id": "m2", "user_id": None}, _STORED),
    "another user's memory": ("get", {"memory_id": "m1", "user_id": "v"}, _STORED),
    "another user's successor": (
        "get",
        {"memory_id": "m1", "user_id": None},
        {**_STORED, "superseded_by": "theirs"},
    ),
    "another memory's version": (
        "get",
        {"memory_id": "m1", "user_id": None},
        {**_STORED, "versions": [{"memory_id": "mine"}]},
    ),
    "another user's event": (
        "get_recent_history",
        {"user_id": "u"},
        [{"user_id": "v", "memory_id": "theirs"}],
    ),
    "another memory's event": (
        "history",
        {"memory_id": "m1", "user_id": None},
        [{"user_id": "u", "memory_id": "mine"}],
    ),
    "another user's write": (
        "get_write_outcome",
        {"request_id": "r", "user_id": "u"},
        {"request_id": "r", "user_id": "v"},
    ),
    "another write": (
        "get_write_outcome",
        {"request_id": "r", "user_id": None},
        {"request_id": "other", "user_id": "u"},
    ),
    "a schema made for another user": (
        "evolve",
        {"user_id": "u"},
        {"created": ["theirs"], "updated": [], "unchanged": []},
    ),
}


@pytest.mark.parametrize(("verb", "asked", "answer"), OTHERS.values(), ids=OTHERS)
def test_a_wrong_answer_of_another_verb_is_caught(verb: str, asked: dict[str, Any], answer: Any) -> None:
    with pytest.raises(AssertionError):
        leaks.check(verb, asked, answer, _Ledger())


def test_their_right_answers_are_not() -> None:
    ledger = _Ledger()
    leaks.check("list_memories", {**_PAGE_ASKED, "include_sources": ["app"]}, _page(), ledger)
    leaks.check("get", {"memory_id": "m1", "user_id": "u"}, _STORED, ledger)
    leaks.check("get", {"memory_id": "m1", "user_id": "u"}, None, ledger)
    block = {"memory_ids": ["mine"], "dropped": ["other"], "tokens": 9}
    leaks.check("context", {"user_ids": ["u"], "max_tokens": 9}, block, ledger)


# -- schemas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_schemas_are_schemas(verb: str) -> None:
    Draft202012Validator.check_schema(schema_of(verb))


def _change(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(answer: Any) -> None:
        for key in path[:-1]:
            answer = answer[key]
        answer[path[-1]] = value

    return apply


def _drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def apply(answer: Any) -> None:
        for key in path[:-1]:
            answer = answer[key]
        del answer[path[-1]]

    return apply


_FIRST = ("memories", "normal", 0)
MUTATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    **{f"no {key} in an item": _drop(*_FIRST, key) for key in _ITEM},
    **{f"{key} of an item is an object": _change(*_FIRST, key, value=object()) for key in _ITEM},
    "a key more in an item": _change(*_FIRST, "dense_score", value=0.5),
    "a score above 1": _change(*_FIRST, "score", value=1.5),
    "a score below 0": _change(*_FIRST, "score", value=-0.5),
    "an unknown layer": _change(*_FIRST, "layer", value="l9"),
    "a bucket missing": _drop("memories", "schema"),
    "a bucket more": _change("memories", "other", value=[]),
    "no rewrite and no degraded": _drop("rewrite"),
    "no request id": _drop("request_id"),
    "no scene": _drop("rewrite", "scene"),
    "a note without its part": _change("degraded", value=[{"error": "x", "retryable": True}]),
    "a trace of another kind": _change("trace", value={"stages": [{"stage": "cut"}]}),
}


@pytest.mark.parametrize("change", MUTATIONS.values(), ids=MUTATIONS)
def test_an_answer_of_another_shape_is_caught(change: Callable[[dict[str, Any]], None]) -> None:
    """C43. Both validators agree, and the message names the place."""
    answer = _answer(_item(rerank_score=0.5))
    check_schema("search", answer)
    change(answer)
    with pytest.raises(AssertionError, match=r"search\.json: \$"):
        check_schema("search", answer)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema_of("search")).validate(answer)


def test_a_failed_search_is_told_from_a_search_that_found_nothing() -> None:
    """C43: one of two shapes, never both."""
    schema = schema_of("search")
    shapes = [
        fastjsonschema.compile({"$ref": one["$ref"], "$defs": schema["$defs"]})
        for one in schema["anyOf"]
        if one["$ref"].endswith("Search")
    ]
    assert len(shapes) == 2

    def fits(answer: object) -> list[bool]:
        return [_is_valid(one, answer) for one in shapes]

    failed: Any = present.failed_answer("r", [Degradation("reader", "it broke", True)])
    assert fits(failed) == [False, True]
    assert fits(_answer()) == [True, False]
    assert fits(_answer(degraded=failed["degraded"])) == [True, False]
    assert fits({key: value for key, value in failed.items() if key != "degraded"}) == [False, False]


def _is_valid(validate: Callable[[object], object], answer: object) -> bool:
    try:
        validate(answer)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


# -- the watch -----------------------------------------------------------------------------------


def test_every_verb_is_watched(client: HyMemoryClient) -> None:
    public = {name for name in dir(HyMemoryClient) if hasattr(HyMemoryClient, f"async_{name}")} - {"close"}
    assert set(VERBS) == public, "run: python docs/generate.py"
    for verb in VERBS:
        for name in (verb, f"async_{verb}"):
            assert getattr(HyMemoryClient, name).__module__.startswith("hy_memory.")
            assert getattr(HyMemoryClient, name).__wrapped__ is golden.plain(name)
    assert client.doctor()["healthy"]


def test_what_the_watch_finds_fails_the_call_and_is_noted(
    client: HyMemoryClient, watched_verbs: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = client.add("alpha", user_id="u")["memory_id"]
    monkeypatch.setattr(present, "_hit", lambda hit, explain: {"memory_id": hit.record.id})  # pyright: ignore
    before = len(watched_verbs.violations)
    with pytest.raises(AssertionError, match=r"search\.json"):
        client.search("alpha", user_ids=["u"])
    assert len(watched_verbs.violations) == before + 1
    del watched_verbs.violations[before:]
    monkeypatch.undo()
    assert client.search("alpha", user_ids=["u"])["memories"]["normal"][0]["memory_id"] == made
