"""Laws 1, 3, 4, 6, 8: every backend and reader answers exactly what the oracle computes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.oracle import Asked, Oracle, check_answer
from tests.support.spelled import Arguments, admits, drafts, memory_of, scopes, texts
from tests.support.stores import EVERYWHERE, READERS, has_keywords, ids

Clients = Mapping[str, HyMemoryClient]


def _fill(clients: Clients, user_id: str, given: list[Arguments], data: st.DataObject) -> Oracle:
    """Store drafts through whichever backend's client: they share one ledger."""
    oracle = Oracle()
    for draft in given:
        client = clients[data.draw(st.sampled_from(sorted(clients)))]
        memory_id = client.add(user_id=user_id, **draft)["memory_id"]
        oracle.learn(client, memory_of(draft, memory_id, user_id))
    return oracle


@given(
    data=st.data(),
    mine=st.lists(drafts(), min_size=1, max_size=7),
    others=st.lists(drafts(), max_size=2),
    query=texts(),
    scope=scopes(),
    limit=st.integers(0, 8),
    min_score=st.sampled_from((0.0, 0.2, 0.4, 0.5, 0.9)),
)
def test_every_backend_answers_what_the_oracle_computes(
    everywhere: Clients,
    data: st.DataObject,
    mine: list[Arguments],
    others: list[Arguments],
    query: str,
    scope: Arguments,
    limit: int,
    min_score: float,
) -> None:
    user_id = f"u-{time.monotonic_ns()}"
    other_id = f"{user_id}-other"
    oracle = _fill(everywhere, user_id, mine, data)
    oracle.memories |= _fill(everywhere, other_id, others, data).memories
    users = data.draw(st.sampled_from(((user_id,), (user_id, other_id))))
    asked: dict[str, Any] = {"user_ids": list(users), "limit": limit, "min_score": min_score, **scope}
    now = time.time()
    for backend, client in everywhere.items():
        for reader in READERS:
            keywords = reader == "hybrid" and has_keywords(backend)
            expected = oracle.answer(Asked(query, users, admits(scope), limit, min_score, keywords), now)
            check_answer(client.search(query, reader=reader, **asked), expected, limit)
    for one in (user_id, other_id):
        everywhere["faiss"].delete_all(user_id=one)


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("reader", READERS)
def test_hundreds_of_memories_page_after_page_in_one_order(
    everywhere: Clients, backend: str, reader: str
) -> None:
    """Deep lists: more hits than any leg lists at first, many of them with equal scores."""
    user_id = f"deep-{backend}-{reader}"
    client = everywhere[backend]
    contents = [f"alpha{' beta' * (at % 3)} {'.' * (at % 18)}".strip() for at in range(400)]
    made = client.add_extracted(contents, user_id=user_id)["memory_ids"]
    oracle = Oracle()
    for memory_id, content in zip(made, contents, strict=True):
        oracle.learn(client, memory_of(_plain(content), memory_id, user_id))
    keywords = reader == "hybrid" and has_keywords(backend)
    for query, min_score in (("beta", 0.0), ("alpha beta gamma ....", 0.3)):
        expected = oracle.answer(
            Asked(query, (user_id,), min_score=min_score, keywords=keywords), time.time()
        )
        whole = client.search(query, user_ids=[user_id], limit=400, min_score=min_score, reader=reader)
        check_answer(whole, expected, 400)
        for limit in (1, 10, 65, 300):
            part = client.search(query, user_ids=[user_id], limit=limit, min_score=min_score, reader=reader)
            assert ids(part) == ids(whole)[:limit]


def _plain(content: str) -> Arguments:
    return {
        "data": content,
        "agent_id": "default_agent",
        "session_id": "default_session",
        "source": "default",
        "layer": None,
        "tags": (),
        "metadata": {},
        "memory_at": None,
        "expires_at": None,
    }
