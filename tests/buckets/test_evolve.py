"""`evolve` without a language model: schemas from what keeps coming back."""

from __future__ import annotations

from pathlib import Path

import pytest

from hy_memory import HyMemoryClient
from hy_memory.maintenance.reembed import reembed
from hy_memory.settings.load import load_settings
from tests.support.embedding import text
from tests.support.stores import open_client

STRANGER = 12  # dots: at right angles to everything else used here


def _facts(
    client: HyMemoryClient, user: str, *names: str, dots: int = 0, source: str = "default"
) -> list[str]:
    facts = [text(name, dots) for name in names]
    return client.add_extracted(facts, user_id=user, source=source)["memory_ids"]


@pytest.mark.parametrize("client", ["memory", "faiss"], indirect=True)
def test_a_habit_becomes_a_schema_that_rests_on_its_memories(client: HyMemoryClient) -> None:
    members = _facts(client, "u", "tea", "more tea", "tea again")
    _facts(client, "u", "lonely", dots=STRANGER)
    done = client.evolve("u")
    (schema_id,) = done["created"]
    schema = client.get(schema_id)
    assert schema is not None
    assert sorted(schema["evidence_ids"]) == sorted(members)
    assert schema["layer"] == "l6_schema"
    assert schema["content"] in {"tea", "more tea", "tea again"}
    shown = client.search("zeta", user_ids=["u"])["memories"]["schema"]
    assert [one["memory_id"] for one in shown] == [schema_id]


def test_again_on_unchanged_memory_changes_nothing(client: HyMemoryClient) -> None:
    _facts(client, "u", "tea", "more tea", "tea again")
    (schema_id,) = client.evolve("u")["created"]
    before = client.list_memories(user_id="u")
    again = client.evolve("u")
    assert (again["created"], again["updated"], again["unchanged"]) == ([], [], [schema_id])
    assert client.list_memories(user_id="u") == before


def test_new_memories_extend_the_schema_they_belong_to(client: HyMemoryClient) -> None:
    _facts(client, "u", "tea", "more tea", "tea again")
    (schema_id,) = client.evolve("u")["created"]
    _facts(client, "u", "tea once more")
    assert client.evolve("u")["updated"] == [schema_id]
    schema = client.get(schema_id, versions=True)
    assert schema is not None
    assert len(schema["evidence_ids"]) == 4
    assert schema["version"] == 2


def test_sources_that_differ_make_it_mixed_and_users_never_meet(client: HyMemoryClient) -> None:
    _facts(client, "u", "tea", "more tea", source="phone")
    _facts(client, "u", "tea again", source="web")
    _facts(client, "other", "tea", "tea", "tea")
    (schema_id,) = client.evolve("u")["created"]
    schema = client.get(schema_id)
    assert schema is not None
    assert schema["source"] == "mixed"
    nothing = client.evolve("nobody")
    assert (nothing["created"], nothing["updated"], nothing["unchanged"], nothing["removed"]) == (
        [],
        [],
        [],
        [],
    )
    phone = client.search("zeta", user_ids=["u"], include_sources=["phone"])["memories"]
    assert phone["schema"] == []
    assert client.memory_stats(user_id="other")["by_layer"].get("l6_schema") is None


def test_a_schema_of_the_callers_own_is_left_alone(client: HyMemoryClient) -> None:
    members = _facts(client, "u", "tea", "more tea", "tea again")
    own = client.add("she loves tea", user_id="u", layer="l6_schema", evidence_ids=members)["memory_id"]
    assert own not in client.evolve("u")["updated"]
    kept = client.get(own)
    assert kept is not None
    assert (kept["content"], kept["version"]) == ("she loves tea", 1)


def test_a_client_notices_that_another_process_made_the_vectors_anew(folder: Path) -> None:
    """Vectors of two embedders are never compared, also when their length is the same."""
    with open_client("faiss", folder) as client:
        _facts(client, "u", "tea")
        assert len(client.search("tea", user_ids=["u"])["memories"]["normal"]) == 1
        settings = load_settings({"data_dir": str(folder), "embedder": {"embedding_dims": 8}})
        reembed(settings, embedder="hashed")
        answer = client.search("tea", user_ids=["u"])
        assert "rewrite" not in answer
        (failed,) = answer.get("degraded", [])
        assert "reembed" in failed["error"]
        assert not failed["retryable"]
