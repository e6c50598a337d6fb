"""The entity channel: off by default, and what it finds and says when it is on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hy_memory.keyword.entities import LocalEntityIndex
from hy_memory.text.mentions import mentioned_in, mentions_of
from tests.support.embedding import text
from tests.support.stores import BACKENDS, READERS, contents, normal, open_client, scores

ON = {"ranking": {"entities": 1.5}}
QUERY = "anything of Claire Moreau"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_names_the_same_is_found_where_meaning_finds_nothing(
    tmp_path: Path, backend: str, reader: str
) -> None:
    """A memory at a right angle to the question is a hit by its name; another user's, or an excluded
    source's, never is; and `explain` says so."""
    with open_client(backend, tmp_path, config=ON) as client:
        client.add(text("Lunch with Dr. Claire Moreau", 2), user_id="u1")
        client.add(text("Dinner with Claire Moreau", 2), user_id="u1", source="private")
        client.add(text("Bought bread", 2), user_id="u1")
        client.add(text("Met Claire Moreau", 2), user_id="u2")
        asked: dict[str, Any] = {"user_ids": ["u1"], "reader": reader, "exclude_sources": ["private"]}
        found = client.search(QUERY, explain=True, **asked)
        client.update(normal(found)[0]["memory_id"], text("Lunch alone", 2))
        after = client.search(QUERY, **asked)
    assert contents(found) == [text("Lunch with Dr. Claire Moreau", 2)]
    if reader == "legacy":
        assert normal(found)[0]["retrieval_source"] == "Entity"
    assert "Entity" in [one["leg"] for one in normal(found)[0]["evidence"]]
    assert contents(after) == []


def test_tags_are_mentions(tmp_path: Path) -> None:
    """A word of the question that is somebody's tag finds what carries it, in scripts without spaces too."""
    with open_client("faiss", tmp_path, config=ON) as client:
        client.add(text("Bought the tickets", 2), user_id="u1", tags=["City Trip"])
        client.add(text("买好了票", 2), user_id="u1", tags=["旅行"])
        english = client.search("plans for the city trip", user_ids=["u1"])
        chinese = client.search("我的旅行计划", user_ids=["u1"])
    assert contents(english) == [text("Bought the tickets", 2)]
    assert contents(chinese) == [text("买好了票", 2)]


def test_it_is_off_by_default_and_only_adds(tmp_path: Path) -> None:
    """Without the setting scores are what they were; with it none is lower, and the gain is bounded."""
    with open_client("faiss", tmp_path) as client:
        client.add(text("Lunch with Claire Moreau", 1), user_id="u1")
        client.add(text("Lunch", 1), user_id="u1")
        off = client.search(QUERY, user_ids=["u1"], min_score=0)
    with open_client("faiss", tmp_path, config={"ranking": {"entities": 0.2}}) as client:
        on = client.search(QUERY, user_ids=["u1"], min_score=0)
    (named, plain), before = normal(on), scores(off)
    assert named["content"] == text("Lunch with Claire Moreau", 1)
    assert before[named["memory_id"]] == before[plain["memory_id"]] == plain["score"] == 0.5
    assert 0.5 < named["score"] <= 1 - 0.5 * 0.8187 + 1e-5  # exp(-0.2)


def test_a_failing_channel_is_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other legs stand, and `degraded` names the channel."""

    def broken(*_: object) -> None:
        raise OSError("no index")

    with open_client("faiss", tmp_path, config=ON) as client:
        client.add(text("Lunch with Claire Moreau", 1), user_id="u1")
        monkeypatch.setattr(LocalEntityIndex, "search", broken)
        answer = client.search(QUERY, user_ids=["u1"])
    assert contents(answer) == [text("Lunch with Claire Moreau", 1)]
    assert [one["part"] for one in answer.get("degraded", [])] == ["Entity"]


def test_mentions_are_entities_and_phrases() -> None:
    """What a question surely names is told from what may be a tag."""
    asked = mentions_of("What did Claire Moreau say about green tea?")
    assert "claire moreau" in asked.certain
    assert {"green tea", "tea"} <= asked.possible
    assert mentioned_in("We met Claire Moreau", ["Green Tea!"]) >= {"claire moreau", "claire", "green tea"}
