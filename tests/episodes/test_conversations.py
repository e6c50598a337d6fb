"""The conversation index against a model that sorts and cuts everything anew at each step."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory.clock import Clock
from hy_memory.conversations.index import Conversations
from hy_memory.conversations.turns import MOST_NEAR, UserTurns
from hy_memory.errors import LedgerError
from hy_memory.ledger.open import open_ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry, updated, whole
from hy_memory.values.record import Layer
from hy_memory.values.turn import Closing, Turn, TurnChanges

HOUR = 3600.0
GAP = 6 * HOUR


def turn(one: str, event_at: float, created_at: float = 0.0, **more: Any) -> Turn:
    plain = Turn(one, "a", "s", "app", Layer.L2_FACT, None, event_at, created_at, False, "", 1, "", "", None)
    return plain._replace(**more)


@dataclass(slots=True)
class Model:
    """All turns and closings; every answer is worked out from nothing."""

    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    closings: tuple[Closing, ...] = ()

    def episodes(self) -> list[list[str]]:
        found: list[list[str]] = []
        for name in sorted({one[1:3] for one in self.turns.values()}):
            mine = [one for one in self.turns.values() if one[1:3] == name]
            closed = [one.at for one in self.closings if (one.agent_id, one.session_id) == name]

            def place(one: Turn, closed: Sequence[float] = closed) -> tuple[int, float, float, str]:
                return sum(at < one.created_at for at in closed), one.event_at, one.created_at, one.id

            before: Turn | None = None
            for one in sorted(mine, key=place):
                is_new = before is None or place(before)[0] != place(one)[0]
                if is_new or (before is not None and one.event_at - before.event_at > GAP):
                    found.append([])
                found[-1].append(one.id)
                before = one
        return found


def check(found: UserTurns, model: Model) -> None:
    """Assert that the index answers what the model does, for every turn and for unknown ones."""
    known: list[str] = []
    for episode in model.episodes():
        for at, one in enumerate(episode):
            known.append(one)
            before = episode[at - 1] if at else None
            after = episode[at + 1] if at + 1 < len(episode) else None
            asked = before is not None and model.turns[before].asks
            assert found.place(one) == (before, after, asked, model.turns[one])
            assert found.asks(one) == model.turns[one].asks
            assert found.episode(one) == tuple(episode)
            window = found.window(one)
            if len(episode) == 1:
                assert window is None
            else:
                assert window is not None
                assert [near.id for near in window.turns] == episode
                assert window.turns[window.place].id == one
                assert window.first == episode[0]
                assert {kind[1:6] for kind in window.kinds} == {model.turns[one][1:6] for one in episode}
    assert sorted(known) == sorted(model.turns)
    assert (found.place("nobody"), found.window("nobody"), found.episode("nobody")) == (None, None, ())


NAMES = st.tuples(st.sampled_from("ab"), st.sampled_from("st"))
HOURS = st.sampled_from([0.0, 1.0, 5.0, 6.0, 6.5, 7.0, 12.0, 12.5, 13.0, 18.0, 30.0])
STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 15), NAMES, HOURS, st.booleans()),
    st.tuples(st.just("remove"), st.integers(0, 15)),
    st.tuples(st.just("close"), NAMES, st.integers(-3, 0)),
    st.tuples(st.just("reopen"), NAMES),
)


@settings(max_examples=300, deadline=None)
@given(steps=st.lists(st.lists(STEPS, min_size=1, max_size=4), max_size=14), data=st.data())
def test_the_index_is_the_model(steps: list[list[tuple[Any, ...]]], data: st.DataObject) -> None:
    """Adds in any order of events, changed times and words, deletes, closings, late turns."""
    model, now = Model(), 100.0
    found = UserTurns.build(TurnChanges(0, (), (), ()), GAP)
    for batch in steps:
        put: dict[str, Turn] = {}
        removed: set[str] = set()
        for kind, *what in batch:
            now += 1
            if kind == "put":
                number, (agent, session), hours, asks = what
                one = f"m{number}"
                created = model.turns[one].created_at if one in model.turns else now
                put[one] = turn(one, hours * HOUR, created, agent_id=agent, session_id=session, asks=asks)
                removed.discard(one)
            elif kind == "remove":
                one = f"m{what[0]}"
                put.pop(one, None)
                removed.add(one)
            elif kind == "close":
                (agent, session), back = what
                made = Closing(agent, session, now + back)
                kept = {*model.closings, made}
                model.closings = tuple(sorted(kept, key=lambda one: (one.agent_id, one.session_id, one.at)))
            else:
                kept = [one for one in model.closings if (one.agent_id, one.session_id) != what[0]]
                model.closings = tuple(kept)
        for one in removed:
            model.turns.pop(one, None)
        model.turns.update(put)
        found = found.advance(TurnChanges(int(now), tuple(put.values()), tuple(removed), model.closings))
        check(found, model)
    check(UserTurns.build(TurnChanges(0, tuple(model.turns.values()), (), model.closings), GAP), model)


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(2, 70), min_size=1, max_size=3), at=st.integers(0, 209), order=st.randoms()
)
def test_a_window_is_the_nearest(lengths: list[int], at: int, order: Any) -> None:
    """Twenty at most, of one episode, as many on each side as there are; the same however the turns came."""
    episodes = [
        [turn(f"e{number}m{one:02}", number * 100 * GAP + one * 60.0) for one in range(length)]
        for number, length in enumerate(lengths)
    ]
    turns = [one for episode in episodes for one in episode]
    built = UserTurns.build(TurnChanges(0, tuple(turns), (), ()), GAP)
    grown = UserTurns.build(TurnChanges(0, (), (), ()), GAP)
    shuffled = list(turns)
    order.shuffle(shuffled)
    for one in shuffled:
        grown = grown.advance(TurnChanges(1, (one,), (), ()))
    wanted = turns[at % len(turns)]
    episode = next(one for one in episodes if wanted in one)
    place = episode.index(wanted)
    first = min(max(0, place - MOST_NEAR // 2), max(0, len(episode) - MOST_NEAR))
    for found in (built, grown):
        for _ in range(2):  # worked out, then remembered
            window = found.window(wanted.id)
            assert window is not None
            assert window.turns == tuple(episode[first : first + MOST_NEAR])
            assert (window.first, window.turns[window.place]) == (episode[0].id, wanted)


def test_a_remembered_window_is_forgotten_with_a_change() -> None:
    found = UserTurns.build(TurnChanges(0, (turn("a", 0), turn("b", 60)), (), ()), GAP)
    assert found.window("a") is not None
    found = found.advance(TurnChanges(1, (turn("c", 30),), (), ()))
    window = found.window("a")
    assert window is not None
    assert [one.id for one in window.turns] == ["a", "c", "b"]
    found = found.advance(TurnChanges(2, (), ("b", "c"), ()))
    assert found.window("a") is None


@dataclass(slots=True)
class Source:
    """Turns of users held in memory; `reads` says what was asked for."""

    everything: dict[str, tuple[Turn, ...]]
    seq: int = 1
    reads: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    broken: bool = False

    def freshness(self) -> int:
        return self.seq

    def turns(self, user_id: str, after: int | None = None) -> TurnChanges:
        self.reads.append((user_id, after))
        if self.broken:
            raise LedgerError("told to fail")
        return TurnChanges(self.seq, self.everything.get(user_id, ()), (), ())


def test_users_are_read_once_and_leave_whole() -> None:
    source = Source({user: tuple(turn(f"{user}{at}", at) for at in range(500)) for user in "uvw"})
    one = Conversations(source, GAP, 1 << 30)
    one.of("u")
    index = Conversations(source, GAP, int(one.nbytes * 2.5))
    source.reads.clear()
    for user in ("u", "v", "u", "w", "w", "u"):
        assert len(index.of(user).episode(f"{user}0")) == 500
    assert source.reads == [("u", None), ("v", None), ("w", None)]
    assert index.users() == ("w", "u")
    source.seq += 1
    index.of("u")
    assert source.reads[-1] == ("u", 1)
    index.close()
    assert index.users() == ()


def test_a_user_that_cannot_be_read_is_read_again() -> None:
    source = Source({"u": (turn("a", 0), turn("b", 1))}, broken=True)
    index = Conversations(source, GAP, 1 << 30)
    with pytest.raises(LedgerError):
        index.of("u")
    source.broken = False
    assert index.of("u").episode("a") == ("a", "b")


def test_it_follows_a_ledger(tmp_path: Path) -> None:
    """Two openings of one store: updates, deletes, closings and a whole user's end are seen at once."""
    ledger, another = (open_ledger(None, path=tmp_path, clock=Clock()) for _ in range(2))
    index = Conversations(another, GAP, 1 << 30)
    entries = {one: entry(one, "u", created_at=DAY + at, updated_at=DAY + at) for at, one in enumerate("abc")}
    ledger.insert(list(entries.values()))
    assert index.of("u").episode("b") == ("a", "b", "c")
    late = updated(entries["a"], "is it late?")
    ledger.replace(replace(late, record=replace(late.record, memory_at=DAY + HOUR)), 1)
    assert index.of("u").episode("b") == ("b", "c", "a")
    assert index.of("u").asks("a")
    ledger.delete(["c"])
    assert index.of("u").episode("a") == ("b", "a")
    at = ledger.close_session("u", "default_agent", "default_session")
    assert at is not None
    ledger.insert([entry("d", "u", created_at=at + 1, memory_at=DAY)])
    assert index.of("u").episode("d") == ("d",)
    assert index.of("u").closed_by(Closing("default_agent", "default_session", at)) == (("b", "a"), 2)
    ledger.delete_all(whole("u"))
    assert index.of("u").place("a") is None
    ledger.close()
    another.close()


def test_readers_and_a_writer_at_once() -> None:
    """C51: whoever reads while turns come and go gets an answer of before or after, and no error."""
    found = UserTurns.build(TurnChanges(0, tuple(turn(f"m{at}", at) for at in range(300)), (), ()), 10**6)
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        ids = [f"m{at}" for at in range(0, 300, 7)]
        try:
            while not stop.is_set():
                for one in ids:
                    window = found.window(one)
                    assert window is None or len(window.turns) <= MOST_NEAR
                    found.place(one)
                    assert len(found.episode(one)) <= 301
        except BaseException as error:  # reported by the test's own thread
            failures.append(error)
            raise

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for step in range(600):
        one = f"m{step % 300}"
        assert found.advance(TurnChanges(step, (), (one,), ())) is found
        assert found.advance(TurnChanges(step, (turn(one, (step * 37) % 300),), (), ())) is found
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


def test_an_add_costs_the_same_in_a_long_session() -> None:
    """One session of 50,000: taking in one more takes the time of a few dictionary writes."""
    turns = tuple(turn(f"m{at}", at * 60.0) for at in range(50_000))
    found = UserTurns.build(TurnChanges(0, turns, (), ()), GAP)
    spent: list[float] = []
    for step in range(200):
        started = time.perf_counter()
        at = step * 240.0 if step % 2 else 50_000 * 60.0 + step
        found = found.advance(TurnChanges(step, (turn(f"new{step}", at),), (), ()))
        spent.append(time.perf_counter() - started)
    assert statistics.median(spent) < 0.001  # measured: 0.02 ms; a loaded machine may take its time
    assert len(found.episode("m0")) == 50_200
