"""What neighbours, speakers and times add in `hybrid`: the documented formulas against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.embedding import POOL, text
from tests.support.stores import BACKENDS, NO_SUPPORT, ids, normal, open_client, quick_folder

GRID = 1e-5
MAY = datetime(2023, 5, 7, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


@dataclass(frozen=True)
class Said:
    """One turn: who says it, its words (which choose its vector), whether it asks, and when."""

    speaker: str
    place: int
    asks: bool
    days: int

    @property
    def content(self) -> str:
        """The text; a question mark stands before the dots that choose the vector."""
        return text(f"{self.speaker} words{'?' if self.asks else ''}", self.place)


TURNS = st.lists(
    st.builds(
        Said,
        st.sampled_from(["maya", "ben", "user", "assistant"]),
        st.integers(0, len(POOL) - 1),
        st.booleans(),
        st.sampled_from([0, 0, 0, 1, 40]),
    ),
    min_size=1,
    max_size=14,
)
QUERIES = st.sampled_from(
    [
        "green tea",
        "what did maya say",
        "green tea on 7 May 2023",
        "maya and ben",
        "words",
        "what did you recommend",
    ]
)


def load(client: HyMemoryClient, turns: Sequence[Said]) -> None:
    """Store one session; days only go forward, so that the order of the turns is that of the list."""
    days = 0
    for turn in turns:
        days = max(days, turn.days)
        who = {"role": turn.speaker} if turn.speaker in ("user", "assistant") else {"name": turn.speaker}
        said = {"content": turn.content, "timestamp": MAY + days * DAY, **who}
        client.add([said], user_id="u1", session_id="s", source="web" if turn.place % 3 else "app")


def own_scores(client: HyMemoryClient, query: str, **more: Any) -> dict[str, float]:
    """Return every admitted memory's score without supports, by id."""
    answer = client.search(query, user_ids=["u1"], reader="hybrid", limit=50, min_score=0, **more)
    return {one["memory_id"]: one["score"] for one in normal(answer)}


def expected(
    query: str, order: Sequence[dict[str, Any]], own: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Return all hits with their scores, best first, by docs/concepts/ranking.md; `order` is the session."""
    speakers = {one["owner"] for one in order}
    names = speakers - {"user", "assistant"}
    named = [one for one in names if one in query.split()]
    found: list[tuple[str, float]] = []
    for at, turn in enumerate(order):
        one = turn["memory_id"]
        if one not in own:
            continue
        evidence = 0.0
        if len(speakers) > 1:
            evidence += opened(own[one]) * sum(
                share * beyond(own.get(near, 0.0)) for near, share in lent(order, at)
            )
            weight = 0.2 if len(named) == 1 and turn["owner"] == named[0] else 0.0
            around = [near["owner"] for near in episode(order, at, -1) + episode(order, at, 1)]
            if turn["owner"] == "user" and any(near != "user" for near in around) and "you" not in query:
                weight += 1.0
            evidence += weight * beyond(own[one])
        if "May" in query:
            outside = max(0.0, turn["memory_at"] - (MAY + DAY / 2))
            evidence += 0.2 * 2.0 ** -((outside / (1.5 * DAY)) ** 2) * beyond(own[one])
        found.append((one, round(own[one] + (1 - own[one]) * -math.expm1(-evidence), 5)))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def lent(order: Sequence[dict[str, Any]], at: int) -> list[tuple[str, float]]:
    """Return the neighbours that a turn borrows from, each with its share."""
    turn = order[at]
    before, after, earlier = episode(order, at, -1), episode(order, at, 1), episode(order, at, -2)
    shares: list[tuple[str, float]] = []
    if before and before[0]["owner"] != turn["owner"]:
        if "?" in before[0]["content"]:
            shares.append((before[0]["memory_id"], 0.8 * close(turn, before[0])))
        if earlier and earlier[0]["owner"] == turn["owner"]:
            shares.append((earlier[0]["memory_id"], 0.2 * close(turn, earlier[0])))
    if after and after[0]["owner"] != turn["owner"] and "?" not in turn["content"]:
        shares.append((after[0]["memory_id"], 0.4 * close(turn, after[0])))
    return shares


def episode(order: Sequence[dict[str, Any]], at: int, step: int) -> list[dict[str, Any]]:
    """Return the turn `step` away, where no pause of more than six hours lies between."""
    to = at + step
    if not 0 <= to < len(order):
        return []
    between = order[min(at, to) : max(at, to) + 1]
    pauses = [later["memory_at"] - one["memory_at"] for one, later in itertools.pairwise(between)]
    return [order[to]] if max(pauses) <= 6 * 3600 else []


def close(turn: dict[str, Any], other: dict[str, Any]) -> float:
    """Return how surely two turns speak of one thing."""
    return 1 / (1 + ((len(turn["content"]) + len(other["content"])) / 600) ** 2)


def beyond(score: float) -> float:
    """Return what a score says beyond 0.4."""
    return max(0.0, math.log(0.6 / (1 - min(score, 0.99999))))


def opened(score: float) -> float:
    """Return how much a turn may borrow."""
    return min(1.0, max(0.0, (score - 0.3) / 0.1))


@given(turns=TURNS, query=QUERIES, limit=st.integers(0, 12), place=st.integers(0, len(POOL) - 1))
def test_supports_are_the_documented_formulas_and_limit_cuts_their_order(
    turns: list[Said], query: str, limit: int, place: int
) -> None:
    """Whatever the limit, the answer is the head of brute force over everything (laws 3 and 5)."""
    asked = text(query, place)
    with quick_folder() as folder:
        with open_client("faiss", folder, config=NO_SUPPORT) as client:
            load(client, turns)
            own = own_scores(client, asked)
            order = client.list_memories(user_id="u1", order="asc")["memories"]
        with open_client("faiss", folder) as client:
            answer = client.search(asked, user_ids=["u1"], reader="hybrid", limit=limit, min_score=0)
    wanted = expected(query, [dict(one) for one in order], own)[:limit]
    got = [(one["memory_id"], one["score"]) for one in normal(answer)]
    assert [one for one, _ in got] == [one for one, _ in wanted] or doubtful(got, wanted)
    assert all(abs(one[1] - other[1]) <= 1.5 * GRID for one, other in zip(got, wanted, strict=True))


def doubtful(got: list[tuple[str, float]], wanted: list[tuple[str, float]]) -> bool:
    """Whether rounding alone could have changed places: scores at each place are equal on the grid."""
    return all(abs(one[1] - other[1]) <= 1.5 * GRID for one, other in zip(got, wanted, strict=True))


@pytest.mark.parametrize("entities", [0, 0.7])
@given(turns=TURNS, query=QUERIES, least=st.floats(0, 1))
def test_a_filter_or_a_higher_threshold_only_removes(
    entities: float, turns: list[Said], query: str, least: float
) -> None:
    """What a filter leaves out lends nothing, so that no score rises under a stricter one (laws 2, 5, 6)."""
    config = {"ranking": {"entities": entities}}
    with quick_folder() as folder, open_client("faiss", folder, config=config) as client:
        load(client, turns)
        client.add("maya and ben met somebody else's maya", user_id="u2")
        scope: dict[str, Any] = {"user_ids": ["u1"], "limit": 50, "reader": "hybrid"}
        everything = {one["memory_id"]: one for one in normal(client.search(query, min_score=0, **scope))}
        high = normal(client.search(query, min_score=least, **scope))
        webbed = normal(client.search(query, min_score=0, include_sources=["web"], **scope))
        plain = normal(client.search(query, user_ids=["u1"], limit=50, min_score=0, reader="legacy"))
    assert [one["memory_id"] for one in high] == [
        one["memory_id"] for one in everything.values() if one["score"] >= least
    ]
    assert {one["memory_id"] for one in webbed} == {
        one for one, item in everything.items() if item["source"] == "web"
    }
    assert all(one["score"] <= everything[one["memory_id"]]["score"] for one in webbed)
    assert all(everything[one["memory_id"]]["score"] >= one["score"] for one in plain)
    assert all(0 <= one["score"] <= 1 and one["user_id"] == "u1" for one in everything.values())


@given(turns=TURNS, query=QUERIES)
def test_all_backends_with_keywords_agree(turns: list[Said], query: str) -> None:
    """Law 8, with neighbours, speakers and times at work."""
    found: dict[str, list[str]] = {}
    with quick_folder() as folder:
        with open_client("memory", folder) as client:
            load(client, turns)
        for backend in BACKENDS:
            config = {"vector_store": {"provider": backend, "keyword_index": "local"}}
            with open_client(backend, folder, config=config) as client:
                client.doctor(repair=True)
                answer = client.search(query, user_ids=["u1"], reader="hybrid", limit=5, min_score=0)
                found[backend] = ids(answer)
    assert all(one == found["memory"] for one in found.values())


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_is_found_by_its_question(backend: str) -> None:
    """The turn that answers is raised by the turn that asks, and `explain` says so."""
    with quick_folder() as folder, open_client(backend, folder) as client:
        client.add(
            [
                {"name": "Ben", "content": "What do you have for breakfast?"},
                {"name": "Maya", "content": text("Porridge, mostly", 11)},  # 0.39 by itself
                {"name": "Ben", "content": text("The train was late", 2)},
            ],
            user_id="u1",
        )
        answer = client.search("breakfast", user_ids=["u1"], reader="hybrid", explain=True)
    asked, said = normal(answer)
    assert asked["content"].startswith("What")
    assert said["content"].startswith("Porridge")
    assert said["score"] > 0.4
    assert said["retrieval_source"] == "Episode"
    assert [one["leg"] for one in said["evidence"]][-1] == "Episode"


def test_a_time_in_the_question_is_a_preference_and_no_filter() -> None:
    """Of two like memories the one of that day comes first; the other is still found; `explain` says why."""
    with quick_folder() as folder, open_client("faiss", folder) as client:
        client.add(text("lunch of noodles", 5), user_id="u1", memory_at="2023-05-08")
        client.add(text("lunch of dumplings", 5), user_id="u1", memory_at="2023-05-20")
        client.add(text("lunch of rice", 5), user_id="u1", memory_at="2024-01-01")
        answer: Any = client.search(
            "what was eaten on 20 May 2023", user_ids=["u1"], reader="hybrid", explain=True
        )
        plain: Any = client.search("what was eaten", user_ids=["u1"], reader="hybrid", explain=True)
    assert normal(answer)[0]["content"] == text("lunch of dumplings", 5)
    assert len(normal(answer)) == 3
    assert [one["words"] for one in answer["trace"]["times"]] == ["20 May 2023"]
    assert "Time" in [one["leg"] for one in normal(answer)[0]["evidence"]]
    assert "times" not in plain["trace"]


def test_relative_times_are_those_of_the_callers_zone() -> None:
    """MEMORY_TIMEZONE says where "today" begins: in Auckland long before Honolulu."""
    windows = {}
    for zone in ("Pacific/Auckland", "Pacific/Honolulu"):
        with quick_folder() as folder, open_client("faiss", folder, config={"timezone": zone}) as client:
            client.add("lunch", user_id="u1")
            answer: Any = client.search("lunch today", user_ids=["u1"], reader="hybrid", explain=True)
            windows[zone] = answer["trace"]["times"][0]["start"]
    assert windows["Pacific/Auckland"] != windows["Pacific/Honolulu"]
