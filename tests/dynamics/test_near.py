"""Near-duplicates: where they are merged, nothing that was said is lost; where hits are folded neither."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hy_memory import HyMemoryClient
from hy_memory.errors import ConfigurationError
from hy_memory.settings.dynamics import DynamicsSection
from tests.dynamics.test_repeats import sentences
from tests.support.stores import READERS, config_for, ids, normal, open_client, scores

NEAR = {"dynamics": {"merge_near": True}}
FOLDING = {"ranking": {"fold_near": True}}


@pytest.fixture
def client(folder: Path) -> Iterator[HyMemoryClient]:
    with open_client("faiss", folder, config=NEAR) as opened:
        yield opened


def _total(client: HyMemoryClient, user_id: str = "u") -> int:
    return client.list_memories(user_id=user_id)["total"]


def test_words_that_add_nothing_are_the_memory_that_is_there(client: HyMemoryClient) -> None:
    """The words of the first stay, the second is a restatement; it may be found again right after."""
    first = client.add("I don't like the olives", user_id="u")["memory_id"]
    again = client.add("I do not like olives.", user_id="u")
    assert again["memory_ids"] == again["deduplicated"] == [first]
    assert _total(client) == 1
    use = client.use_of(first)
    assert use["restated"] == 1
    found = client.get(first)
    assert found is not None
    assert found["content"] == "I don't like the olives"
    both = client.add_extracted(["I do not like olives", "I like olives"], user_id="u")
    assert both["deduplicated"] == [first]
    assert _total(client) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"user_id": "v"},
        {"session_id": "s"},
        {"source": "mail"},
        {"tags": ["x"]},
        {"metadata": {"a": 1}},
        {"memory_at": 5},
        {"data": [{"role": "assistant", "content": "I do like green tea"}]},
        {"data": "I do not like green tea"},
        {"data": "I did like green tea"},
    ],
)
def test_what_differs_in_anything_is_another(client: HyMemoryClient, other: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"data": "I do like the green tea", "user_id": "u"}
    first = client.add(**plain)["memory_id"]
    said: dict[str, Any] = {"data": "I do like green tea", "user_id": "u", **other}
    second = client.add(**said)
    assert second["memory_id"] != first
    assert second["deduplicated"] == []


def test_without_the_setting_both_are_kept(folder: Path) -> None:
    with open_client("faiss", folder) as client:
        client.add("I like the green tea", user_id="u")
        assert client.add("I like green tea", user_id="u")["deduplicated"] == []
        assert _total(client) == 2


def test_the_same_answer_to_another_question_is_kept(client: HyMemoryClient) -> None:
    said = [
        {"role": "assistant", "content": "Do you like tea?"},
        {"role": "user", "content": "I really do like the tea"},
        {"role": "assistant", "content": "In the morning?"},
        {"role": "user", "content": "I do like tea"},
    ]
    assert client.add(said, user_id="u")["deduplicated"] == []
    assert _total(client) == 4


def test_what_is_gone_or_changed_is_like_nothing(client: HyMemoryClient) -> None:
    first = client.add("I live in the city of Oslo", user_id="u")["memory_id"]
    client.update(first, "I lived in Oslo")
    second = client.add("I live in city of Oslo", user_id="u")["memory_id"]
    assert second != first
    client.delete(second)
    third = client.add("I live in the city of Oslo", user_id="u")
    assert third["deduplicated"] == []
    client.clone_user("u", "v")
    assert client.add("I live in city of Oslo", user_id="v")["deduplicated"] != []
    client.delete_all(user_id="v")
    assert client.add("I live in city of Oslo", user_id="v")["deduplicated"] == []


def test_what_is_only_like_a_memory_is_looked_at_once(client: HyMemoryClient) -> None:
    """Candidates that turn out to say something else stop no write, however many there are."""
    memo = "the caretaker of our house in the old town waters the flowers on the balcony of the neighbours "
    memo += "who are away for most of the summer and sends them pictures of the tomatoes and of the cats "
    said = [f"{memo}{word}" for word in ("daily", "weekly", "gladly", "hourly", "mostly", "kindly")]
    made = [client.add(one, user_id="u") for one in said]
    assert len({one["memory_id"] for one in made}) == _total(client) == len(said)
    assert [one["deduplicated"] for one in made] == [[]] * len(said)


def test_a_long_text_that_leaves_out_a_word_is_no_memory_of_its_own(client: HyMemoryClient) -> None:
    """One that has a word more is: it says more than what is there."""
    memo = (
        "We spoke in the large meeting room about the plan for the next season and agreed that the gardeners "
        "should plant three rows of roses beside the wall and that the boys from the village may sell "
        "lemonade to the guests of the festival while the band plays old songs under the chestnut trees"
    )
    less = memo.replace("large ", "")
    whole = client.add(memo, user_id="u")["memory_id"]
    assert client.add(less, user_id="u")["deduplicated"] == [whole]
    first = client.add(less, user_id="v")["memory_id"]
    assert client.add(memo, user_id="v")["memory_id"] != first
    assert client.add(memo.replace("three", "four"), user_id="u")["deduplicated"] == []


@pytest.mark.parametrize("clients", [1, 2])
def test_threads_that_say_nearly_the_same_make_one(folder: Path, clients: int) -> None:
    opened = [HyMemoryClient({**config_for("faiss", folder), **NEAR}) for _ in range(clients)]
    forms = ("I like the green tea", "I really like green tea", "i like green tea", "I like green tea!")

    def tell(number: int) -> Any:
        return opened[number % clients].add(forms[number % len(forms)], user_id="u")

    try:
        with ThreadPoolExecutor(12) as pool:
            made = list(pool.map(tell, range(12)))
        assert len({one["memory_id"] for one in made}) == 1
        assert _total(opened[0]) == 1
        assert opened[0].use_of(made[0]["memory_id"])["restated"] == 11
    finally:
        for one in opened:
            one.close()


def test_four_thousand_distinct_sentences_stay_as_many_where_near_ones_are_merged(
    client: HyMemoryClient,
) -> None:
    """C89: short ones, Chinese, such as differ in one number, name or negation; in one write and in many."""
    said = sentences(4000)
    for at in range(0, len(said), 500):
        made = client.add_extracted(said[at : at + 500], user_id="u")
        assert made["deduplicated"] == []
    assert _total(client) == len(said)


def test_who_keeps_every_repeat_cannot_merge_near_ones() -> None:
    with pytest.raises(ValidationError, match="merge_repeats"):
        DynamicsSection(merge_near=True, merge_repeats=False)
    with pytest.raises(ConfigurationError, match="merge_repeats"):
        HyMemoryClient.from_config({"dynamics": {"merge_near": True, "merge_repeats": False}})


@pytest.mark.parametrize("reader", READERS)
def test_hits_that_say_nothing_new_are_folded(folder: Path, reader: str) -> None:
    """Each joins the first before it that says all of it; scores stay, what says anything else is shown."""
    said = ["I like the green tea", "I really like green tea", "I like green tea", "I like 2 green tea"]
    said += ["I do not like green tea", "I like Green Tea Ltd"]
    with open_client("faiss", folder) as client:
        client.add_extracted(said, user_id="u")
        plain = client.search("green tea", user_ids=["u"], min_score=0, limit=9, reader=reader)
        assert not any("folded" in one for one in normal(plain))
    with open_client("faiss", folder, config=FOLDING) as client:
        answer = client.search("green tea", user_ids=["u"], min_score=0, limit=9, reader=reader)
        assert len(normal(answer)) == 4
        (head,) = [one for one in normal(answer) if "folded" in one]
        assert {head["content"], *(one["content"] for one in head["folded"])} == set(said[:3])
        assert ids(answer) == [one for one in ids(plain) if one in ids(answer)]
        assert scores(answer).items() <= scores(plain).items()
        for limit in range(1, 5):
            fewer = client.search("green tea", user_ids=["u"], min_score=0, limit=limit, reader=reader)
            assert ids(fewer) == ids(answer)[:limit]
