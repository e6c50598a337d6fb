"""Learning from use: what searches teach is stored apart from them, and counts in the order of hits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError, LedgerError, MemoryNotFoundError
from hy_memory.learner import Learner
from hy_memory.runtime import Runtime
from hy_memory.values.use import Lesson
from tests.support.clocks import Hand
from tests.support.embedding import text
from tests.support.stores import READERS, config_for, open_client

_DAY = 86_400.0
ON: dict[str, Any] = {"dynamics": {"enabled": True, "learn_seconds": 3600.0}}


@pytest.fixture
def client(folder: Path) -> Iterator[HyMemoryClient]:
    with open_client("faiss", folder, config=ON) as opened:
        yield opened


class _Full:
    """A store that takes nothing while it `is_full`."""

    def __init__(self) -> None:
        self.is_full = True
        self.told: dict[str, int] = {}

    def learn(self, lessons: Any) -> int:
        if self.is_full:
            raise LedgerError("read only")
        for one in lessons:
            self.told[one.record_id] = self.told.get(one.record_id, 0) + one.times
        return len(lessons)


def runtime_of(client: HyMemoryClient) -> Runtime:
    """Return what a client works with."""
    return client._open()  # pyright: ignore[reportPrivateUsage]


def _ids(answer: Any) -> list[str]:
    return [one["memory_id"] for one in answer["memories"]["normal"]]


def _threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "hy_memory-learner"]


def test_searches_count_each_hit_once_however_many_ask(client: HyMemoryClient) -> None:
    """Eight threads; nothing is written before the queue is drained, and never more than 1."""
    ids = client.add_extracted([f"plan number {n} for the garden" for n in range(5)], user_id="u")[
        "memory_ids"
    ]
    before = client.list_memories(user_id="u")["memories"]
    times = 200

    def ask(_: int) -> list[str]:
        return _ids(client.search("garden plan", user_ids=["u"], limit=3))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(times)))
    assert all(client.use_of(one)["uses"] == 0 for one in ids)
    assert client.drain()["learned_count"] == len({one for hits in found for one in hits})
    for one in ids:
        use = client.use_of(one)
        assert use["uses"] == sum(one in hits for hits in found)
        assert use["salience"] <= 1.0
    assert client.list_memories(user_id="u")["memories"] == before
    assert client.drain()["learned_count"] == 0


def test_what_is_waited_for_is_bounded_by_the_memories_found() -> None:
    """Ten thousand lessons of three memories are three counters."""
    store = _Full()
    store.is_full = False
    learner = Learner(store, 3600)
    for _ in range(10_000):
        learner.note(["a", "b", "c", "a"], 1.0)
    assert learner.waiting == 3
    learner.close()
    assert store.told == dict.fromkeys("abc", 10_000)
    assert learner.waiting == 0


def test_nothing_is_learned_and_no_thread_runs_unless_asked_for(folder: Path) -> None:
    with open_client("faiss", folder) as client:
        one = client.add("the garden plan", user_id="u")["memory_id"]
        for _ in range(3):
            client.search("garden plan", user_ids=["u"])
        assert client.drain()["learned_count"] == 0
        assert client.use_of(one)["uses"] == 0
        assert _threads() == []


def test_the_thread_stores_by_itself_and_ends_with_the_client(folder: Path) -> None:
    config = {"dynamics": {"enabled": True, "learn_seconds": 0.01}}
    with open_client("faiss", folder, config=config) as client:
        one = client.add("the garden plan", user_id="u")["memory_id"]
        assert _threads() == []
        client.search("garden plan", user_ids=["u"])
        assert len(_threads()) == 1
        for _ in range(2000):
            if client.use_of(one)["uses"]:
                break
            threading.Event().wait(0.005)
        assert client.use_of(one)["uses"] == 1
    assert _threads() == []


def test_closing_stores_what_was_learned(folder: Path) -> None:
    with open_client("faiss", folder, config=ON) as client:
        one = client.add("the garden plan", user_id="u")["memory_id"]
        client.search("garden plan", user_ids=["u"])
    with open_client("faiss", folder, config=ON) as again:
        assert again.use_of(one)["uses"] == 1


def test_a_store_that_takes_nothing_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It is complained of once, and what was learned is stored when it can be."""
    store = _Full()
    learner = Learner(store, 0.005)
    learner.note(["a", "b"], 1.0)
    while not caplog.records:
        threading.Event().wait(0.005)
    learner.note(["a"], 2.0)
    with pytest.raises(LedgerError):
        learner.drain()
    store.is_full = False
    learner.close()
    assert store.told == {"a": 2, "b": 1}
    assert len(caplog.records) == 1


def test_what_cannot_be_stored_to_the_end_is_told(caplog: pytest.LogCaptureFixture) -> None:
    learner = Learner(_Full(), 3600)
    learner.note(["a"], 1.0)
    learner.close()
    assert "lost" in caplog.text


def test_searching_works_while_nothing_can_be_written(
    client: HyMemoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = client.add("the garden plan", user_id="u")["memory_id"]

    def refuse(lessons: Any) -> int:
        raise LedgerError("read only")

    monkeypatch.setattr(runtime_of(client).ledger, "learn", refuse)
    for _ in range(5):
        assert _ids(client.search("garden plan", user_ids=["u"])) == [one]
    with pytest.raises(LedgerError):
        client.drain()


@pytest.mark.parametrize("reader", READERS)
def test_a_used_memory_comes_before_its_equal_and_others_score_as_before(folder: Path, reader: str) -> None:
    """Use decides between equals; it never carries anything over the threshold, and never exceeds 1."""
    with open_client("faiss", folder, config=ON) as client:
        ids = [
            client.add(text("a cup of tea", 4), user_id="u", session_id=session)["memory_id"]
            for session in ("first", "second")
        ]
        other = client.add(text("a bicycle", 2), user_id="u")["memory_id"]

        def scores() -> dict[str, float]:
            answer = client.search("green", user_ids=["u"], reader=reader, min_score=0.0)
            return {one["memory_id"]: one["score"] for one in answer["memories"]["normal"]}

        before = scores()
        last = list(before)[1]
        assert before[ids[0]] == before[ids[1]]
        client.reinforce([last] * 3, user_id="u")
        after = scores()
        assert next(iter(after)) == last
        assert before[last] < after[last] <= 1.0
        assert {one: after[one] for one in after if one != last} == {
            one: before[one] for one in before if one != last
        }
        assert other in after


def test_off_means_that_use_counts_for_nothing(folder: Path) -> None:
    """What was learned stays, and the order is that of a store that nobody used."""
    texts = ["green tea in the morning", "green tea in the evening"]
    with open_client("faiss", folder) as client:
        ids = client.add_extracted(texts, user_id="u")["memory_ids"]
        before = client.search("green tea", user_ids=["u"])["memories"]["normal"]
        client.reinforce([ids[1]], user_id="u")
        assert client.search("green tea", user_ids=["u"])["memories"]["normal"] == before


@pytest.mark.parametrize("reader", READERS)
def test_a_durable_fact_is_still_found_when_a_mood_was_told_for_ninety_days(
    folder: Path, reader: str
) -> None:
    """The one was said once, the other every day and asked for every day; it still answers its question."""
    hand = Hand(1_700_000_000.0)
    config = {**config_for("faiss", folder), **ON, "embedder": {"provider": "hashed"}}
    with hand.opening(), HyMemoryClient(config) as client:
        fact = client.add("I am allergic to peanuts", user_id="u")["memory_id"]
        for day in range(90):
            hand.at += _DAY
            client.add("I feel tired and a little sad today", user_id="u", session_id=f"day {day}")
            client.search("do I feel tired today", user_ids=["u"], reader=reader)
            client.drain()
        answer = client.search("which nuts am I allergic to", user_ids=["u"], reader=reader, limit=3)
        assert _ids(answer)[0] == fact
        assert answer["memories"]["normal"][0]["score"] >= 0.4
        assert client.use_of(fact)["salience"] > 0.2


def test_pinned_memories_do_not_fade(folder: Path) -> None:
    hand = Hand(1_700_000_000.0)
    with hand.opening(), open_client("faiss", folder, config=ON) as client:
        ids = client.add_extracted(["the plan", "the other plan"], user_id="u")["memory_ids"]
        pinned = client.pin(ids[0])
        assert pinned["pinned"]
        begun = [client.use_of(one)["salience"] for one in ids]
        hand.at += 200 * _DAY
        first, second = (client.use_of(one) for one in ids)
        assert first["salience"] == begun[0]
        assert second["salience"] < begun[1]
        hand.at -= 400 * _DAY  # a clock that goes back
        assert client.use_of(ids[1])["salience"] == begun[1]
        hand.at += 400 * _DAY
        assert not client.unpin(ids[0])["pinned"]
        hand.at += 200 * _DAY
        assert client.use_of(ids[0])["salience"] < begun[0]


def test_reading_changes_nothing(client: HyMemoryClient) -> None:
    one = client.add("the garden plan", user_id="u")["memory_id"]
    client.reinforce([one], user_id="u")
    first = runtime_of(client).ledger.uses([one])
    for _ in range(1000):
        client.use_of(one)
    assert runtime_of(client).ledger.uses([one]) == first


def test_an_earlier_moment_knows_no_later_use(folder: Path) -> None:
    hand = Hand(1_700_000_000.0)
    with hand.opening(), open_client("faiss", folder, config=ON) as client:
        texts = ["green tea in the morning", "green tea in the evening"]
        ids = client.add_extracted(texts, user_id="u")["memory_ids"]
        hand.at += _DAY
        before = client.search("green tea", user_ids=["u"], as_of=hand.at - 1)["memories"]["normal"]
        client.reinforce(ids[1:], user_id="u")
        assert client.search("green tea", user_ids=["u"], as_of=hand.at - 1)["memories"]["normal"] == before
        client.drain()
        assert client.use_of(ids[0])["uses"] == 0


def test_whose_memories_may_be_told_of(client: HyMemoryClient) -> None:
    """Another user's are unknown, and nothing is changed then."""
    mine = client.add("the garden plan", user_id="u")["memory_id"]
    theirs = client.add("the garden plan", user_id="v")["memory_id"]
    with pytest.raises(MemoryNotFoundError):
        client.reinforce([mine, theirs], user_id="u")
    assert client.use_of(mine)["uses"] == client.use_of(theirs)["uses"] == 0
    for verb in (client.pin, client.unpin, client.use_of):
        with pytest.raises(MemoryNotFoundError):
            verb(theirs, user_id="u")
        with pytest.raises(InvalidArgumentError):
            verb("")
    with pytest.raises(InvalidArgumentError):
        client.reinforce([], user_id="u")
    with pytest.raises(InvalidArgumentError):
        client.reinforce("abc", user_id="u")


def test_a_clone_has_the_uses_of_its_original_and_a_delete_takes_them_along(client: HyMemoryClient) -> None:
    one = client.add("the garden plan", user_id="u")["memory_id"]
    client.reinforce([one], user_id="u")
    client.clone_user("u", "v")
    copy = client.list_memories(user_id="v")["memories"][0]["memory_id"]
    assert client.use_of(copy)["uses"] == 1
    client.delete_all(user_id="u")
    assert runtime_of(client).ledger.uses([one]) == {}
    assert client.use_of(copy)["uses"] == 1


def test_a_lesson_is_worth_more_the_first_time(client: HyMemoryClient) -> None:
    one = client.add("the garden plan", user_id="u")["memory_id"]
    ledger = runtime_of(client).ledger
    values = [client.use_of(one)["salience"]]
    for _ in range(4):
        ledger.learn([Lesson(one, runtime_of(client).clock.now())])
        values.append(client.use_of(one)["salience"])
    gains = [after - before for before, after in pairwise(values)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0
