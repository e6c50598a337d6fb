"""What a stranger broke the second time, each as its whole kind."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from hy_memory.temporal.expressions import time_windows
from hy_memory.text.entities import entities
from hy_memory.text.mentions import mentioned_in, mentions_of
from tests.support.stores import READERS, normal, open_client

SCOPES: dict[str, dict[str, Any]] = {
    "session": {"session_ids": ["work"]},
    "agent": {"agent_ids": ["clerk"]},
    "tag": {"filters": {"not": {"tags": "secret"}}},
    "source in filters": {"filters": {"source": "b"}},
    "not a source in filters": {"filters": {"source": {"ne": "a"}}},
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_chain_shows_nothing_that_the_scope_leaves_out(tmp_path: Path, scope: str, reader: str) -> None:
    """Whatever keeps a record from being a hit keeps its text out of another hit's chain."""
    with open_client("faiss", tmp_path) as client:
        old = client.add(
            "my pin is 1111", user_id="u", session_id="private", agent_id="spy", source="a", tags=["secret"]
        )
        new: list[dict[str, Any]] = [{"content": "my pin is 2222", "supersedes": old["memory_id"]}]
        client.add_extracted(new, user_id="u", session_id="work", agent_id="clerk", source="b")
        (whole,) = normal(client.search("pin", user_ids=["u"], reader=reader))
        (cut,) = normal(client.search("pin", user_ids=["u"], reader=reader, **SCOPES[scope]))
    assert [one["content"] for one in whole["evolution_chain"]] == ["my pin is 2222", "my pin is 1111"]
    assert "1111" not in str(cut)


def test_an_expired_text_is_in_no_chain(tmp_path: Path) -> None:
    """From the second of its expiry on no search shows it, at a head's side neither."""
    with open_client("faiss", tmp_path) as client:
        old = client.add("wifi code 1", user_id="u", expires_at=time.time() + 0.2)["memory_id"]
        client.add_extracted([{"content": "wifi code 2", "supersedes": old}], user_id="u")
        before = normal(client.search("wifi", user_ids=["u"]))[0]
        time.sleep(0.25)
        after = normal(client.search("wifi", user_ids=["u"]))[0]
    assert "wifi code 1" in str(before["evolution_chain"])
    assert "wifi code 1" not in str(after)


@pytest.mark.parametrize("words", ["昨天", "May 7 ", "年前", "5月", "2023-05-07 "])
def test_however_many_dates_a_text_holds_reading_them_ends(words: str) -> None:
    """Each is compared with all before it: the number that is looked at is bounded."""
    windows = time_windows(words * 8000, 1.7e9, "UTC")
    assert len(windows) <= 32
    assert len(entities(words * 8000)) <= 256


@pytest.mark.parametrize("huge", [10**400, -(10**400), 1e308])
def test_numbers_beyond_a_float_are_refused_by_name(tmp_path: Path, huge: float) -> None:
    """A whole number may be of any size in Python; no argument can mean it."""
    with open_client("faiss", tmp_path) as client:
        loose: Any = client
        memory_id = client.add("alpha", user_id="u")["memory_id"]
        asked: dict[str, Any] = {"user_ids": ["u"]}
        calls = {
            "created_after": lambda: loose.search("x", created_after=huge, **asked),
            "as_of": lambda: loose.search("x", as_of=huge, **asked),
            "filters": lambda: loose.search("x", filters={"memory_at": {"gt": huge}}, **asked),
            "query_embedding": lambda: loose.search("x", query_embedding=[huge] * 8, **asked),
            "memory_at": lambda: loose.update(memory_id, memory_at=huge),
            "timestamp": lambda: loose.add([{"content": "x", "timestamp": huge}], user_id="u"),
        }
        if huge != 1e308:
            calls["min_score"] = lambda: loose.search("x", min_score=huge, **asked)
        for name, call in calls.items():
            with pytest.raises(InvalidArgumentError, match=name):
                call()
        assert loose.get_recent_history("u", limit=2**63)


def test_arrays_are_refused_by_name(tmp_path: Path) -> None:
    """An array equals nothing and everything; it is no text."""
    array = np.array([1.0, 2.0])
    with open_client("faiss", tmp_path) as client:
        loose: Any = client
        for name, call in {
            "scene": lambda: loose.search("x", user_ids=["u"], scene=array),
            "search_mode": lambda: loose.search("x", user_ids=["u"], search_mode=array),
            "explain": lambda: loose.search("x", user_ids=["u"], explain=array),
            "layer": lambda: loose.add("x", user_id="u", layer=array),
            "name": lambda: loose.add([{"content": "x", "name": array}], user_id="u"),
            "order": lambda: loose.list_memories(user_id="u", order=array),
        }.items():
            with pytest.raises(InvalidArgumentError, match=name):
                call()


def test_evolve_beside_other_evolves_and_adds(tmp_path: Path) -> None:
    """Whoever is overtaken looks again; nobody is told to repeat what they cannot mend."""
    failures: list[BaseException] = []

    def work(client: HyMemoryClient) -> None:
        try:
            for _ in range(6):
                client.add("green tea", user_id="u")
                client.evolve("u")
        except BaseException as error:
            failures.append(error)
            raise

    with open_client("faiss", tmp_path) as client:
        threads = [threading.Thread(target=work, args=(client,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        last = client.evolve("u")
        schemas = client.list_memories(user_id="u", layers=["l6_schema"])["memories"]
    assert not failures
    assert last["created"] == last["updated"] == last["removed"] == []
    assert sorted(last["unchanged"]) == sorted(one["memory_id"] for one in schemas)


def test_a_tag_that_is_an_identifier_is_met_as_one() -> None:
    """A question that surely names ABC-123 finds what is tagged so, as sure as in lower case."""
    for query in ("ABC-123", "What about ABC-123?", "abc-123 status"):
        asked, held = mentions_of(query), mentioned_in("nothing here", ["ABC-123"])
        assert asked.certain <= held
        assert (asked.certain | asked.possible) & held


@pytest.mark.parametrize("reader", READERS)
def test_a_search_beside_superseding_writers_always_finds_the_head(tmp_path: Path, reader: str) -> None:
    """Law 9: what was acknowledged before the search began is found, however fast its chain grows."""
    empty: list[object] = []
    with open_client("faiss", tmp_path) as client:
        root = client.add("bread is stale", user_id="u")["memory_id"]
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                new: list[dict[str, Any]] = [{"content": "bread is fresh", "supersedes": root}]
                client.add_extracted(cast("Any", new), user_id="u")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(300):
                answer = client.search("bread", user_ids=["u"], reader=reader)
                if not normal(answer):
                    empty.append(answer)
        finally:
            stop.set()
            writer.join()
    assert not empty
