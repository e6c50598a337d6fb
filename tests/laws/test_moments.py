"""Answers as of an earlier moment, on every backend and both readers, against a list of all that was."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.clocks import Hand
from tests.support.oracle import Asked, Memory, Oracle, check_answer
from tests.support.spelled import Arguments, admits, drafts, memory_of, scopes, texts
from tests.support.stores import READERS, has_keywords, normal, open_everywhere, quick_folder

_START = 2_000_000_000.0
_numbers = count()


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happens `later` seconds after the step before; `which` picks among what there is."""

    verb: str
    later: float
    owner: int
    which: int
    draft: Arguments
    changed: Arguments


@dataclass(slots=True)
class Past:
    """Everything that was, by when: what is deleted is gone from all of it."""

    states: list[tuple[float, dict[str, Memory]]] = field(
        default_factory=list[tuple[float, dict[str, Memory]]]
    )

    def at(self, moment: float) -> dict[str, Memory]:
        """Return what had been recorded by `moment`."""
        return next((state for time, state in reversed(self.states) if time <= moment), {})

    def note(self, time: float, memory: Memory) -> None:
        """Note that `memory` is so from `time` on."""
        self.states.append((time, {**self.at(time), memory.id: memory}))

    def forget(self, memory_id: str) -> None:
        """Take a memory out of all that was."""
        self.states = [
            (time, {one: memory for one, memory in state.items() if one != memory_id})
            for time, state in self.states
        ]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Draw a step; half of them add something."""
    other = draw(drafts())
    changed: Arguments = {
        "content": draw(st.one_of(st.none(), texts())),
        **{name: draw(st.sampled_from((None, other[name]))) for name in ("tags", "metadata", "memory_at")},
        "expires_at": draw(st.sampled_from((None, None, _START + 2, _START + 7))),
    }
    if all(one is None for one in changed.values()):
        changed["content"] = "tea"
    draft = draw(drafts())
    draft["expires_at"] = draw(st.sampled_from((None, None, _START + 4, _START + 9)))
    return Step(
        draw(st.sampled_from(("add", "add", "add", "update", "update", "update", "delete"))),
        draw(st.sampled_from((0.0, 0.25, 1.0, 5.0))),
        draw(st.sampled_from((0, 0, 1))),
        draw(st.integers(0, 20)),
        draft,
        changed,
    )


@pytest.fixture(scope="module")
def hand() -> Hand:
    return Hand(_START)


@pytest.fixture(scope="module")
def clients(hand: Hand) -> Generator[dict[str, HyMemoryClient]]:
    with quick_folder() as folder, hand.opening(), open_everywhere(folder) as opened:
        yield opened


def _live(client: HyMemoryClient, hand: Hand, life: list[Step], users: tuple[str, ...]) -> Past:
    """Do what `life` says, and return all that was."""
    past, hand.at = Past(), _START
    for step in life:
        hand.at += step.later
        there = sorted(past.at(hand.at))
        if step.verb == "add":
            memory_id = client.add(user_id=users[step.owner], **step.draft)["memory_id"]
            memory = memory_of(step.draft, memory_id, users[step.owner])
            past.note(hand.at, replace(memory, created_at=hand.at))
        elif there and step.verb == "update":
            old = past.at(hand.at)[there[step.which % len(there)]]
            client.update(old.id, **step.changed)
            changed = {name: value for name, value in step.changed.items() if value is not None}
            if "tags" in changed:
                changed["tags"] = tuple(changed["tags"])
            past.note(hand.at, replace(old, **changed))
        elif there:
            gone = there[step.which % len(there)]
            client.delete(gone)
            past.forget(gone)
    return past


@given(
    life=st.lists(steps(), min_size=5, max_size=14),
    moments=st.lists(
        st.sampled_from((-1.0, 0.0, 0.25, 1.0, 1.25, 2.0, 5.0, 6.0, 9.0, 20.0)), min_size=1, max_size=3
    ),
    query=texts(),
    scope=st.one_of(st.just({}), scopes()),
    several=st.booleans(),
    limit=st.sampled_from((0, 2, 9, 9)),
)
def test_an_answer_is_of_what_was_recorded_by_then(
    clients: dict[str, HyMemoryClient],
    hand: Hand,
    life: list[Step],
    moments: list[float],
    query: str,
    scope: Arguments,
    several: bool,
    limit: int,
) -> None:
    """Laws 6 to 10 hold for every moment: ids, scores and texts are those a search gave then."""
    users = tuple(f"{name}-{next(_numbers)}" for name in ("ann", "bob"))
    past = _live(clients["faiss"], hand, life, users)
    hand.at = _START + 100
    asked_users = users if several else users[:1]
    for moment in (_START + one for one in moments):
        oracle, then = Oracle(), past.at(moment)
        oracle.memories.update(then)
        for backend, client in clients.items():
            for reader in READERS:
                keywords = reader == "hybrid" and has_keywords(backend)
                asked = Asked(query, asked_users, admits(scope), limit, 0.0, keywords)
                answer = client.search(
                    query,
                    user_ids=list(asked_users),
                    limit=limit,
                    min_score=0.0,
                    reader=reader,
                    as_of=moment,
                    **scope,
                )
                assert "degraded" not in answer
                check_answer(answer, oracle.answer(asked, moment), limit)
                for item in normal(answer):
                    memory = then[item["memory_id"]]
                    assert (item["content"], item["memory_at"]) == (memory.content, memory.memory_at)
                    assert (tuple(item["tags"]), item["meta"]) == (memory.tags, memory.metadata)
                    for one in item.get("evolution_chain", []):
                        assert one["gmt_created"] <= moment


@given(life=st.lists(steps(), min_size=1, max_size=8), query=texts(), scope=scopes())
def test_the_present_is_a_moment_too(
    clients: dict[str, HyMemoryClient], hand: Hand, life: list[Step], query: str, scope: Arguments
) -> None:
    """As of now, of later, or of just before now with nothing in between: what a plain search says."""
    user = f"carl-{next(_numbers)}"
    _live(clients["faiss"], hand, life, (user, user))
    before, hand.at = hand.at, hand.at + 0.125
    wanted: Arguments = {"user_ids": [user], "min_score": 0.0, "intention_limit": 9, **scope}
    for client in clients.values():
        for reader in READERS:
            plain = client.search(query, reader=reader, **wanted)["memories"]
            for moment in (before, hand.at, hand.at + 1e6):
                assert client.search(query, reader=reader, as_of=moment, **wanted)["memories"] == plain
