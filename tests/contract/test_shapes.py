"""The shape of every answer: keys and types, for both readers, with and without results (contract §2, §8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from hy_memory import HyMemoryClient
from tests.support.embedding import DottedEmbedding, text
from tests.support.faulty import Faults
from tests.support.stores import BACKENDS, READERS, contents, normal, open_client

_NUMBER = (int, float)
_MAYBE = (int, float, type(None))
ITEM: dict[str, Any] = {
    "memory_id": str,
    "content": str,
    "score": float,
    "layer": str,
    "user_id": str,
    "agent_id": str,
    "session_id": str,
    "source": str,
    "retrieval_source": str,
    "owner": str,
    "tags": list,
    "memory_at": _MAYBE,
    "gmt_created": _NUMBER,
    "meta": dict,
}
EPISODE: dict[str, Any] = {"episode_id": str, "capsule_memories": list, "timeline": list}
"""What an item has as well where its episode holds more than itself."""
STORED: dict[str, Any] = {
    **{key: kind for key, kind in ITEM.items() if key not in ("score", "retrieval_source")},
    "scene": str,
    "gmt_modified": _NUMBER,
    "expires_at": _MAYBE,
    "status": str,
    "version": int,
    "supersedes": (str, type(None)),
    "superseded_by": (str, type(None)),
    "evidence_ids": list,
}
REWRITE: dict[str, Any] = {
    "used": bool,
    "original_query": str,
    "effective_query": str,
    "created_after": _MAYBE,
    "scene": str,
}
EVENT: dict[str, Any] = {
    "memory_id": str,
    "user_id": str,
    "event": str,
    "version": int,
    "at": _NUMBER,
    "content": (str, type(None)),
}


def check_shape(value: object, shape: dict[str, Any]) -> None:
    """Assert that a dictionary has exactly these keys, each of its type."""
    found = cast("dict[str, Any]", value)
    assert sorted(found) == sorted(shape)
    for key, kind in shape.items():
        assert isinstance(found[key], kind), (key, found[key])


def check_answer_shape(answer: object, *, failed: bool = False) -> None:
    """Assert the shape of a search's answer."""
    found = dict(cast("dict[str, Any]", answer))
    for part in found.pop("degraded", ()):
        check_shape(part, {"part": str, "error": str, "retryable": bool})
    whole: dict[str, Any] = {"request_id": str, "memories": dict, "elapsed_ms": float}
    check_shape(found, whole if failed else {**whole, "rewrite": dict})
    check_shape(found["memories"], {"normal": list, "schema": list, "proactive": list})
    if not failed:
        check_shape(found["rewrite"], REWRITE)
        assert found["rewrite"]["scene"] == "normal"
    assert found["elapsed_ms"] > 0
    for item in found["memories"]["normal"]:
        check_shape(item, {**ITEM, **EPISODE} if "episode_id" in item else ITEM)
        assert 0.0 <= item["score"] <= 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_answer_of_search_is_pinned(folder: Path, backend: str) -> None:
    """C43: three buckets always present, items with all their keys and no others."""
    with open_client(backend, folder) as client:
        for reader in READERS:
            check_answer_shape(client.search("alpha", user_ids=["u"], reader=reader))
        made = client.add(
            [{"role": "user", "name": "Ann", "content": "alpha"}],
            user_id="u",
            source=" App ",
            tags=["t"],
            metadata={"k": [1, {"deep": None}]},
            memory_at="2024-05-07T09:00:00+02:00",
        )
        for reader in READERS:
            answer = client.search("alpha", user_ids=["u"], reader=reader, request_id="mine", created_after=5)
            check_answer_shape(answer)
            assert answer.get("request_id") == "mine"
            assert answer.get("rewrite") == {
                "used": False,
                "original_query": "alpha",
                "effective_query": "alpha",
                "created_after": 5.0,
                "scene": "normal",
            }
            (item,) = normal(answer)
            assert item == {
                **item,
                "memory_id": made["memory_id"],
                "content": "alpha",
                "layer": "l2_fact",
                "user_id": "u",
                "agent_id": "default_agent",
                "session_id": "default_session",
                "source": "app",
                "owner": "Ann",
                "tags": ["t"],
                "memory_at": 1715065200.0,
                "meta": {"k": [1, {"deep": None}]},
            }


def test_retrieval_source_names_the_leg_that_says_more(client: HyMemoryClient) -> None:
    client.add_extracted(["alpha", text("gamma", 2)], user_id="u")
    found = normal(client.search("gamma", user_ids=["u"], reader="hybrid"))
    assert {one["content"]: one["retrieval_source"] for one in found} == {
        "alpha": "VDB",
        text("gamma", 2): "BM25",
    }


def test_answers_of_the_writing_verbs(client: HyMemoryClient) -> None:
    answer = client.add(
        [{"role": "user", "content": "alpha"}, {"role": "assistant", "content": "beta"}], user_id="u"
    )
    shape = {
        "success": bool,
        "scene": str,
        "memory_id": str,
        "memory_ids": list,
        "deduplicated": list,
        "searchable": bool,
        "request_id": str,
        "elapsed_ms": float,
    }
    check_shape(answer, shape)
    assert (answer["success"], answer["scene"], answer["searchable"]) == (True, "chat", True)
    assert answer["memory_ids"][0] == answer["memory_id"]
    assert len(set(answer["memory_ids"])) == 2
    facts = client.add_extracted(["gamma"], user_id="u")
    check_shape(facts, shape)
    check_shape(client.update(answer["memory_id"], "delta"), STORED)
    assert client.clone_user("u", "v") == {"success": True, "copied_count": 4}
    assert client.delete(facts["memory_id"]) == {"success": True, "deleted_count": 1}
    assert client.delete(facts["memory_id"]) == {"success": True, "deleted_count": 0}
    assert client.delete_all(user_id="u") == {"success": True, "deleted_count": 2}
    assert client.delete_all(user_id="u") == {"success": True, "deleted_count": 0}


def test_answers_of_the_looking_verbs(client: HyMemoryClient) -> None:
    answer = client.add("alpha", user_id="u", request_id="r1")
    memory_id = answer["memory_id"]
    client.update(memory_id, "beta")
    stored = cast("dict[str, Any]", client.get(memory_id, versions=True))
    (old,) = stored.pop("versions")
    check_shape(stored, STORED)
    assert (stored["content"], stored["version"], stored["status"]) == ("beta", 2, "active")
    kinds = {"memory_id": str, "version": int, "content": str, "recorded_at": float, "replaced_at": float}
    check_shape(old, {**kinds, "memory_at": _MAYBE})
    assert (old["content"], old["version"]) == ("alpha", 1)
    assert client.get("unknown") is None
    page = client.list_memories(user_id="u")
    check_shape(page, {"memories": list, "total": int, "limit": int, "offset": int, "has_more": bool})
    assert page["memories"] == [stored]
    assert client.memory_stats(user_id="u") == {
        "user_id": "u",
        "total": 1,
        "by_layer": {"l2_fact": 1, "l1_raw": 1},
        "scenes": {},
    }
    events = client.history(memory_id)
    assert [(one["event"], one["version"], one["content"]) for one in events] == [
        ("update", 2, "beta"),
        ("add", 1, "alpha"),
    ]
    for one in (*events, *client.get_recent_history(user_id="u")):
        check_shape(one, EVENT)
    outcome = client.get_write_outcome("r1")
    check_shape(
        outcome, {"request_id": str, "user_id": str, "status": str, "memory_ids": list, "recorded_at": float}
    )
    assert client.get_write_outcome("r2") is None
    assert client.doctor() == {"healthy": True, "problems": [], "repaired": 0, "users": 1}


def test_looking_with_a_user_id_sees_only_theirs(client: HyMemoryClient) -> None:
    memory_id = client.add("alpha", user_id="u", request_id="r")["memory_id"]
    assert client.get(memory_id, user_id="v") is None
    assert client.history(memory_id, user_id="v") == []
    assert client.get_write_outcome("r", user_id="v") is None
    assert client.delete(memory_id, user_id="v")["deleted_count"] == 0
    with pytest.raises(LookupError):
        client.update(memory_id, "beta", user_id="v")
    assert (client.get(memory_id, user_id="u") or {}).get("content") == "alpha"


def test_explain_adds_a_trace_and_evidence_and_only_then(client: HyMemoryClient) -> None:
    client.add_extracted(["alpha", text("alpha", 1), text("beta", 2), *["alpha beta"] * 3], user_id="u")
    plain = cast("dict[str, Any]", client.search("alpha", user_ids=["u"], reader="hybrid", limit=3))
    assert "trace" not in plain
    answer = cast(
        "dict[str, Any]", client.search("alpha", user_ids=["u"], reader="hybrid", limit=3, explain=True)
    )
    assert [one["memory_id"] for one in normal(answer)] == [one["memory_id"] for one in normal(plain)]
    stages = answer["trace"]["stages"]
    names = [
        "embed",
        "vector_leg",
        "keyword_leg",
        "turns",
        "neighbours",
        "speakers",
        "times",
        "recall",
        "hydrate",
    ]
    names += ["rerank", "cut", "schemas", "intentions", "chains", "episodes"]
    assert [one["stage"] for one in stages] == names
    for one in stages:
        check_shape(one, {"stage": str, "ms": float, "in": int, "out": int})
    assert "dropped" not in answer["trace"]
    for item in normal(answer):
        assert [one["leg"] for one in item["evidence"]] == ["VDB", "BM25"]
        for one in item["evidence"]:
            check_shape(one, {"leg": str, "rank": (int, type(None)), "score": float})
            assert 0.0 <= one["score"] <= 1.0
    dropped = cast(
        "dict[str, Any]", client.search("alpha", user_ids=["u"], reader="hybrid", limit=3, explain="dropped")
    )["trace"]["dropped"]
    for one in dropped:
        check_shape(one, {"memory_id": str, "score": float, "reason": str})
    assert sorted(one["reason"] for one in dropped) == ["below min_score 0.4", "beyond limit", "beyond limit"]


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_that_fails_answers_with_empty_buckets_and_says_so(
    folder: Path, faults: Faults, reader: str
) -> None:
    """C43: the failure answer has the three buckets, `degraded` and no `rewrite`."""
    with open_client("faulty", folder) as client:
        client.add("alpha", user_id="u")
        with faults.breaking("vectors", "keywords"):
            answer = client.search("alpha", user_ids=["u"], reader=reader)
        check_answer_shape(answer, failed=True)
        assert answer.get("memories") == {"normal": [], "schema": [], "proactive": []}
        (part,) = answer.get("degraded", [])
        assert part["part"] == "reader"
        assert part["retryable"]
        assert "told to fail" in part["error"]
        assert contents(client.search("alpha", user_ids=["u"], reader=reader)) == ["alpha"]


def test_a_keyword_leg_that_fails_leaves_the_vector_results(folder: Path, faults: Faults) -> None:
    with open_client("faulty", folder) as client:
        client.add_extracted(["alpha", text("alpha", 1), text("alpha", 2)], user_id="u")
        plain = client.search("alpha", user_ids=["u"])
        with faults.breaking("keywords"):
            answer = client.search("alpha", user_ids=["u"], reader="hybrid")
        check_answer_shape(answer)
        assert [one["part"] for one in answer.get("degraded", [])] == ["BM25"]
        assert normal(answer) == normal(plain)
        assert "degraded" not in plain


def test_a_vector_leg_that_fails_leaves_the_keyword_results(folder: Path, faults: Faults) -> None:
    with open_client("faulty", folder) as client:
        client.add_extracted(["alpha", text("beta", 2)], user_id="u")
        with faults.breaking("vectors"):
            answer = client.search("beta", user_ids=["u"], reader="hybrid")
        check_answer_shape(answer)
        assert [one["part"] for one in answer.get("degraded", [])] == ["VDB"]
        assert contents(answer) == [text("beta", 2)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_embedder_that_fails_leaves_the_keyword_results(folder: Path, backend: str) -> None:
    embedder = DottedEmbedding()
    with open_client(backend, folder, embedder) as client:
        client.add_extracted(["alpha", "beta"], user_id="u")
        embedder.fail_next = 1
        answer = client.search("beta", user_ids=["u"], reader="hybrid")
        if backend == "chroma":
            check_answer_shape(answer, failed=True)  # it has no leg but the vector's
            assert [one["part"] for one in answer.get("degraded", [])] == ["reader"]
        else:
            check_answer_shape(answer)
            assert contents(answer) == ["beta"]
            assert [one["part"] for one in answer.get("degraded", [])] == ["embedder"]
        embedder.fail_next = 1
        answer = client.search("beta", user_ids=["u"], reader="legacy")
        check_answer_shape(answer, failed=True)
        assert "EmbeddingError" in answer.get("degraded", [])[0]["error"]


def test_notes_on_failures_hold_no_memory_text(
    folder: Path, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = DottedEmbedding()
    with open_client("faulty", folder, embedder) as client:
        client.add("xylophone secrets", user_id="u")
        embedder.fail_next = 1
        with faults.breaking("keywords"):
            answer = client.search("xylophone", user_ids=["u"], reader="hybrid")
    assert "xylophone" not in str(answer.get("degraded")).lower()
    assert caplog.text
    assert "xylophone" not in caplog.text
