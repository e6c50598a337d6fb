"""Words that are said again as they were are kept once, and the caller is told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConflictError
from tests.support.stores import LASTING, config_for, open_client


@pytest.fixture
def client(folder: Path) -> Iterator[HyMemoryClient]:
    with open_client("faiss", folder) as opened:
        yield opened


def _total(client: HyMemoryClient, user_id: str = "u", **more: Any) -> int:
    return client.list_memories(user_id=user_id, **more)["total"]


@pytest.mark.parametrize("backend", LASTING)
def test_an_exact_repeat_is_the_memory_that_is_there(folder: Path, backend: str) -> None:
    """Case, width and spaces aside; no record, no raw turn, salience grows, and a restart changes nothing."""
    with open_client(backend, folder) as client:
        first = client.add("I like  green tea", user_id="u")
        begun = client.use_of(first["memory_id"])
        assert first["deduplicated"] == []
    with open_client(backend, folder) as client:
        again = client.add(" i like \uff27reen tea ", user_id="u")
        assert again["memory_id"] == first["memory_id"]
        assert again["memory_ids"] == again["deduplicated"] == [first["memory_id"]]
        assert again["searchable"]
        assert _total(client) == _total(client, layers=["l1_raw"]) == 1
        use = client.use_of(first["memory_id"])
        assert use["restated"] == 1
        assert use["salience"] > begun["salience"]
        assert use["last_used_at"] is not None


@pytest.mark.parametrize(
    "other",
    [
        {"user_id": "v"},
        {"agent_id": "b"},
        {"session_id": "s"},
        {"source": "mail"},
        {"layer": "l5_knowledge"},
        {"tags": ["x"]},
        {"metadata": {"a": 1}},
        {"memory_at": 5},
        {"expires_at": 9e9},
        {"data": "I like green tea."},
        {"data": [{"role": "user", "name": "Ana", "content": "I like green tea"}]},
        {"data": [{"role": "assistant", "content": "I like green tea"}]},
    ],
)
def test_what_differs_in_anything_is_another_memory(client: HyMemoryClient, other: dict[str, Any]) -> None:
    """Whoever can tell two memories apart, by a filter or by who speaks, has both."""
    plain: dict[str, Any] = {"data": "I like green tea", "user_id": "u"}
    first = client.add(**plain)["memory_id"]
    second = client.add(**{**plain, **other})
    assert second["memory_id"] != first
    assert second["deduplicated"] == []
    assert client.add(**{**plain, **other})["deduplicated"] == [second["memory_id"]]


def test_what_is_gone_changed_or_superseded_may_be_said_anew(client: HyMemoryClient) -> None:
    first = client.add("I live in Oslo", user_id="u")["memory_id"]
    new = {"content": "I live in Rome", "supersedes": first}
    client.add_extracted([new], user_id="u")
    back = client.add("I live in Oslo", user_id="u")["memory_id"]
    assert back != first
    client.update(back, "I lived in Oslo")
    third = client.add("I live in Oslo", user_id="u")["memory_id"]
    assert third not in (first, back)
    client.delete(third)
    fourth = client.add("I live in Oslo", user_id="u")
    assert fourth["deduplicated"] == []
    assert client.get(fourth["memory_id"]) is not None


def test_a_transcript_that_grew_adds_what_is_new(client: HyMemoryClient) -> None:
    """The same answer to another question is another turn."""
    said = [
        {"role": "assistant", "content": "Do you like tea?"},
        {"role": "user", "content": "yes"},
        {"role": "assistant", "content": "And coffee?"},
        {"role": "user", "content": "yes"},
    ]
    first = client.add(said[:2], user_id="u")["memory_ids"]
    grown = client.add(said, user_id="u")
    assert grown["memory_ids"][:2] == grown["deduplicated"] == first
    assert _total(client) == 4
    assert client.add(said, user_id="u")["memory_ids"] == grown["memory_ids"]
    assert _total(client) == 4
    client.delete(grown["memory_ids"][3])
    raw = client.list_memories(user_id="u", layers=["l1_raw"])["memories"]
    assert sum(one["content"].count("yes") for one in raw) == 1


def test_what_one_write_says_twice_it_means_twice(client: HyMemoryClient) -> None:
    made = client.add_extracted(["a fact", "a fact"], user_id="u")
    assert len(set(made["memory_ids"])) == 2
    again = client.add_extracted(["a fact", "another"], user_id="u")
    assert len(again["deduplicated"]) == 1
    assert again["memory_ids"][0] in made["memory_ids"]
    assert _total(client) == 3


def test_a_request_that_repeats_is_answered_as_it_was(client: HyMemoryClient) -> None:
    """Idempotence by request id stays what it is, for words that were there before too."""
    first = client.add("I like tea", user_id="u", request_id="r1")
    second = client.add("I like tea", user_id="u", request_id="r2")
    assert second["memory_ids"] == first["memory_ids"]
    assert client.add("I like tea", user_id="u", request_id="r2")["memory_ids"] == first["memory_ids"]
    outcome = client.get_write_outcome("r2", user_id="u")
    assert outcome is not None
    assert outcome["memory_ids"] == first["memory_ids"]
    with pytest.raises(ConflictError):
        client.add("I like coffee", user_id="u", request_id="r2")


def test_own_vectors_go_with_their_texts(client: HyMemoryClient) -> None:
    client.add_extracted(["one", "two"], user_id="u")
    vectors = [[0.0] * 7 + [1.0], [1.0] + [0.0] * 7]
    made = client.add_extracted(["two", "three"], user_id="u", embeddings=vectors)
    hits = client.search("x", user_ids=["u"], query_embedding=vectors[1], limit=9, min_score=0.9)
    assert made["memory_ids"][1] in [one["memory_id"] for one in hits["memories"]["normal"]]


@pytest.mark.parametrize("clients", [1, 2])
def test_twenty_threads_that_say_the_same_make_one(folder: Path, clients: int) -> None:
    """Also through two clients of one store, as two processes would."""
    opened = [HyMemoryClient(config_for("faiss", folder)) for _ in range(clients)]

    def tell(number: int) -> Any:
        return opened[number % clients].add("the same sentence", user_id="u")

    try:
        with ThreadPoolExecutor(20) as pool:
            made = list(pool.map(tell, range(20)))
        assert len({one["memory_id"] for one in made}) == 1
        assert sum(not one["deduplicated"] for one in made) == 1
        assert _total(opened[0]) == 1
        assert opened[0].use_of(made[0]["memory_id"])["restated"] == 19
    finally:
        for one in opened:
            one.close()


def test_switched_off_every_one_is_kept(folder: Path) -> None:
    with open_client("faiss", folder, config={"dynamics": {"merge_repeats": False}}) as client:
        ids = [client.add("I like tea", user_id="u")["memory_id"] for _ in range(3)]
        assert len(set(ids)) == _total(client) == 3


def test_a_copy_of_a_user_recognises_what_it_has(client: HyMemoryClient) -> None:
    client.add("I like tea", user_id="u")
    client.clone_user("u", "v")
    assert client.add("I like tea", user_id="v")["deduplicated"] != []
    assert _total(client, "v") == 1
    client.delete_all(user_id="v")
    assert client.add("I like tea", user_id="v")["deduplicated"] == []


def sentences(number: int) -> list[str]:
    """Return distinct sentences: short ones, Chinese, such as differ in one number, name or negation."""
    people = ("Ana", "Ben", "Cleo", "Dan", "Eve")
    made = [f"{n}" for n in range(number // 8)]
    made += [f"The meeting with {one} is at {n} o'clock." for one in people for n in range(number // 20)]
    made += [f"I do{word} like dish number {n}" for word in ("", " not") for n in range(number // 8)]
    made += [f"我{word}喜欢第{n}道菜" for word in ("", "不") for n in range(number // 8)]
    rest = random.Random(7)
    while len(made) < number:
        made.append(" ".join(rest.choice(people).lower() + str(rest.randrange(99)) for _ in range(4)))
    return list(dict.fromkeys(made))


def test_four_thousand_distinct_sentences_stay_as_many(client: HyMemoryClient) -> None:
    """And said again, each is recognised as itself."""
    said = sentences(4000)
    assert len(said) >= 3900
    made = client.add_extracted(said, user_id="u")
    assert len(set(made["memory_ids"])) == len(said)
    assert made["deduplicated"] == []
    again = client.add_extracted(said, user_id="u")
    assert again["memory_ids"] == made["memory_ids"]
    assert _total(client) == len(said)
