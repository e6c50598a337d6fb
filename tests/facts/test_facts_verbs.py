"""What the verbs of facts promise beside the model: names, whose they are, what lasts, what is refused."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from hy_memory.errors import ClosedError, InvalidArgumentError, MemoryNotFoundError
from hy_memory.facts.book import CONFIDENCE_RATE
from hy_memory.facts.names import entity_key, meaning, predicate_key, resolved
from tests.support.clocks import Hand
from tests.support.stores import open_client

_DAY = 86_400.0


@pytest.fixture
def client(folder: Path) -> Iterator[HyMemoryClient]:
    with open_client("faiss", folder) as opened:
        yield opened


def _objects(rows: Any) -> list[str]:
    return [one["object"] for one in rows]


def test_a_new_value_ends_the_old_one_and_a_like_does_not(client: HyMemoryClient) -> None:
    facts = client.facts
    facts.add("Ana", "lives in", "Oslo", user_id="u", valid_from="2024-01-01")
    facts.add("Ana", "lives_in", "Rome", user_id="u", valid_from="2025-01-01")
    facts.add("Ana", "likes", "tea", user_id="u")
    facts.add("Ana", "likes", "coffee", user_id="u")
    assert _objects(facts.at("2024-06-01", user_id="u")) == ["Oslo"]
    assert _objects(facts.current(user_id="u", predicate="Lives-In")) == ["Rome"]
    assert sorted(_objects(facts.current(user_id="u", predicate="likes"))) == ["coffee", "tea"]
    old = facts.at("2024-06-01", user_id="u")[0]
    assert old["valid_to"] == facts.current(user_id="u", predicate="lives_in")[0]["valid_from"]


def test_what_was_learned_later_was_not_known_before(folder: Path) -> None:
    """Nothing is overwritten: each row says when it was believed."""
    hand = Hand(1_700_000_000.0)
    with hand.opening(), open_client("faiss", folder) as client:
        facts = client.facts
        made = facts.add("Ana", "lives_in", "Oslo", user_id="u", valid_from="2020-01-01")
        first = hand.at
        hand.at += _DAY
        facts.update(made["fact_ids"][0], object="Rome", user_id="u")
        assert _objects(facts.at("2021-01-01", user_id="u")) == ["Rome"]
        assert _objects(facts.at("2021-01-01", user_id="u", as_of=first)) == ["Oslo"]
        assert facts.at("2021-01-01", user_id="u", as_of=first - 1) == []
        rows = facts.history(user_id="u", subject="Ana")
        assert _objects(rows) == ["Oslo", "Rome"]
        assert rows[0]["recorded_to"] == rows[1]["recorded_from"] == hand.at
        hand.at -= 2 * _DAY  # a clock that goes back breaks no order
        facts.add("Ana", "lives_in", "Lyon", user_id="u", valid_from="2022-01-01")
        assert all(
            one["recorded_to"] is None or one["recorded_from"] <= one["recorded_to"]
            for one in facts.history(user_id="u")
        )
        assert _objects(facts.timeline("Ana", user_id="u")) == ["Rome", "Lyon"]


@pytest.mark.parametrize("end", ["2026-03-31", "2026-03-31T15:00:00Z", "2026-03-31T23:00:00+08:00"])
def test_a_bare_day_is_a_whole_day_and_one_instant_has_many_spellings(
    client: HyMemoryClient, end: str
) -> None:
    client.facts.add("Ana", "likes", "tea", user_id="u", valid_from="2026-03-31T15:00:00Z")
    assert _objects(client.facts.between("2026-03-31", end, user_id="u")) == ["tea"]
    assert _objects(client.facts.at("2026-03-31T08:00:00-07:00", user_id="u")) == ["tea"]
    assert client.facts.at("2026-03-31T14:59:59Z", user_id="u") == []
    with pytest.raises(InvalidArgumentError, match="milliseconds"):
        client.facts.at(1_774_000_000_000, user_id="u")


def test_names_are_one_entity_once_that_is_said(client: HyMemoryClient) -> None:
    """What contradicts itself by that, or by a declaration, is told as a conflict, and can be settled."""
    facts = client.facts
    facts.add("Ana", "lives_in", "Oslo", user_id="u", valid_from=0)
    facts.add("Ana Lima", "lives_in", "Rome", user_id="u", valid_from=10)
    facts.alias("Ana Lima", "ANA", user_id="u")
    assert sorted(_objects(facts.timeline("ana  lima", user_id="u"))) == ["Oslo", "Rome"]
    ((one, other),) = facts.conflicts(user_id="u")
    assert {one["object"], other["object"]} == {"Oslo", "Rome"}
    assert facts.conflicts(user_id="v") == []
    facts.retract(one["fact_id"], user_id="u", at=10)
    assert facts.conflicts(user_id="u") == []
    facts.alias("Al", "Ana Lima", user_id="u")
    facts.add("Al", "lives_in", "Lyon", user_id="u", valid_from=20)
    assert _objects(facts.current(user_id="u", subject="Ana")) == ["Lyon"]
    with pytest.raises(InvalidArgumentError, match="already"):
        facts.alias("Ana", "Al", user_id="u")
    facts.add("Ana", "plays", "chess", user_id="u", valid_from=0)
    facts.add("Ana", "plays", "go", user_id="u", valid_from=5)
    facts.declare("plays", user_id="u", multi=False)
    assert len(facts.conflicts(user_id="u")) == 1
    facts.declare("plays", user_id="u", multi=True)
    assert facts.conflicts(user_id="u") == []


def test_saying_it_again_extends_it_and_makes_it_surer(client: HyMemoryClient) -> None:
    facts = client.facts
    first = facts.add("Ana", "lives_in", "Oslo", user_id="u", valid_from=0, valid_to=10, confidence=0.5)
    again = facts.add("Ana", "lives_in", "oslo", user_id="u", valid_from=10, valid_to=30, confidence=0.9)
    assert again["fact_ids"] == first["fact_ids"]
    (row,) = facts.timeline("Ana", user_id="u")
    assert (row["valid_from"], row["valid_to"]) == (0, 30)
    assert row["confidence"] == pytest.approx(0.9)


def test_confidence_fades_in_closed_form(folder: Path) -> None:
    hand = Hand(1_700_000_000.0)
    with hand.opening(), open_client("faiss", folder) as client:
        client.facts.add("Ana", "likes", "tea", user_id="u", confidence=0.8)
        hand.at += 100 * _DAY
        for _ in range(3):
            (row,) = client.facts.current(user_id="u")
            assert row["confidence"] == pytest.approx(0.8 * math.exp(-CONFIDENCE_RATE * 100), abs=1e-9)


def test_all_or_none(client: HyMemoryClient) -> None:
    """One bad fact of a batch, and nothing of it is there."""
    good = {"subject": "Ana", "predicate": "likes", "object": "tea"}
    for bad in (
        {**good, "object": " "},
        {**good, "colour": "red"},
        {**good, "valid_from": 5, "valid_to": 5},
        {**good, "confidence": 2},
        {**good, "valid_from": "soon"},
        {"subject": "Ana"},
        "Ana likes tea",
    ):
        with pytest.raises(InvalidArgumentError, match=r"facts\[1\]|valid_to"):
            client.facts.add_many([good, bad], user_id="u")  # type: ignore[list-item]
    with pytest.raises(MemoryNotFoundError):
        client.facts.add_many([good, {**good, "memory_id": "unknown"}], user_id="u")
    with pytest.raises(InvalidArgumentError):
        client.facts.add_many([], user_id="u")
    assert client.facts.current(user_id="u") == []
    made = client.facts.add_many([good, {**good, "object": "coffee"}], user_id="u")
    assert len(set(made["fact_ids"])) == made["added_count"] == 2


def test_facts_are_their_users_alone(client: HyMemoryClient) -> None:
    facts = client.facts
    memory = client.add("Ana likes tea", user_id="u")["memory_id"]
    made = facts.add("Ana", "likes", "tea", user_id="u", memory_id=memory)["fact_ids"][0]
    mine = facts.add("Ana", "likes", "go", user_id="v")["fact_ids"][0]
    for ask in (
        lambda: facts.update(made, object="x", user_id="v"),
        lambda: facts.retract(made, user_id="v"),
        lambda: facts.relate(made, mine, "because", user_id="v"),
        lambda: facts.add("Ana", "likes", "x", user_id="v", memory_id=memory),
    ):
        with pytest.raises(MemoryNotFoundError):
            ask()
    assert _objects(facts.current(user_id="v")) == ["go"]
    assert facts.relations(made, user_id="v") == []
    facts.alias("A", "Ana", user_id="v")
    assert facts.timeline("A", user_id="u") == []


def test_they_go_with_their_user_and_come_with_a_copy(client: HyMemoryClient) -> None:
    facts = client.facts
    memory = client.add("Ana likes tea", user_id="u")["memory_id"]
    one = facts.add("Ana", "likes", "tea", user_id="u", memory_id=memory)["fact_ids"][0]
    two = facts.add("Ana", "likes", "go", user_id="u")["fact_ids"][0]
    facts.relate(one, two, "beside", user_id="u")
    facts.alias("A", "Ana", user_id="u")
    client.clone_user("u", "v")
    copy = facts.timeline("A", user_id="v")
    assert sorted(_objects(copy)) == ["go", "tea"]
    tea = next(row for row in copy if row["object"] == "tea")
    assert tea["memory_id"] == client.list_memories(user_id="v")["memories"][0]["memory_id"]
    (tie,) = facts.relations(tea["fact_id"], user_id="v")
    assert tie["kind"] == "beside"
    client.delete(memory)
    assert {row["memory_id"] for row in facts.current(user_id="u")} == {None}
    client.delete_all(user_id="u")
    assert facts.history(user_id="u") == []
    assert facts.relations(one, user_id="u") == []
    assert facts.timeline("A", user_id="u") == []
    assert len(facts.current(user_id="v")) == 2


def test_what_changes_often_is_told(client: HyMemoryClient) -> None:
    for at, city in enumerate(("Oslo", "Rome", "Oslo", "Lyon")):
        client.facts.add("Ana", "lives_in", city, user_id="u", valid_from=at)
    client.facts.add("Ana", "works_at", "Acme", user_id="u")
    (most,) = client.facts.volatile(user_id="u")
    assert (most["subject"], most["predicate"], most["changes"]) == ("Ana", "lives_in", 3)
    assert most["values"] == ["Oslo", "Rome", "Oslo", "Lyon"]


def test_they_last_and_end_with_the_client(folder: Path) -> None:
    with open_client("faiss", folder) as client:
        client.facts.add("Ana", "likes", "tea", user_id="u")
    with open_client("faiss", folder) as again:
        facts = again.facts
        assert _objects(facts.current(user_id="u")) == ["tea"]

        async def ask() -> Any:
            return await facts.async_current(user_id="u")

        assert _objects(asyncio.run(ask())) == ["tea"]
    with pytest.raises(ClosedError):
        facts.current(user_id="u")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ana  Lima", "ana lima"), ("Café", "cafe"), ("ＡＢ", "ab"), ("小明", "小明")],
)
def test_spellings_of_a_name(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other) != ""


def test_spellings_of_a_predicate() -> None:
    assert {predicate_key(one) for one in ("lives in", "Lives-In", " LIVES_IN ")} == {"lives_in"}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), max_size=6),
    st.sampled_from("abcdef"),
)
def test_aliases_always_end(aliases: dict[str, str], key: str) -> None:
    assert resolved(key, aliases) in {*aliases.values(), key}
    assert key not in aliases or resolved(key, aliases) in meaning(key, aliases)
