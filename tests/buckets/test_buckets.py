"""The schema and proactive buckets, and evolution chains: on every backend, with both readers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from hy_memory import HyMemoryClient
from tests.support.embedding import DottedEmbedding, text
from tests.support.faulty import Faults
from tests.support.stores import EVERYWHERE, READERS, open_client

ON = pytest.mark.parametrize("backend", EVERYWHERE)
READ = pytest.mark.parametrize("reader", READERS)
NEAR, HALF, RIGHT_ANGLE, CLOSE = 0, 1, 2, 4  # dots: cosine 1, 0.5, 0 and 0.8 with a text without dots


def bucket(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    assert "degraded" not in answer
    return cast("list[dict[str, Any]]", answer["memories"][name])


def found(answer: Mapping[str, Any], name: str) -> list[str]:
    return [one["content"] for one in bucket(answer, name)]


@ON
@READ
def test_schemas_come_forward_by_similarity_and_in_reverse_by_evidence(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    client = everywhere[backend]
    shown = client.add_extracted(["alpha"], user_id=user)["memory_id"]
    unseen = client.add_extracted([text("beta", RIGHT_ANGLE)], user_id=user)["memory_id"]
    near = client.add(text("near", CLOSE), user_id=user, layer="l6_schema")
    client.add(text("citing", RIGHT_ANGLE), user_id=user, layer="l6_schema", evidence_ids=[shown])
    client.add(text("stranger", RIGHT_ANGLE), user_id=user, layer="l6_schema", evidence_ids=[unseen])
    answer = client.search("zeta", user_ids=[user], reader=reader, explain=True)
    assert found(answer, "normal") == ["alpha"]
    assert found(answer, "schema") == [text("near", CLOSE), text("citing", RIGHT_ANGLE)]
    scores = [one["score"] for one in bucket(answer, "schema")]
    assert scores == pytest.approx([0.8, 0.0], abs=1e-4)
    assert {one["retrieval_source"] for one in bucket(answer, "schema")} == {"Schema"}
    assert near["memory_id"] == bucket(answer, "schema")[0]["memory_id"]


@ON
@READ
def test_the_threshold_holds_for_forward_recall_only(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    client = everywhere[backend]
    shown = client.add_extracted(["alpha"], user_id=user)["memory_id"]
    client.add(text("half", HALF), user_id=user, layer="l6_schema")
    client.add(text("cites", HALF), user_id=user, layer="l6_schema", evidence_ids=[shown])
    answer = client.search("zeta", user_ids=[user], reader=reader, schema_min_score=0.6)
    assert found(answer, "schema") == [text("cites", HALF)]


@ON
def test_limits_of_the_schema_bucket(everywhere: dict[str, HyMemoryClient], backend: str, user: str) -> None:
    """0 is off, a negative limit no cap; a full normal bucket takes no schema's place."""
    client = everywhere[backend]
    client.add_extracted([f"fact {number}" for number in range(30)], user_id=user)
    client.add_extracted([f"schema {number}" for number in range(12)], user_id=user, layer="l6_schema")
    sizes = {
        limit: len(found(client.search("zeta", user_ids=[user], schema_limit=limit, limit=20), "schema"))
        for limit in (0, 1, 10, -1)
    }
    assert sizes == {0: 0, 1: 1, 10: 10, -1: 12}
    assert len(found(client.search("zeta", user_ids=[user], limit=20), "normal")) == 20
    without = client.search("zeta", user_ids=[user], limit=0)
    assert found(without, "normal") == []
    assert len(found(without, "schema")) == 10


@ON
@READ
def test_layers_choose_the_buckets(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    """C10: with three layers equally similar, each is found alone."""
    client = everywhere[backend]
    client.add_extracted(["fact"], user_id=user)
    client.add_extracted(["schema"], user_id=user, layer="l6_schema")
    client.add_extracted(["plan"], user_id=user, layer="l7_intention")
    client.add_extracted(["summary"], user_id=user, layer="l3_summary")
    asked: dict[str, tuple[list[str], list[str], list[str]]] = {
        "l2_fact": (["fact"], [], []),
        "l3_summary": (["summary"], [], []),
        "l6_schema": ([], ["schema"], []),
        "l7_intention": ([], [], ["plan"]),
    }
    for layer, (normal, schema, proactive) in asked.items():
        answer = client.search("zeta", user_ids=[user], layers=[layer], intention_limit=5, reader=reader)
        assert found(answer, "normal") == normal
        assert found(answer, "schema") == schema
        assert found(answer, "proactive") == proactive


@ON
@READ
def test_an_intention_is_proactive_until_it_expires_and_a_fact_afterwards(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    """C82: the moment of expiry belongs to the time after it; no read changes anything."""
    client = everywhere[backend]
    now = time.time()
    client.add("open", user_id=user, layer="l7_intention", expires_at=now + 3600)
    client.add("endless", user_id=user, layer="l7_intention")
    client.add("over", user_id=user, layer="l7_intention", expires_at=now - 1)
    before = client.list_memories(user_id=user)
    off = client.search("zeta", user_ids=[user], reader=reader)
    assert found(off, "proactive") == []
    assert found(off, "normal") == ["over"]
    answer = client.search("zeta", user_ids=[user], reader=reader, intention_limit=-1)
    assert sorted(found(answer, "proactive")) == ["endless", "open"]
    assert found(answer, "normal") == ["over"]
    assert (
        len(found(client.search("zeta", user_ids=[user], intention_limit=1, reader=reader), "proactive")) == 1
    )
    assert client.list_memories(user_id=user) == before


@ON
@READ
def test_buckets_keep_to_users_and_sources(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    """Law 6: a schema of another user or of an excluded source is shown by no way, cited or not."""
    client, other = everywhere[backend], f"{user}-other"
    shown = client.add_extracted(["alpha"], user_id=user, source="phone")["memory_id"]
    client.add("mine", user_id=user, source="phone", layer="l6_schema")
    client.add("mixed", user_id=user, source="mixed", layer="l6_schema", evidence_ids=[shown])
    client.add("web", user_id=user, source="web", layer="l6_schema", evidence_ids=[shown])
    client.add("theirs", user_id=other, source="phone", layer="l6_schema", evidence_ids=[shown])
    asked: list[tuple[dict[str, list[str]], set[str]]] = [
        ({}, {"mine", "mixed", "web"}),
        ({"include_sources": ["phone"]}, {"mine"}),
        ({"exclude_sources": ["web"]}, {"mine"}),
        ({"include_sources": ["phone", "mixed"]}, {"mine", "mixed"}),
    ]
    for sources, expected in asked:
        answer = client.search("zeta", user_ids=[user], reader=reader, **cast("dict[str, Any]", sources))
        assert set(found(answer, "schema")) == expected


@ON
@READ
def test_an_updated_memory_brings_its_earlier_texts_and_takes_one_place(
    everywhere: dict[str, HyMemoryClient], backend: str, reader: str, user: str
) -> None:
    client = everywhere[backend]
    memory_id = client.add_extracted(["plays violin"], user_id=user)["memory_id"]
    client.add_extracted(["alpha"], user_id=user)
    for words in ("plays cello", "plays piano"):
        client.update(memory_id, words)
    hits = bucket(client.search("zeta", user_ids=[user], reader=reader), "normal")
    assert sorted(one["content"] for one in hits) == ["alpha", "plays piano"]
    (updated,) = [one for one in hits if one["memory_id"] == memory_id]
    chain = updated["evolution_chain"]
    assert [one["content"] for one in chain] == ["plays piano", "plays cello", "plays violin"]
    assert {one["memory_id"] for one in chain} == {memory_id}
    assert [one["gmt_created"] for one in chain] == sorted(
        (one["gmt_created"] for one in chain), reverse=True
    )
    assert all("evolution_chain" not in one for one in hits if one["memory_id"] != memory_id)


def test_a_bucket_that_fails_leaves_the_rest_standing(folder: Path, faults: Faults) -> None:
    """With the vectors down, keywords still answer, and what is missing is named."""
    config = {"vector_store": {"provider": "faulty"}}
    with open_client("faiss", folder, DottedEmbedding(), config) as client:
        client.add_extracted(["alpha"], user_id="u")
        client.add_extracted(["alpha schema"], user_id="u", layer="l6_schema")
        whole = client.search("alpha", user_ids=["u"], reader="hybrid")
        assert found(whole, "schema") == ["alpha schema"]
        with faults.breaking("vectors"):
            answer = cast("dict[str, Any]", client.search("alpha", user_ids=["u"], reader="hybrid"))
    assert [one["content"] for one in answer["memories"]["normal"]] == ["alpha"]
    assert answer["memories"]["schema"] == []
    assert [one["part"] for one in answer["degraded"]] == ["VDB", "schema"]
    assert "rewrite" in answer
