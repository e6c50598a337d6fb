"""The profile through the client: what it says, what it rests on, and that it follows its memories."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ClosedError, InvalidArgumentError

pytestmark = pytest.mark.parametrize("client", ["memory", "faiss"], indirect=True)
LYON, OSLO = "2024-01-01T00:00:00Z", "2024-05-07T00:00:00Z"
LYON_AT, OSLO_AT = 1_704_067_200.0, 1_715_040_000.0


def told(client: HyMemoryClient, text: object, **more: Any) -> str:
    add = cast("Any", client.add)
    return add(text, **{"user_id": "u", **more})["memory_id"]


def known(client: HyMemoryClient, user_id: str = "u") -> Mapping[str, Any]:
    answer = client.get_user_profile(user_id=user_id)
    assert sorted(answer) == ["basic_info", "user_id"]
    assert answer["user_id"] == user_id
    return answer["basic_info"]


def values(client: HyMemoryClient, user_id: str = "u") -> dict[str, str | None]:
    return {name: field["value"] for name, field in known(client, user_id).items()}


def past(client: HyMemoryClient, field: str) -> list[str]:
    return [one["value"] for one in known(client)[field]["history"]]


def test_every_field_is_read_and_names_its_evidence(client: HyMemoryClient) -> None:
    first = told(client, "My name is Maya Chen and I'm 32 years old.")
    second = told(client, [{"role": "user", "content": "I work as a nurse at St. Mary's."}])
    third = told(client, "I live in Lyon.")
    told(client, "What a lovely day.")
    assert values(client) == {
        "name": "Maya Chen",
        "age": "32",
        "location": "Lyon",
        "occupation": "nurse",
        "employer": "St. Mary's",
    }
    evidence = {name: field["memory_ids"] for name, field in known(client).items()}
    assert evidence == {
        "name": [first],
        "age": [first],
        "location": [third],
        "occupation": [second],
        "employer": [second],
    }


def test_chinese_is_read_too(client: HyMemoryClient) -> None:
    memory_id = told(client, "我叫王芳,今年28岁,住在杭州,我在腾讯工作。")
    assert values(client) == {"name": "王芳", "age": "28", "location": "杭州", "employer": "腾讯"}
    assert {tuple(field["memory_ids"]) for field in known(client).values()} == {(memory_id,)}


def test_nothing_known_is_an_empty_profile(client: HyMemoryClient) -> None:
    told(client, "If I lived in Rome, I would be happy. Do I live in Rome?")
    assert known(client) == {}
    assert known(client, "nobody") == {}


def test_a_change_over_time_keeps_its_history(client: HyMemoryClient) -> None:
    first = told(client, "I live in Lyon.", memory_at=LYON)
    second = told(client, "I moved to Oslo.", memory_at=OSLO)
    assert known(client)["location"] == {
        "value": "Oslo",
        "memory_ids": [second],
        "since": OSLO_AT,
        "updated_at": OSLO_AT,
        "history": [
            {
                "value": "Lyon",
                "first_at": LYON_AT,
                "last_at": LYON_AT,
                "memory_ids": [first],
                "is_past": False,
            },
            {
                "value": "Oslo",
                "first_at": OSLO_AT,
                "last_at": OSLO_AT,
                "memory_ids": [second],
                "is_past": False,
            },
        ],
    }


def test_the_time_of_the_event_decides_and_not_of_the_writing(client: HyMemoryClient) -> None:
    told(client, "I moved to Oslo.", memory_at=OSLO)
    told(client, "I live in Lyon.", memory_at=LYON)
    assert values(client) == {"location": "Oslo"}
    assert past(client, "location") == ["Lyon", "Oslo"]


def test_what_is_over_is_no_value_now(client: HyMemoryClient) -> None:
    told(client, "I used to work at Acme.")
    field = known(client)["employer"]
    assert (field["value"], field["memory_ids"], field["since"], field["updated_at"]) == (
        None,
        [],
        None,
        None,
    )
    assert [(one["value"], one["is_past"]) for one in field["history"]] == [("Acme", True)]


def test_an_update_changes_what_a_memory_claims(client: HyMemoryClient) -> None:
    memory_id = told(client, "I live in Lyon.", memory_at=LYON)
    client.update(memory_id, tags=["home"])
    assert values(client) == {"location": "Lyon"}
    client.update(memory_id, "I live in Oslo.")
    assert past(client, "location") == ["Oslo"]
    client.update(memory_id, memory_at=OSLO)
    assert known(client)["location"]["since"] == OSLO_AT
    client.update(memory_id, "I like the sea.")
    assert known(client) == {}


def test_a_deleted_memory_takes_its_claims_along(client: HyMemoryClient) -> None:
    told(client, "I live in Lyon.", memory_at=LYON)
    second = told(client, "I moved to Oslo.", memory_at=OSLO)
    client.delete(second)
    assert values(client) == {"location": "Lyon"}
    assert past(client, "location") == ["Lyon"]


def test_delete_all_empties_the_profile(client: HyMemoryClient) -> None:
    told(client, "I live in Lyon.", session_id="s1")
    told(client, "My name is Maya.", session_id="s2")
    client.delete_all(user_id="u", session_ids=["s1"])
    assert values(client) == {"name": "Maya"}
    client.delete_all(user_id="u")
    assert known(client) == {}


def test_a_clone_has_the_profile_with_evidence_of_its_own(client: HyMemoryClient) -> None:
    memory_id = told(client, "I live in Lyon.")
    client.clone_user("u", "copy")
    (evidence,) = known(client, "copy")["location"]["memory_ids"]
    assert evidence != memory_id
    found = client.get(evidence, user_id="copy")
    assert found is not None
    assert found["content"] == "I live in Lyon."
    client.delete_all(user_id="u")
    assert values(client, "copy") == {"location": "Lyon"}


def test_another_users_life_is_never_shown(client: HyMemoryClient) -> None:
    told(client, "I live in Lyon.", user_id="u2")
    told(client, "My name is Zoe.", user_id="U")
    told(client, "I'm 32 years old.")
    assert values(client) == {"age": "32"}
    assert values(client, "u2") == {"location": "Lyon"}


@pytest.mark.parametrize("role", ["assistant", "system", "developer", "tool", "function"])
def test_only_the_user_speaks_of_the_user(client: HyMemoryClient, role: str) -> None:
    memory_id = told(client, [{"role": role, "content": "I live in Rome and my name is Claudia."}])
    assert known(client) == {}
    client.update(memory_id, "I live in Milan.")
    assert known(client) == {}


def test_of_two_named_people_neither_is_known_to_be_the_user(client: HyMemoryClient) -> None:
    chat = [
        {"role": "user", "name": "Maya", "content": "I live in Lyon."},
        {"role": "user", "name": "Zoe", "content": "I live in Oslo."},
    ]
    told(client, chat)
    assert known(client) == {}
    told(client, chat, user_id="maya")
    assert values(client, "maya") == {"location": "Lyon"}
    told(client, [{"role": "assistant", "name": "Maya", "content": "I live in Rome."}], user_id="maya")
    assert values(client, "maya") == {"location": "Lyon"}


@pytest.mark.parametrize("layer", ["l6_schema", "l7_intention"])
def test_what_is_no_fact_claims_nothing(client: HyMemoryClient, layer: str) -> None:
    client.add_extracted(["I live in Lyon."], user_id="u", layer=layer)
    assert known(client) == {}
    client.add_extracted(["I live in Lyon."], user_id="u", layer="l4_identity")
    assert values(client) == {"location": "Lyon"}


def test_a_long_text_claims_nothing(client: HyMemoryClient) -> None:
    told(client, "I live in Lyon. " + "It rains. " * 200)
    assert known(client) == {}


def test_a_repeated_request_claims_once(client: HyMemoryClient) -> None:
    ids = {told(client, "I live in Lyon.", request_id="r1") for _ in range(2)}
    assert set(known(client)["location"]["memory_ids"]) == ids


@pytest.mark.parametrize("wrong", ["", " ", None, 7, ["u"]])
def test_a_user_must_be_named(client: HyMemoryClient, wrong: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="user_id"):
        client.get_user_profile(user_id=wrong)


def test_a_closed_client_says_so(client: HyMemoryClient) -> None:
    client.close()
    with pytest.raises(ClosedError):
        client.get_user_profile(user_id="u")


def test_the_async_twin_answers_the_same(client: HyMemoryClient) -> None:
    told(client, "I live in Lyon.")

    async def ask() -> object:
        return await client.async_get_user_profile(user_id="u")

    assert asyncio.run(ask()) == client.get_user_profile(user_id="u")
