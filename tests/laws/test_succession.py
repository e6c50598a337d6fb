"""Memories that supersede each other, on every backend and both readers, against plain lists."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.embedding import text
from tests.support.oracle import Asked, Oracle, check_answer
from tests.support.spelled import SESSIONS, Arguments, admits, admitted_sources, memory_of
from tests.support.stores import EVERYWHERE, READERS, has_keywords, ids, normal

Clients = Mapping[str, HyMemoryClient]
ON = pytest.mark.parametrize("backend", EVERYWHERE)
READ = pytest.mark.parametrize("reader", READERS)
SOURCES = ("app", "mail", "mixed")
SCOPES: tuple[Arguments, ...] = (
    {},
    {"include_sources": [], "exclude_sources": None},
    {"include_sources": ["app"]},
    {"include_sources": ["mail"], "session_ids": [SESSIONS[0]]},
    {"include_sources": ["mixed", "app"]},
    {"include_sources": ["app", "mail"], "exclude_sources": ["app"]},
    {"exclude_sources": ["mail"]},
    {"exclude_sources": ["web"]},
    {"filters": {"source": "app"}},
)
"""Source filters of every kind; a condition of `filters` is none, whatever it asks of sources."""


def _acts() -> st.SearchStrategy[list[tuple[str, int, str, str, str]]]:
    """What happens, in order: an act, on which of the memories so far, and the new one's text and origin."""
    act = st.sampled_from(("add", "supersede", "supersede", "supersede", "update", "delete"))
    words = st.builds(text, st.sampled_from(("alpha", "beta", "alpha beta")), st.sampled_from((0, 1, 4)))
    each = st.tuples(act, st.integers(0, 9), words, st.sampled_from(SOURCES), st.sampled_from(SESSIONS[:2]))
    return st.lists(each, min_size=2, max_size=10)


def _draft(content: str, source: str, session: str) -> Arguments:
    return {
        "data": content,
        "agent_id": "default_agent",
        "session_id": session,
        "source": source,
        "layer": None,
        "tags": [],
        "metadata": {},
        "memory_at": None,
        "expires_at": None,
    }


def _live(clients: Clients, user_id: str, acts: list[tuple[str, int, str, str, str]]) -> Oracle:
    """Do what `acts` say, each through another backend's client: they share one ledger."""
    oracle = Oracle()
    for at, (act, place, content, source, session) in enumerate(acts):
        client = clients[EVERYWHERE[at % len(EVERYWHERE)]]
        known = [*oracle.memories]
        old = known[place % len(known)] if known else ""
        if act == "delete" and old:
            client.delete(old)
            oracle.forget([old])
        elif act == "update" and old:
            client.update(old, content)
            memory = oracle.memories[old]
            oracle.memories[old] = replace(memory, content=content, earlier=(memory.content, *memory.earlier))
        else:
            fact: dict[str, object] = {"content": content, "name": ""}
            if act == "supersede" and old:
                fact["supersedes"] = old
            answer = client.add_extracted([fact], user_id=user_id, source=source, session_id=session)
            new = answer["memory_id"]
            oracle.learn(client, memory_of(_draft(content, source, session), new, user_id))
            if "supersedes" in fact:
                oracle.supersede(new, old)
    return oracle


def _check(answer: object, oracle: Oracle, scope: Arguments) -> None:
    """Assert what a hit says of its chain."""
    admitted = admits(scope)
    for item in normal(answer):
        memory = oracle.memories[item["memory_id"]]
        assert item.get("superseded_elsewhere", False) is not oracle.is_current(memory, None)
        told = oracle.texts(memory.id, admitted)
        shown = [(one["memory_id"], one["content"]) for one in item.get("evolution_chain", ())]
        assert shown == (told if len(told) > 1 else [])


@given(acts=_acts(), limit=st.integers(1, 4), min_score=st.sampled_from((0.0, 0.0, 0.6)))
def test_heads_alone_are_found_and_under_a_source_filter_the_newest_admitted(
    everywhere: Clients,
    acts: list[tuple[str, int, str, str, str]],
    limit: int,
    min_score: float,
) -> None:
    """Whatever was superseded, updated and deleted; laws 4, 6 and 8 hold among them too."""
    user_id = f"chains-{time.monotonic_ns()}"
    oracle = _live(everywhere, user_id, acts)
    now = time.time()
    for (backend, client), reader, scope in product(everywhere.items(), READERS, SCOPES):
        keywords = reader == "hybrid" and has_keywords(backend)
        asked = Asked("alpha", (user_id,), admits(scope), limit, min_score, keywords)
        expected = oracle.answer(replace(asked, sources=admitted_sources(scope)), now)
        answer = client.search(
            "alpha", user_ids=[user_id], limit=limit, min_score=min_score, reader=reader, **scope
        )
        check_answer(answer, expected, limit)
        _check(answer, oracle, scope)
    assert [client.doctor()["problems"] for client in everywhere.values()] == [[]] * len(everywhere)
    everywhere["faiss"].delete_all(user_id=user_id)


@ON
@READ
def test_superseded_memories_take_no_place(everywhere: Clients, backend: str, reader: str) -> None:
    """Law 4: fifty old texts that fit better than all heads, and still `limit` heads come back."""
    client, user_id = everywhere[backend], f"places-{backend}-{reader}"
    for at in range(5):
        old = client.add_extracted([text("alpha")], user_id=user_id, source="app")["memory_id"]
        for _ in range(10):
            client.add_extracted(
                [{"content": text("alpha"), "supersedes": old}], user_id=user_id, source="app"
            )
        client.add_extracted(
            [{"content": text(f"beta {at}", 1), "supersedes": old}], user_id=user_id, source="mail"
        )
    plain = client.search("alpha", user_ids=[user_id], limit=5, reader=reader)
    assert sorted(one["content"] for one in normal(plain)) == [text(f"beta {at}", 1) for at in range(5)]
    assert [len(one["evolution_chain"]) for one in normal(plain)] == [12] * 5
    both = client.search("alpha", user_ids=[user_id], limit=5, reader=reader, include_sources=["app", "mail"])
    assert ids(both) == ids(plain)
    of_app = client.search("alpha", user_ids=[user_id], limit=5, reader=reader, include_sources=["app"])
    assert [one["content"] for one in normal(of_app)] == [text("alpha")] * 5
    assert all(one["superseded_elsewhere"] for one in normal(of_app))
    assert {len(one["evolution_chain"]) for one in normal(of_app)} == {11}


@ON
@READ
@pytest.mark.parametrize(("layer", "name"), [("l6_schema", "schema"), ("l7_intention", "proactive")])
def test_every_bucket_knows_what_was_superseded(
    everywhere: Clients, backend: str, reader: str, layer: str, name: str
) -> None:
    """Schemas and intentions supersede each other like facts."""
    client, user_id = everywhere[backend], f"{name}-{backend}-{reader}"
    old = client.add_extracted([text("alpha")], user_id=user_id, source="app", layer=layer)["memory_id"]
    new = client.add_extracted(
        [{"content": text("alpha", 4), "supersedes": old}], user_id=user_id, source="mail", layer=layer
    )["memory_id"]

    def found(**scope: Any) -> list[tuple[str, bool, list[str]]]:
        answer: Any = client.search("alpha", user_ids=[user_id], intention_limit=5, reader=reader, **scope)
        return [
            (
                one["memory_id"],
                one.get("superseded_elsewhere", False),
                [text_["memory_id"] for text_ in one.get("evolution_chain", ())],
            )
            for one in answer["memories"][name]
        ]

    assert found() == found(include_sources=["app", "mail"]) == [(new, False, [new, old])]
    assert found(include_sources=["app"]) == found(exclude_sources=["mail"]) == [(old, True, [])]
    assert found(include_sources=["mail"]) == [(new, False, [])]
    assert found(include_sources=["web"]) == []


@ON
def test_a_superseded_memory_is_no_evidence_of_a_pattern(everywhere: Clients, backend: str) -> None:
    """`evolve` rests on what holds; a schema that quotes what was superseded goes."""
    client, user_id = everywhere[backend], f"evolve-{backend}"
    made = client.add_extracted([text("alpha", 0)] * 3, user_id=user_id)["memory_ids"]
    assert len(client.evolve(user_id)["created"]) == 1
    client.add_extracted([{"content": text("beta", 2), "supersedes": one} for one in made], user_id=user_id)
    schemas = client.list_memories(user_id=user_id, layers=["l6_schema"])
    assert schemas["total"] == 0
    assert client.evolve(user_id)["created"] != []
    (schema,) = client.list_memories(user_id=user_id, layers=["l6_schema"])["memories"]
    assert schema["content"] == text("beta", 2)
