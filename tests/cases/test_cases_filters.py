"""Public cases of filters and isolation: C01 to C14, on every backend and both readers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from tests.support.embedding import DottedEmbedding, text
from tests.support.stores import BACKENDS, EVERYWHERE, READERS, contents, ids, normal, open_client

Clients = Mapping[str, HyMemoryClient]
backends = pytest.mark.parametrize("backend", EVERYWHERE)
readers = pytest.mark.parametrize("reader", READERS)


@backends
@readers
def test_c01_a_user_whose_vectors_rank_lower_gets_all_of_theirs(
    everywhere: Clients, backend: str, reader: str
) -> None:
    """C01: 500 memories of A on the query vector, 5 of B at cosine 0.6; also by source."""
    client = everywhere[backend]
    a, b, c = (f"c01-{one}-{backend}-{reader}" for one in "abc")
    client.add_extracted(["alpha"] * 500, user_id=a)
    made = client.add_extracted([text("alpha", 5)] * 5, user_id=b)["memory_ids"]
    asked: dict[str, Any] = {"limit": 5, "min_score": 0, "reader": reader}
    assert ids(client.search("gamma", user_ids=[b], **asked)) == sorted(made)
    client.add_extracted(["alpha"] * 500, user_id=c, source="noise")
    made = client.add_extracted([text("alpha", 5)] * 5, user_id=c, source="app")["memory_ids"]
    assert ids(client.search("gamma", user_ids=[c], include_sources=["app"], **asked)) == sorted(made)
    for one in (a, b, c):
        client.delete_all(user_id=one)


@backends
@readers
def test_c02_only_the_named_users(everywhere: Clients, backend: str, reader: str) -> None:
    """C02: whoever is not named is not seen; a user without memories gets empty buckets, no error."""
    client = everywhere[backend]
    one, two = (f"c02-{name}-{backend}-{reader}" for name in ("u1", "u2"))
    client.add("I live in Lyon", user_id=one)
    client.add("I live in Oslo", user_id=two)
    assert contents(client.search("where do I live", user_ids=[one], reader=reader)) == ["I live in Lyon"]
    answer = client.search("where do I live", user_ids=["nobody"], reader=reader)
    assert answer.get("memories") == {"normal": [], "schema": [], "proactive": []}
    assert "degraded" not in answer


@backends
@readers
@pytest.mark.parametrize(
    "name", ["6f1f2a1e-9f0c-7c4e-8a55-0d1f6a1c2b3d", "main", "a-b", "a.b:c@d", "用户一", "o'brien"]
)
def test_c04_ids_are_text_like_any_other(everywhere: Clients, backend: str, reader: str, name: str) -> None:
    """C04: UUIDs, reserved words, punctuation, other scripts as user, source, agent and session."""
    client = everywhere[backend]
    user_id = f"{name}" if reader == "legacy" else f"{name}-{reader}"
    client.add(f"alpha {backend}", user_id=user_id, source=name, agent_id=name, session_id=backend + name)
    answer = client.search(
        f"alpha {backend}",
        user_ids=[user_id],
        include_sources=[name],
        agent_ids=[name],
        session_ids=[backend + name],
        reader=reader,
    )
    assert contents(answer) == [f"alpha {backend}"]
    assert "degraded" not in answer
    gone = client.search("alpha", user_ids=[user_id], exclude_sources=[name], reader=reader)
    assert contents(gone) == []


@backends
@readers
def test_c06_time_bounds_in_every_spelling(everywhere: Clients, backend: str, reader: str) -> None:
    """C06: epoch, datetime and ISO text select the same; anything else is an error, never silence."""
    client = everywhere[backend]
    user_id = f"c06-{backend}-{reader}"
    client.add("alpha january", user_id=user_id, memory_at="2024-01-10")
    client.add("alpha march", user_id=user_id, memory_at="2024-03-10")
    bound = datetime(2024, 2, 1, tzinfo=UTC)
    spellings = (
        bound.timestamp(),
        int(bound.timestamp()),
        bound,
        bound.replace(tzinfo=None),
        bound.astimezone(timezone(timedelta(hours=8))),
        "2024-02-01T00:00:00Z",
        "2024-02-01T00:00:00",
        "2024-02-01",
        "2024-01-31T17:00:00-07:00",
    )
    for spelling in spellings:
        later = client.search("alpha", user_ids=[user_id], created_after=spelling, reader=reader)
        assert contents(later) == ["alpha march"]
        earlier = client.search("alpha", user_ids=[user_id], created_before=spelling, reader=reader)
        assert contents(earlier) == ["alpha january"]
    for wrong in (bound.date(), "next week", bound.timestamp() * 1000, [bound]):
        with pytest.raises(InvalidArgumentError, match="created_after"):
            client.search("alpha", user_ids=[user_id], created_after=wrong, reader=reader)  # pyright: ignore[reportArgumentType]


_TABLE: list[tuple[dict[str, Any], str]] = [
    ({"tags": "travel"}, "ab"),
    ({"tags": {"contains": "food"}}, "bc"),
    ({"tags": {"in": ["food", "none"]}}, "bc"),
    ({"tags": {"nin": ["food"]}}, "ade"),
    ({"tags": {"exists": False}}, "de"),
    ({"tags": {"ne": "travel"}}, "cde"),
    ({"metadata.n": 1}, "a"),
    ({"metadata.n": {"eq": 2.0}}, "b"),
    ({"metadata.n": {"ne": 1}}, "bcde"),
    ({"metadata.n": {"gt": 1, "lte": 3}}, "bc"),
    ({"metadata.n": {"lt": 2}}, "a"),
    ({"metadata.n": {"gte": 2}}, "bc"),
    ({"metadata.n": {"in": [1, 3]}}, "ac"),
    ({"metadata.n": {"exists": True}}, "abcd"),
    ({"metadata.n": "1"}, "d"),
    ({"metadata.list": "x"}, "ab"),
    ({"metadata.list": {"contains": 7}}, "b"),
    ({"metadata.flag": True}, "a"),
    ({"metadata.flag": 1}, ""),
    ({"source": "APP "}, "ab"),
    ({"session_id": {"in": ["s1", "s2"]}}, "abc"),
    ({"agent_id": {"nin": ["default_agent"]}}, "e"),
    ({"layer": "l3_summary"}, "c"),
    ({"layer": {"ne": "l3_summary"}}, "abde"),
    ({"memory_at": {"gte": "2024-02-01", "lt": "2024-04-01"}}, "bc"),
    ({"memory_at": {"gt": "2024-03-01T00:00:00Z"}}, "de"),  # without a time of their own: that of writing
    ({"expires_at": {"exists": True}}, "b"),
    ({"created_at": {"gt": "2001-01-01"}}, "abcde"),
    ({"and": [{"tags": "travel"}, {"metadata.n": {"gt": 1}}]}, "b"),
    ({"or": [{"tags": "travel"}, {"layer": "l3_summary"}]}, "abc"),
    ({"not": {"tags": "travel"}}, "cde"),
    ({"not": {"or": [{"tags": "travel"}, {"metadata.n": {"exists": False}}]}}, "cd"),
    ({"tags": "travel", "metadata.n": 1}, "a"),
    ({"or": [{"metadata.n": 1}, {"metadata.n": "1"}], "source": {"ne": "app"}}, "d"),
    ({}, "abcde"),
]


@pytest.fixture(scope="module")
def documented(everywhere: Clients) -> str:
    client = everywhere["faiss"]
    adds: dict[str, dict[str, Any]] = {
        "a": {
            "tags": ["travel"],
            "metadata": {"n": 1, "list": ["x"], "flag": True},
            "source": "app",
            "session_id": "s1",
            "memory_at": "2024-01-10",
        },
        "b": {
            "tags": ["travel", "food"],
            "metadata": {"n": 2, "list": ["x", 7]},
            "source": "app",
            "session_id": "s1",
            "memory_at": "2024-02-10",
            "expires_at": 4e9,
        },
        "c": {
            "tags": ["food"],
            "metadata": {"n": 3},
            "session_id": "s2",
            "layer": "l3_summary",
            "memory_at": "2024-03-01",
        },
        "d": {"metadata": {"n": "1"}},
        "e": {"agent_id": "other"},
    }
    for name, arguments in adds.items():
        client.add(name, user_id="c07", **arguments)
    return "c07"


@pytest.mark.parametrize(("filters", "wanted"), _TABLE, ids=str)
def test_c07_every_documented_filter_means_the_same_everywhere(
    everywhere: Clients, documented: str, filters: dict[str, Any], wanted: str
) -> None:
    """C07: the table of filters, on every backend, both readers, and in `list_memories`."""
    for client in everywhere.values():
        for reader in READERS:
            asked: dict[str, Any] = {"user_ids": [documented], "min_score": 0, "reader": reader}
            assert "".join(sorted(contents(client.search("zzz", filters=filters, **asked)))) == wanted
    listed = everywhere["faiss"].list_memories(user_id=documented, filters=filters)
    assert "".join(sorted(one.get("content", "") for one in listed["memories"])) == wanted


@backends
@readers
def test_c10_layers_are_a_filter(everywhere: Clients, backend: str, reader: str) -> None:
    """C10: only the layers asked for, raw turns never, an unknown layer is an error."""
    client = everywhere[backend]
    user_id = f"c10-{backend}-{reader}"
    for layer in ("l2_fact", "l3_summary", "l6_schema"):
        client.add("alpha", user_id=user_id, layer=layer)
    asked: dict[str, Any] = {"user_ids": [user_id], "reader": reader}
    assert [one["layer"] for one in normal(client.search("alpha", layers=["l2_fact"], **asked))] == [
        "l2_fact"
    ]
    assert ids(client.search("alpha", layers=["l1_raw"], **asked)) == []
    assert {one["layer"] for one in normal(client.search("alpha", **asked))} == {"l2_fact", "l3_summary"}
    with pytest.raises(InvalidArgumentError, match="l2_fakt"):
        client.search("alpha", layers=["l2_fakt"], **asked)


@backends
@readers
def test_c11_empty_means_no_limit_and_no_user_means_error(
    everywhere: Clients, backend: str, reader: str
) -> None:
    """C11: [] and None do not restrict, the black list wins, nobody is not everybody."""
    client = everywhere[backend]
    user_id = f"c11-{backend}-{reader}"
    client.add("alpha one", user_id=user_id, source="one")
    client.add("alpha two", user_id=user_id, source="two")
    asked: dict[str, Any] = {"user_ids": [user_id], "reader": reader}
    for nothing in ([], None):
        answer = client.search(
            "alpha",
            include_sources=nothing,
            exclude_sources=nothing,
            agent_ids=nothing,
            session_ids=nothing,
            layers=nothing,
            filters={},
            **asked,
        )
        assert len(ids(answer)) == 2
    found = client.search("alpha", include_sources=["one", "two"], exclude_sources=["one"], **asked)
    assert contents(found) == ["alpha two"]
    for nobody in ([], None, [""], [" "]):
        with pytest.raises(InvalidArgumentError, match="user_ids"):
            client.search("alpha", user_ids=nobody, reader=reader)  # pyright: ignore[reportArgumentType]


@backends
@readers
def test_c12_fewer_matches_than_the_limit(everywhere: Clients, backend: str, reader: str) -> None:
    """C12: what there is comes back, nothing is made up."""
    client = everywhere[backend]
    user_id = f"c12-{backend}-{reader}"
    made = client.add_extracted(["alpha"] * 3, user_id=user_id)["memory_ids"]
    client.delete(made[1])
    found = client.search("alpha", user_ids=[user_id], limit=50, reader=reader)
    assert ids(found) == [made[0], made[2]]
    assert "degraded" not in found


@pytest.mark.parametrize("backend", BACKENDS)
@readers
def test_c14_the_deleted_take_no_places(folder: Path, backend: str, reader: str) -> None:
    """C14, C77: after deleting the best 15 the next 5 are found; texts and ids still belong together."""
    with open_client(backend, folder) as client:
        texts = [text(f"alpha {at}", 9) for at in range(20)]
        made = client.add_extracted(texts, user_id="u")["memory_ids"]
        best = ids(client.search("alpha", user_ids=["u"], limit=15, reader=reader))
        for memory_id in best:
            client.delete(memory_id)
        left = {one: content for one, content in zip(made, texts, strict=True) if one not in best}
        found = normal(client.search("alpha", user_ids=["u"], limit=5, reader=reader))
        assert {one["memory_id"]: one["content"] for one in found} == left
        assert client.doctor()["problems"] == []
    with open_client(backend, folder, DottedEmbedding()) as client:
        found = normal(client.search("alpha", user_ids=["u"], limit=50, reader=reader))
        assert {one["memory_id"]: one["content"] for one in found} == left
        assert client.doctor()["problems"] == []
