"""C21, with an embedder that gives every text the same vector."""

from __future__ import annotations

from pathlib import Path

import pytest

from hy_memory.testing.fakes import uninformed_embedding
from tests.support.stores import KEYWORD_BACKENDS, normal, open_client


@pytest.mark.parametrize("backend", KEYWORD_BACKENDS)
@pytest.mark.parametrize("others", [0, 1, 2, 3])
def test_words_decide_where_all_vectors_are_the_same(folder: Path, backend: str, others: int) -> None:
    """C21: every vector says the same, so the memory that holds the word is first, for its word."""
    with open_client(backend, folder, uninformed_embedding()) as client:
        client.add_extracted(
            [f"note number {number}" for number in range(others)] or ["nothing"], user_id="o"
        )
        if others:
            client.add_extracted([f"note number {number}" for number in range(others)], user_id="u")
        client.add_extracted(["the Xylofon-42 is in the attic"], user_id="u")
        hits = normal(client.search("Xylofon-42", user_ids=["u"], reader="hybrid", explain=True))
    assert hits[0]["content"] == "the Xylofon-42 is in the attic"
    assert all(one["score"] < hits[0]["score"] for one in hits[1:])
    (keyword,) = [one for one in hits[0]["evidence"] if one["leg"] == "BM25"]
    assert keyword["score"] > 0
