"""What a stranger found who tried to break it: each fault as the right outcome."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConfigurationError, ForkedError, InvalidArgumentError
from hy_memory.ports import BackendOptions
from hy_memory.settings.load import load_settings
from tests.support.stores import normal


def _habit(client: HyMemoryClient, user: str = "u") -> list[str]:
    facts = [f"sees Dr. Weiss on Monday, visit {number}" for number in range(4)]
    memory_ids = client.add_extracted(facts, user_id=user)["memory_ids"]
    client.evolve(user)
    return memory_ids


def _schemas(client: HyMemoryClient, user: str = "u") -> list[str]:
    return [one["content"] for one in client.search("Weiss", user_ids=[user])["memories"]["schema"]]


def test_a_deleted_text_is_in_no_schema(client: HyMemoryClient) -> None:
    for memory_id in _habit(client):
        content = cast("Any", client.get(memory_id))["content"]
        client.delete(memory_id)
        assert content not in _schemas(client)
        client.evolve("u")
        assert content not in _schemas(client)
    assert client.memory_stats(user_id="u")["by_layer"].get("l6_schema", 0) == 0


def test_an_updated_text_is_in_no_schema(client: HyMemoryClient) -> None:
    memory_ids = _habit(client)
    (spoken,) = _schemas(client)
    (speaker,) = [one for one in memory_ids if cast("Any", client.get(one))["content"] == spoken]
    client.update(speaker, "sees nobody")
    assert spoken not in _schemas(client)
    done = client.evolve("u")
    chains = [client.get(one, versions=True) for one in [*done["created"], *done["updated"]]]
    assert chains
    assert all(cast("Any", one)["versions"] == [] for one in chains)


def test_evidence_of_another_user_lifts_no_schema(client: HyMemoryClient) -> None:
    victim = client.add_extracted(["alpha"], user_id="victim")["memory_id"]
    client.add("pushed ..", user_id="attacker", layer="l6_schema", evidence_ids=[victim])
    answer = client.search("zeta", user_ids=["victim", "attacker"], schema_min_score=0.99)
    assert [one["memory_id"] for one in normal(answer)] == [victim]
    assert answer["memories"]["schema"] == []


def test_a_request_id_of_two_users_tells_neither_about_the_other(client: HyMemoryClient) -> None:
    client.add("one", user_id="a", request_id="turn-1")
    mine = client.add("two", user_id="b", request_id="turn-1")
    with pytest.raises(InvalidArgumentError, match="user_id"):
        client.get_write_outcome("turn-1")
    outcome = client.get_write_outcome("turn-1", user_id="b")
    assert outcome is not None
    assert outcome["memory_ids"] == mine["memory_ids"]


def test_a_repeated_request_does_not_call_a_deleted_memory_searchable(client: HyMemoryClient) -> None:
    first = client.add("one", user_id="u", request_id="r")
    client.delete(first["memory_id"])
    again = client.add("one", user_id="u", request_id="r")
    assert again["memory_ids"] == first["memory_ids"]
    assert again["searchable"] is False


def test_numbers_of_numpy_are_numbers_and_its_arrays_no_lists(client: HyMemoryClient) -> None:
    client.add("alpha", user_id=cast("str", np.str_("u")), memory_at=cast("Any", np.int64(1_700_000_000)))
    found = client.search(
        "zeta",
        user_ids=["u"],
        limit=cast("int", np.int64(3)),
        min_score=cast("float", np.float32(0.4)),
        created_after=cast("float", np.float64(1_600_000_000)),
    )
    assert [type(one["user_id"]) for one in normal(found)] == [str]
    for name in ("agent_ids", "session_ids", "include_sources", "exclude_sources", "layers"):
        with pytest.raises(InvalidArgumentError, match=name):
            client.search("zeta", user_ids=["u"], **cast("Any", {name: np.array(["g"])}))


def test_lists_have_an_end(client: HyMemoryClient) -> None:
    many = [f"user{number}" for number in range(10_001)]
    with pytest.raises(InvalidArgumentError, match="10000"):
        client.search("zeta", user_ids=many)
    with pytest.raises(InvalidArgumentError, match="10000"):
        client.search("zeta", user_ids=["u"], filters={"metadata.a": {"nin": list(range(10_001))}})
    assert client.list_memories(user_id="u", limit=10**30, offset=10**30)["memories"] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_client_does_not_cross_a_fork(client: HyMemoryClient) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            client.search("zeta", user_ids=["u"])
        except ForkedError:
            os.write(writing, b"refused")
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"refused"
    os.close(reading)
    assert normal(client.search("zeta", user_ids=["u"])) == []


def test_settings_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="str"):
        load_settings("a/path")
    with pytest.raises(ConfigurationError, match="list"):
        load_settings([])
    odd = tmp_path / ".env"
    odd.write_bytes(b"MEMORY_DATA_DIR=\xff\xfe")
    with pytest.raises(ConfigurationError, match="UTF-8"):
        load_settings(dotenv=odd)
    with pytest.raises(ConfigurationError, match="MEMORY_SEARCH_RAISE"):
        load_settings(environ={"MEMORY_SEARCH_RAISE": "maybe"})
    with pytest.raises(ConfigurationError, match="topology"):
        load_settings({"topology": {}}, environ={})


def test_thresholds_of_other_scenes_are_checked(client: HyMemoryClient) -> None:
    with pytest.raises(InvalidArgumentError, match="working_fact_min_score"):
        client.search("zeta", user_ids=["u"], working_fact_min_score=cast("float", "x"))


def test_addresses_are_shown_without_passwords() -> None:
    options = BackendOptions(dims=3, url="http://user:secret@127.0.0.1:6333/path")
    assert options.shown_url == "http://127.0.0.1:6333/path"
