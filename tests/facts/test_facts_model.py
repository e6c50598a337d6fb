"""Facts against a plain model: a list of what was said, and every moment looked up by hand."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.clocks import Hand
from tests.support.stores import open_client, quick_folder

_MOMENTS = range(12)
_SINGLE, _MULTI = "lives_in", "likes"


@dataclass
class Model:
    """What holds at each moment of a small calendar: of a single-valued predicate one value, else several.

    An open end reaches to where the next known value begins, which is worked out from what holds.
    """

    one: dict[int, str] = field(default_factory=dict[int, str])
    many: dict[int, set[str]] = field(default_factory=lambda: {at: set[str]() for at in _MOMENTS})

    def say(self, predicate: str, value: str, start: int, end: int | None) -> None:
        if predicate == _MULTI:
            for at in _MOMENTS:
                if start <= at and (end is None or at < end):
                    self.many[at].add(value)
            return
        limit = end
        if limit is None:
            later = [at for at in self._starts() if at > start]
            limit = min(later, default=len(_MOMENTS))
        for at in range(start, min(limit, len(_MOMENTS))):
            self.one[at] = value

    def _starts(self) -> list[int]:
        return [at for at in _MOMENTS if at in self.one and self.one.get(at - 1) != self.one[at]]

    def over(self, predicate: str, value: str, start: int, end: float) -> None:
        for at in _MOMENTS:
            if start <= at < end:
                if predicate == _MULTI:
                    self.many[at].discard(value)
                elif self.one.get(at) == value:
                    del self.one[at]

    def copy(self) -> Model:
        return Model(dict(self.one), {at: set(values) for at, values in self.many.items()})

    def at(self, moment: int) -> set[tuple[str, str]]:
        held = {(_MULTI, value) for value in self.many[moment]}
        return held | ({(_SINGLE, self.one[moment])} if moment in self.one else set())


_said = st.tuples(
    st.sampled_from([_SINGLE, _MULTI]),
    st.sampled_from(["Oslo", "Rome", "Lyon"]),
    st.integers(0, 10),
    st.one_of(st.none(), st.integers(1, 6)),
)
_steps = st.lists(
    st.one_of(_said, st.tuples(st.just("over"), st.integers(0, 9), st.integers(0, 11))), max_size=14
)


def _held(client: HyMemoryClient, moment: int, **more: Any) -> set[tuple[str, str]]:
    return {(one["predicate"], one["object"]) for one in client.facts.at(moment, user_id="u", **more)}


def _agrees(client: HyMemoryClient, models: list[tuple[float, Model]]) -> None:
    """Every moment, as believed now and as of every step before; and what follows from that."""
    for as_of, model in models:
        for moment in _MOMENTS:
            assert _held(client, moment, as_of=as_of) == model.at(moment), (as_of, moment)
    now = models[-1][1]
    for start in (0, 3, 7):
        end = start + 3
        seen = {(one["predicate"], one["object"]) for one in client.facts.between(start, end, user_id="u")}
        assert seen == set[tuple[str, str]]().union(*(now.at(at) for at in range(start, end + 1)))
    found = client.facts.compare(2, 8, user_id="u")
    before, after = now.at(2), now.at(8)
    came = {(one["predicate"], one["object"]) for one in found["added"]}
    gone = {(one["predicate"], one["object"]) for one in found["removed"]}
    changed = [((a["predicate"], a["object"]), (b["predicate"], b["object"])) for a, b in found["changed"]]
    stayed = {(one["predicate"], one["object"]) for one in found["unchanged"]}
    assert stayed == before & after
    assert came | {b for _, b in changed} == after - before
    assert gone | {a for a, _ in changed} == before - after
    assert all(a[0] == b[0] == _SINGLE for a, b in changed)
    assert client.facts.conflicts(user_id="u") == []
    lives = [one for one in client.facts.timeline("ana", user_id="u") if one["predicate"] == _SINGLE]
    for one, other in pairwise(lives):
        assert one["valid_to"] is not None
        assert one["valid_to"] <= other["valid_from"]
        assert one["valid_to"] < other["valid_from"] or one["object"] != other["object"]
    ids = [one["fact_id"] for one in client.facts.timeline("Ana", user_id="u")]
    assert len(ids) == len(set(ids))


@settings(max_examples=60)
@given(_steps)
def test_facts_agree_with_a_list(steps: list[tuple[Any, ...]]) -> None:
    """Out of order, overlapping, at equal times, of one and of several values, retracted."""
    hand = Hand(1_000.0)
    with quick_folder() as folder, hand.opening(), open_client("faiss", folder) as client:
        model = Model()
        models: list[tuple[float, Model]] = [(hand.at, Model())]
        for step in steps:
            hand.at += 1.0
            if step[0] == "over":
                rows = client.facts.timeline("Ana", user_id="u")
                if not rows:
                    continue
                row = rows[step[1] % len(rows)]
                since = step[2]
                if since <= row["valid_from"]:
                    since = int(row["valid_from"])
                    client.facts.retract(row["fact_id"], user_id="u")
                else:
                    client.facts.retract(row["fact_id"], user_id="u", at=since)
                end = math.inf if row["valid_to"] is None else row["valid_to"]
                model.over(row["predicate"], row["object"], since, end)
            else:
                predicate, value, start, length = step
                end = None if length is None else start + length
                made = client.facts.add("Ana", predicate, value, user_id="u", valid_from=start, valid_to=end)
                model.say(predicate, value, start, end)
                current = {one["fact_id"] for one in client.facts.timeline("Ana", user_id="u")}
                assert set(made["fact_ids"]) <= current
            models.append((hand.at, model.copy()))
        _agrees(client, models)
        assert client.facts.at(3, user_id="v") == []


def test_concurrent_insertions_leave_one_value_without_gap_or_overlap(folder: Path) -> None:
    """Threads through two clients; whoever comes last at a moment is what stands there."""
    clients = [open_client("faiss", folder) for _ in range(2)]
    try:

        def say(number: int) -> None:
            for at in range(6):
                clients[number % 2].facts.add(
                    "Ana", "lives_in", f"city {number}", user_id="u", valid_from=10 * at + number % 3
                )

        threads = [threading.Thread(target=say, args=(number,)) for number in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        rows = clients[0].facts.timeline("Ana", user_id="u")
        for one, other in pairwise(rows):
            assert one["valid_to"] == other["valid_from"]
        assert rows[-1]["valid_to"] is None
        assert len(clients[1].facts.current(user_id="u", subject="Ana")) == 1
        assert clients[0].facts.conflicts(user_id="u") == []
    finally:
        for one in clients:
            one.close()
