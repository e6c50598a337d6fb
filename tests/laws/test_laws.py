"""The contract's laws, each by itself, on every backend and both readers (contract §2)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from hy_memory.ranking.calibration import Calibration
from hy_memory.testing.strategies import ODD_IDS
from tests.support.embedding import POOL, DottedEmbedding, text
from tests.support.spelled import SOURCES, WORDS, Arguments, drafts, scopes, spelled_filters, texts
from tests.support.stores import (
    EVERYWHERE,
    LASTING,
    READERS,
    has_keywords,
    ids,
    normal,
    open_client,
    scores,
)

Clients = Mapping[str, HyMemoryClient]
backends = pytest.mark.parametrize("backend", EVERYWHERE)
readers = pytest.mark.parametrize("reader", READERS)
ALL = 1000


def _fresh(name: str = "u") -> str:
    return f"{name}-{time.monotonic_ns()}"


def _fill(client: HyMemoryClient, user_id: str, given_drafts: list[Arguments]) -> None:
    for draft in given_drafts:
        client.add(user_id=user_id, **draft)


# -- law 1 ---------------------------------------------------------------------------------------


@backends
@readers
def test_law_1_the_score_is_the_cosine_clipped_at_0(
    everywhere: Clients, backend: str, reader: str, user: str
) -> None:
    client = everywhere[backend]
    user = f"{user}-{backend}-{reader}"
    client.add_extracted([text("one"), text("one", 1), text("one", 2), text("one", 3)], user_id=user)
    answer = client.search("other", user_ids=[user], min_score=0, reader=reader)
    assert [one["score"] for one in normal(answer)] == [0.99999, 0.5, 0.0, 0.0]
    answer = client.search("other ...", user_ids=[user], min_score=0, reader=reader)
    assert [one["score"] for one in normal(answer)] == [0.99999, 0.0, 0.0, 0.0]


class _Calibrated(DottedEmbedding):
    calibration = Calibration("test", (-1.0, 0.0, 0.5, 1.0), (0.0, 0.3, 0.8, 0.9))


@pytest.mark.parametrize("backend", [one for one in EVERYWHERE if "+" not in one])
def test_law_1_an_embedder_may_declare_its_curve(folder: Path, backend: str) -> None:
    with open_client(backend, folder, _Calibrated()) as client:
        client.add_extracted([text("one"), text("one", 1), text("one", 2), text("one", 3)], user_id="u")
        answer = client.search("other", user_ids=["u"], min_score=0)
        assert [one["score"] for one in normal(answer)] == [0.9, 0.8, 0.3, 0.0]
        assert len(ids(client.search("other", user_ids=["u"], min_score=0.3))) == 3
        assert len(ids(client.search("other", user_ids=["u"], min_score=0.30001))) == 2


@pytest.mark.parametrize("embedder", ["hashed"])
def test_law_1_a_newcomers_first_search_finds_what_it_should(folder: Path, embedder: str) -> None:
    config: dict[str, object] = {"data_dir": str(folder), "embedder": {"provider": embedder}}
    with HyMemoryClient(config) as client:
        client.add("I moved to Lisbon in May and I love the trams", user_id="u")
        client.add("My sister plays the violin", user_id="u")
        client.add("The deploy script is called ship.sh", user_id="u")
        for reader in READERS:
            found = normal(client.search("who plays the violin?", user_ids=["u"], reader=reader))
            assert found[0]["content"] == "My sister plays the violin"
            assert not normal(client.search("quarterly revenue forecast", user_ids=["u"], reader=reader))


# -- law 2 ---------------------------------------------------------------------------------------


@given(mine=st.lists(drafts(), min_size=1, max_size=6), query=texts())
def test_law_2_hybrid_never_scores_an_item_lower(
    everywhere: Clients, mine: list[Arguments], query: str
) -> None:
    user_id = _fresh()
    _fill(everywhere["faiss"], user_id, mine)
    for client in everywhere.values():
        asked: dict[str, Any] = {"user_ids": [user_id], "min_score": 0, "limit": ALL}
        plain = scores(client.search(query, reader="legacy", **asked))
        both = scores(client.search(query, reader="hybrid", **asked))
        assert both.keys() == plain.keys()
        assert all(both[one] >= plain[one] for one in plain)
    everywhere["faiss"].delete_all(user_id=user_id)


@given(
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8, unique=True),
    filler=st.integers(0, 400),
    others=st.integers(0, 3),
)
def test_law_2_an_exact_keyword_match_passes_the_default_min_score(
    everywhere: Clients, query: list[str], filler: int, others: int
) -> None:
    """All query terms, a cosine of 0, in messages of any length."""
    user_id = _fresh()
    long = " ".join([*(f"filler{at}" for at in range(filler)), *query])
    store = everywhere["faiss"]
    (wanted,) = store.add_extracted([text(long, 2)], user_id=user_id)["memory_ids"]
    store.add_extracted([text("unrelated words", 2)] * (others + 1), user_id=user_id)
    for backend, client in everywhere.items():
        found = scores(client.search(" ".join(query), user_ids=[user_id], reader="hybrid"))
        assert wanted in found or not has_keywords(backend)
        assert ids(client.search(" ".join(query), user_ids=[user_id], reader="legacy")) == []
    store.delete_all(user_id=user_id)


@backends
def test_law_2_a_match_in_both_legs_is_near_1(everywhere: Clients, backend: str, user: str) -> None:
    user = f"{user}-{backend}"
    client = everywhere[backend]
    client.add_extracted(["alpha beta", text("gamma", 2)], user_id=user)
    for reader in READERS:
        (only,) = normal(client.search("alpha beta", user_ids=[user], reader=reader))
        assert only["content"] == "alpha beta"
        assert 0.99 <= only["score"] <= 1.0


# -- laws 3 to 6 ---------------------------------------------------------------------------------


@backends
@readers
@pytest.mark.parametrize(
    ("outside", "inside", "asked"),
    [
        ({"source": "noise"}, {"source": "app"}, {"include_sources": ["app"]}),
        ({"source": "noise"}, {"source": "app"}, {"exclude_sources": ["noise"]}),
        ({"session_id": "noise"}, {"session_id": "s"}, {"session_ids": ["s"]}),
        ({"agent_id": "noise"}, {"agent_id": "a"}, {"agent_ids": ["a"]}),
        ({"layer": "l3_summary"}, {"layer": "l2_fact"}, {"layers": ["l2_fact"]}),
        ({"tags": ["noise"]}, {"tags": ["t", "noise"]}, {"filters": {"tags": {"contains": "t"}}}),
        ({"metadata": {"n": 1}}, {"metadata": {"n": 2}}, {"filters": {"metadata.n": {"gt": 1.5}}}),
        ({"memory_at": 1e9}, {"memory_at": 1.1e9}, {"created_after": 1.05e9}),
        ({"expires_at": 1e9}, {"expires_at": 4e9}, {}),
    ],
    ids=["include", "exclude", "session", "agent", "layer", "tag", "metadata", "time", "expiry"],
)
def test_law_4_filters_act_before_top_k(
    everywhere: Clients,
    backend: str,
    reader: str,
    outside: Arguments,
    inside: Arguments,
    asked: Arguments,
    user: str,
) -> None:
    """500 better-scoring memories that a filter excludes do not take a place."""
    user = f"{user}-before-{backend}-{reader}"
    client = everywhere[backend]
    client.add_extracted(["alpha"] * 500, user_id=user, **outside)
    made = client.add_extracted([text("alpha", 5)] * 6, user_id=user, **inside)["memory_ids"]
    answer = client.search("alpha", user_ids=[user], limit=5, reader=reader, **asked)
    assert ids(answer) == sorted(made)[:5]
    client.delete_all(user_id=user)


@given(
    mine=st.lists(drafts(), min_size=1, max_size=6),
    query=texts(),
    scope=scopes(),
    stricter=spelled_filters(),
    thresholds=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    limits=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_law_5_narrower_questions_only_take_away(
    everywhere: Clients,
    mine: list[Arguments],
    query: str,
    scope: Arguments,
    stricter: Arguments,
    thresholds: tuple[float, float],
    limits: tuple[int, int],
) -> None:
    """A stricter filter gives a subset, a higher min_score removes, a higher limit appends; scores stay."""
    user_id = _fresh()
    _fill(everywhere["faiss"], user_id, mine)
    narrow: Arguments = {
        **scope,
        "filters": {"and": [scope["filters"], stricter]} if "filters" in scope else stricter,
    }
    low, high = sorted(thresholds)
    few, many = sorted(limits)
    for client in everywhere.values():
        for reader in READERS:
            asked: dict[str, Any] = {"user_ids": [user_id], "reader": reader}
            wide = scores(client.search(query, **asked, **scope, min_score=low, limit=ALL))
            inner = scores(client.search(query, **asked, **narrow, min_score=low, limit=ALL))
            assert inner.items() <= wide.items()
            above = scores(client.search(query, **asked, **scope, min_score=high, limit=ALL))
            assert above == {one: score for one, score in wide.items() if score >= high}
            longer = ids(client.search(query, **asked, **scope, min_score=low, limit=many))
            shorter = ids(client.search(query, **asked, **scope, min_score=low, limit=few))
            assert longer[: len(shorter)] == shorter == list(wide)[:few]
    everywhere["faiss"].delete_all(user_id=user_id)


@backends
@readers
def test_laws_3_and_6_own_memories_alone_each_once_in_order(
    everywhere: Clients, backend: str, reader: str
) -> None:
    """Users, sessions and sources with names that grammars stumble over."""
    client = everywhere[backend]
    users = [f"{one}|{backend}|{reader}" for one in ODD_IDS]
    for at, user_id in enumerate(users):
        for source in SOURCES:
            client.add_extracted(["alpha", text("beta", at % 9)], user_id=user_id, source=source)
    for user_id in users:
        asked: dict[str, Any] = {
            "user_ids": [user_id, "nobody"],
            "min_score": 0,
            "limit": ALL,
            "reader": reader,
        }
        found = normal(client.search("alpha beta", **asked))
        assert [one["user_id"] for one in found] == [user_id] * 8
        order = [(-one["score"], one["memory_id"]) for one in found]
        assert order == sorted(set(order))
        found = normal(client.search("alpha beta", exclude_sources=["APP "], **asked))
        assert {one["source"] for one in found} == {"default", "o'brien"}
        found = normal(client.search("alpha beta", include_sources=["mixed"], **asked))
        assert {one["source"] for one in found} == {"mixed"}
    both = normal(client.search("alpha", user_ids=users[:2], min_score=0, limit=ALL, reader=reader))
    assert {one["user_id"] for one in both} == set(users[:2])


# -- law 7 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [one for one in EVERYWHERE if "+" not in one])
def test_law_7_reading_changes_no_row(folder: Path, backend: str) -> None:
    with open_client(backend, folder) as client:
        memory_id = client.add([{"role": "user", "content": "alpha"}], user_id="u")["memory_id"]
        client.update(memory_id, "beta")
        client.search("alpha", user_ids=["u"])
        before = _rows(folder)
        for reader in READERS:
            client.search("alpha", user_ids=["u", "v"], reader=reader, min_score=0, explain="dropped")
        client.get(memory_id, versions=True)
        client.list_memories(user_id="u")
        client.history(memory_id)
        client.get_recent_history(user_id="u")
        client.memory_stats(user_id="u")
        client.get_write_outcome("none")
        client.doctor()
        assert _rows(folder) == before


def _rows(folder: Path) -> list[str]:
    connection = sqlite3.connect(folder / "ledger.sqlite3")
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


# -- law 8 ---------------------------------------------------------------------------------------


@given(
    mine=st.lists(drafts(), min_size=1, max_size=6),
    query=texts(),
    scope=scopes(),
    vector=st.sampled_from(POOL),
)
def test_law_8_all_backends_return_the_same(
    everywhere: Clients, mine: list[Arguments], query: str, scope: Arguments, vector: Any
) -> None:
    """The same ids in the same order; with local keywords on Chroma too."""
    user_id = _fresh()
    _fill(everywhere["faiss"], user_id, mine)
    for reader in READERS:
        answers = {
            backend: ids(
                client.search(
                    query, user_ids=[user_id], min_score=0, reader=reader, query_embedding=vector, **scope
                )
            )
            for backend, client in everywhere.items()
            if reader == "legacy" or has_keywords(backend)
        }
        assert all(one == answers["memory"] for one in answers.values()), answers
    everywhere["faiss"].delete_all(user_id=user_id)


# -- law 9 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", LASTING)
def test_law_9_acknowledged_is_found_and_deleted_is_not_after_restarts_too(
    folder: Path, backend: str
) -> None:
    """C45: closing and opening again loses nothing, three times over."""
    kept: list[str] = []
    gone: list[str] = []
    for life in range(4):
        with open_client(backend, folder) as client:
            for reader in READERS:
                found = ids(client.search("alpha", user_ids=["u"], limit=ALL, reader=reader))
                assert sorted(found) == sorted(kept)
            made = client.add_extracted([f"alpha {life} {at}" for at in range(5)], user_id="u")
            assert made["searchable"]
            kept += made["memory_ids"]
            gone.append(kept.pop(life))
            assert client.delete(gone[-1])["deleted_count"] == 1
            for reader in READERS:
                found = ids(client.search("alpha", user_ids=["u"], limit=ALL, reader=reader))
                assert sorted(found) == sorted(kept)
            assert all(client.get(one) is None for one in gone)
            assert client.doctor()["healthy"]


# -- law 10 --------------------------------------------------------------------------------------


@settings(max_examples=15)  # each asks 14 questions four times
@given(
    mine=st.lists(drafts(), min_size=1, max_size=5),
    others=st.lists(drafts(), min_size=1, max_size=5),
    query=texts(),
)
def test_law_10_other_users_change_nothing_of_my_answer(
    everywhere: Clients, mine: list[Arguments], others: list[Arguments], query: str
) -> None:
    """Bit for bit the same, while somebody else adds, changes and deletes."""
    me, other = _fresh("me"), _fresh("other")
    store = everywhere["faiss"]
    _fill(store, me, mine)
    before = _answers(everywhere, query, me)
    _fill(store, other, others)
    assert _answers(everywhere, query, me) == before
    for item in store.list_memories(user_id=other)["memories"][:2]:
        store.update(item.get("memory_id", ""), "alpha beta gamma ..")
    assert _answers(everywhere, query, me) == before
    store.delete_all(user_id=other)
    assert _answers(everywhere, query, me) == before
    store.delete_all(user_id=me)


def _answers(clients: Clients, query: str, user_id: str) -> list[list[dict[str, Any]]]:
    return [
        normal(client.search(query, user_ids=[user_id], min_score=0, reader=reader))
        for client in clients.values()
        for reader in READERS
    ]
