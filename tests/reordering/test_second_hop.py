"""The second hop: what the best hits' other words find, by the documented formula, and only in the order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.ranking.bm25 import document_terms, keyword_score, query_term_ids, weigh_query
from tests.support.embedding import text
from tests.support.stores import BACKENDS, KEYWORD_BACKENDS, READERS, contents, normal, open_client

RECALL = {"local_rerank_enabled": True, "local_rerank_kind": "second_hop"}
ON: dict[str, object] = {"recall": RECALL}
LEADING = "My cousin Zelda loves concerts"
FOLLOWING = "Zelda is employed by a bank in Leeds"
QUESTION = "Where does the one work who loves concerts"


def noise(count: int) -> list[str]:
    return [text(f"my {word} shop sells tea", 9) for word in ("red", "old", "tiny", "loud", "new")[:count]]


def evidence(score: float) -> float:
    return float(-np.log1p(-min(score, 0.99999)))


def expected(
    question: str, items: Sequence[Any], everything: Sequence[str], weight: float
) -> dict[str, float]:
    """Return by content the `rerank_score` that the documented formula gives, from the scores of `items`."""
    terms = {one: document_terms(one) for one in everything}
    asked = set(query_term_ids(question).tolist())

    def share(lead: str, other: str) -> float:
        ids = np.array([one for one in query_term_ids(lead) if one not in asked], dtype=np.uint32)
        if not len(ids):
            return 0.0
        df = [sum(one in set(known.ids.tolist()) for known in terms.values()) for one in ids.tolist()]
        return keyword_score(terms[other], weigh_query(ids, len(everything), df))

    leads = sorted(items, key=lambda one: (-one["score"], one["memory_id"]))[:3]
    made: dict[str, float] = {}
    for item in items:
        gains = [
            share(lead["content"], item["content"]) ** 2 * max(evidence(lead["score"]) - evidence(0.4), 0.0)
            for lead in leads
            if lead is not item
        ]
        openness = min(max((item["score"] - 0.3) / 0.1, 0.0), 1.0)
        said = weight * max(gains, default=0.0) * openness
        made[item["content"]] = item["score"] + (1 - item["score"]) * -np.expm1(-said)
    return made


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("backend", KEYWORD_BACKENDS)
def test_the_second_memory_of_an_answer_comes_up(backend: str, reader: str, folder: Path) -> None:
    """It is related, and shares a rare word with the first hit; others that are as related share none."""
    memories = [text(LEADING, 0), text(FOLLOWING, 9), *noise(4)]
    with open_client(backend, folder, config=ON) as client:
        client.add_extracted(memories, user_id="u")
        client.add_extracted([text(f"{LEADING} too", 1), text(FOLLOWING, 1)], user_id="v")
        asked: dict[str, Any] = {"user_ids": ["u"], "min_score": 0.0, "reader": reader}
        plain = normal(client.search(QUESTION, **asked, rerank=False))
        hits = normal(client.search(QUESTION, **asked))
        assert [one["content"] for one in hits[:2]] == memories[:2]
        made = expected(QUESTION, plain, memories, 0.8)
        for hit in hits:
            assert hit.pop("rerank_score") == pytest.approx(made[hit["content"]], abs=2e-5)
            assert hit in plain, "nothing else of a hit changes"
        both = normal(client.search(QUESTION, user_ids=["u", "v"], min_score=0.0, reader=reader))
        assert {
            one["content"]: one["rerank_score"] for one in both if one["user_id"] == "u"
        } == pytest.approx(made, abs=2e-5), "another user's hits lead nowhere in mine"


@given(
    words=st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), min_size=2, max_size=7),
    places=st.lists(st.integers(0, 11), min_size=7, max_size=7),
    weight=st.sampled_from([0.0, 0.8, 4.0]),
)
def test_the_formula_against_brute_force(
    words: list[list[str]], places: list[int], weight: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Law 3 with the option on, whatever the memories say."""
    said = [" ".join(f"{one}{one}x" for one in letters) for letters in words]
    memories = list(dict.fromkeys(map(text, said, places)))
    recall = {**RECALL, "local_rerank_second_hop": weight}
    folder = tmp_path_factory.mktemp("hop")
    with open_client("memory", folder, config={"recall": recall}) as client:
        client.add_extracted(memories, user_id="u")
        asked: dict[str, Any] = {"user_ids": ["u"], "min_score": -1.0, "reader": "hybrid", "limit": 10}
        plain = normal(client.search("aax bbx ccx", **asked, rerank=False))
        hits = normal(client.search("aax bbx ccx", **asked))
        made = expected("aax bbx ccx", plain, memories, weight)
        assert hits == sorted(hits, key=lambda one: (-one["rerank_score"], one["memory_id"]))
        assert {one["content"]: one["rerank_score"] for one in hits} == pytest.approx(made, abs=2e-5)
        if not weight:
            assert contents({"memories": {"normal": hits}}) == [one["content"] for one in plain]


@pytest.mark.parametrize("backend", BACKENDS)
def test_filters_and_thresholds_stand(backend: str, folder: Path) -> None:
    """Laws 1 and 6: what a source filter or `min_score` leaves out neither comes nor leads."""
    with open_client(backend, folder, config=ON) as client:
        client.add(text(LEADING, 0), user_id="u", source="diary")
        client.add_extracted([text(FOLLOWING, 9), *noise(3)], user_id="u", source="chat")
        asked: dict[str, Any] = {"user_ids": ["u"], "min_score": 0.0, "reader": "hybrid"}
        hits = normal(client.search(QUESTION, **asked, exclude_sources=["diary"]))
        assert len(hits) == 4
        assert {one["source"] for one in hits} == {"chat"}
        by_score = sorted(hits, key=lambda one: (-one["score"], one["memory_id"]))
        without = normal(client.search(QUESTION, **asked, exclude_sources=["diary"], rerank=False))
        assert [one["memory_id"] for one in by_score] == [one["memory_id"] for one in without]
        strict = normal(client.search(QUESTION, user_ids=["u"], min_score=0.9, reader="hybrid"))
        assert all(one["score"] >= 0.9 for one in strict)


def test_it_needs_no_model_and_no_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hy_memory import parts

    monkeypatch.setattr(parts, "LOCAL_RERANKER", "no_such_module:nothing")
    monkeypatch.setattr(parts, "LATE_INTERACTION", "no_such_module:nothing")
    with open_client("memory", folder, config=ON) as client:
        client.add("alpha", user_id="u")
        (hit,) = normal(client.search("alpha", user_ids=["u"]))
        assert hit["rerank_score"] == hit["score"]
        assert "rerank_score" not in normal(client.search("alpha", user_ids=["u"], rerank=False))[0]
