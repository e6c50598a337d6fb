"""The stages rerank and cut, on real stores, with a model that says what the test wants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient, parts
from hy_memory.errors import ConfigurationError, RerankError
from hy_memory.settings.load import load_settings
from tests.rerank.stub import Stub
from tests.support.embedding import POOL, text
from tests.support.stores import READERS, contents, ids, normal, open_client, scores

ON: dict[str, object] = {"recall": {"local_rerank_enabled": True}}
BACKENDS = ("memory", "faiss")


def near(words: str, at: int) -> str:
    """Return a memory that is the `at`-th nearest to a question without dots, from 0."""
    order = sorted(range(len(POOL)), key=lambda place: -float(POOL[place] @ POOL[0]))
    return text(words, order[at])


def nine(client: HyMemoryClient, right: int) -> None:
    """Store nine memories in the order of their vectors, number `right` of them being the right one."""
    for at in range(9):
        client.add(near("right" if at == right else "wrong", at), user_id="u")


def prefers_right(query: str, texts: Sequence[str]) -> list[float]:
    return [0.9 if one.startswith("right") else 0.5 - at / 100 for at, one in enumerate(texts)]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_pool_is_larger_than_the_limit(backend: str, reader: str, folder: Path, stub: Stub) -> None:
    """C27: limit=3, factor 3; the right memory is 7th before rerank and first after it."""
    stub.answer = prefers_right
    with open_client(backend, folder, config=ON) as client:
        nine(client, right=6)
        client.add("of somebody else", user_id="v")
        question: dict[str, Any] = {"query": "which", "user_ids": ["u"], "min_score": 0.0, "reader": reader}
        plain = client.search(**question, limit=3, rerank=False)
        assert contents(plain) == [near("wrong", at) for at in range(3)]
        assert contents(client.search(**question, limit=9, rerank=False))[6] == near("right", 6)
        assert stub.seen == []

        answer = client.search(**question, limit=3)
        assert contents(answer) == [near("right", 6), *contents(plain)[:2]]
        assert [one["rerank_score"] for one in normal(answer)] == [0.9, 0.5, 0.49]
        assert "degraded" not in answer
        ((query, texts),) = stub.seen
        assert query == "which"
        assert len(texts) == 9


def _raising(query: str, texts: Sequence[str]) -> list[float]:
    raise RuntimeError("the model is out of order")


WRONG: dict[str, Callable[[str, Sequence[str]], Any]] = {
    "raises": _raising,
    "nan": lambda query, texts: [0.9] * (len(texts) - 1) + [math.nan],
    "infinite": lambda query, texts: [math.inf] + [0.1] * (len(texts) - 1),
    "too few": lambda query, texts: [0.5] * (len(texts) - 1),
    "too many": lambda query, texts: [0.5] * (len(texts) + 1),
    "none": lambda query, texts: None,
    "a table": lambda query, texts: np.full((len(texts), 2), 0.5),
    "above 1": lambda query, texts: [1.5] * len(texts),
    "negative": lambda query, texts: [-0.1] * len(texts),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_failure_keeps_the_order_before(wrong: str, reader: str, folder: Path, stub: Stub) -> None:
    """C27: what the model cannot judge is answered as if it had not been asked, and says so."""
    stub.answer = WRONG[wrong]
    question: dict[str, Any] = {
        "query": "which",
        "user_ids": ["u"],
        "limit": 3,
        "min_score": 0.0,
        "reader": reader,
    }
    with open_client("memory", folder, config=ON) as client:
        nine(client, right=6)
        answer = client.search(**question)
        assert normal(answer) == normal(client.search(**question, rerank=False))
        assert len(normal(answer)) == 3
        (degraded,) = cast("Any", answer)["degraded"]
        assert degraded["part"] == "rerank"
        assert "wrong" not in degraded["error"]
        stub.answer = prefers_right
        assert contents(client.search(**question))[0] == near("right", 6), "the next search is asked again"


def test_a_failure_raises_where_that_is_wanted(folder: Path, stub: Stub) -> None:
    stub.answer = WRONG["nan"]
    recall = {"local_rerank_enabled": True, "raise_on_failure": True}
    with open_client("memory", folder, config={"recall": recall}) as client:
        client.add("alpha", user_id="u")
        with pytest.raises(RerankError, match="NaN"):
            client.search("alpha", user_ids=["u"])
        assert len(normal(client.search("alpha", user_ids=["u"], rerank=False))) == 1


def test_it_is_off_unless_switched_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LOCAL_RERANKER", "no_such_module:nothing")
    with open_client("memory", folder) as client:
        client.add("alpha", user_id="u")
        (item,) = normal(client.search("alpha", user_ids=["u"], rerank=True))
        assert "rerank_score" not in item


@pytest.mark.parametrize("factor", [1, 2, 5])
def test_the_pool_is_factor_times_limit(factor: int, folder: Path, stub: Stub) -> None:
    recall = {"local_rerank_enabled": True, "local_rerank_pool_factor": factor}
    with open_client("memory", folder, config={"recall": recall}) as client:
        client.add_extracted([near("wrong", at) for at in range(9)] * 2, user_id="u")
        for limit in (1, 4):
            answer = client.search("which", user_ids=["u"], limit=limit, min_score=0.0)
            assert len(stub.seen[-1][1]) == min(18, factor * limit)
            assert len(normal(answer)) == limit
        client.search("which", user_ids=["u"], limit=0, min_score=0.0)
        assert len(stub.seen) == 2, "a bucket that is switched off has nothing to judge"


def test_min_score_is_about_the_score_before(folder: Path, stub: Stub) -> None:
    """Law 1: what the model likes does not lift a memory over the threshold."""
    stub.answer = lambda query, texts: [0.001] * len(texts)
    with open_client("memory", folder, config=ON) as client:
        client.add_extracted([text("over", 10), text("under", 11)], user_id="u")
        (item,) = normal(client.search("which", user_ids=["u"]))
        assert item["content"] == text("over", 10)
        assert item["score"] == pytest.approx(0.4, abs=1e-5)
        assert item["rerank_score"] == 0.001
        assert stub.seen[0][1] == (text("over", 10),)


def test_the_model_reads_what_the_index_holds(folder: Path, stub: Stub) -> None:
    """The speaker's name stands before the content, a role does not; date and caption are not read."""
    with open_client("memory", folder, config=ON) as client:
        client.add(
            [
                {"role": "user", "name": "Maya", "content": "I moved"},
                {"role": "assistant", "content": "Where to?"},
            ],
            user_id="u",
            memory_at="2024-05-01",
            metadata={"caption": "a photo"},
        )
        client.search(queries=["earlier words", "the question"], user_ids=["u"])
    ((query, texts),) = stub.seen
    assert query == "the question"
    assert sorted(texts) == ["Maya: I moved", "Where to?"]


def test_explain_shows_both_stages_and_what_the_cut_dropped(folder: Path, stub: Stub) -> None:
    stub.answer = prefers_right
    with open_client("memory", folder, config=ON) as client:
        nine(client, right=6)
        client.add(near("wrong", 12), user_id="u")
        answer: Any = client.search("which", user_ids=["u"], limit=3, min_score=-1.0, explain="dropped")
    trace = {one["stage"]: (one["in"], one["out"]) for one in answer["trace"]["stages"]}
    assert trace["rerank"] == (9, 9)
    assert trace["cut"] == (9, 3)
    dropped = answer["trace"]["dropped"]
    assert len(dropped) == 7
    assert {one["reason"] for one in dropped} == {"beyond limit"}
    assert {one["memory_id"] for one in dropped}.isdisjoint(ids(answer))
    assert all(item["evidence"] for item in normal(answer))


@given(data=st.data(), limit=st.integers(1, 6), factor=st.integers(1, 3))
def test_rerank_only_reorders_what_was_confirmed(
    data: st.DataObject, limit: int, factor: int, everything: tuple[HyMemoryClient, HyMemoryClient, Stub]
) -> None:
    """Laws 1 and 3: the pool by (rerank_score, id), cut to `limit`; nothing else of an item changes."""
    plain, reranking, stub = everything
    few = (0.0, 0.25, 0.5, 1.0)  # so that there are ties
    said = data.draw(st.lists(st.sampled_from(few), min_size=18, max_size=18))
    stub.answer = lambda query, texts: said[: len(texts)]
    reader = data.draw(st.sampled_from(READERS))
    question: dict[str, Any] = {"query": "alpha", "user_ids": ["u"], "min_score": 0.3, "reader": reader}
    pool = normal(plain.search(**question, limit=limit * 3))
    before = dict(zip([one["memory_id"] for one in pool], said, strict=False))
    expected = sorted(before, key=lambda one: (-before[one], one))[:limit]
    answer = reranking.search(**question, limit=limit)
    assert ids(answer) == expected
    known = {one["memory_id"]: one for one in pool}
    for item in normal(answer):
        assert item.pop("rerank_score") == before[item["memory_id"]]
        assert item == known[item["memory_id"]]
    assert scores(answer).items() <= {one["memory_id"]: one["score"] for one in pool}.items()


@pytest.fixture
def everything(folder: Path, stub: Stub) -> Any:
    with (
        open_client("memory", folder) as plain,
        open_client("memory", folder, config=ON) as reranking,
    ):
        plain.add_extracted([text("alpha beta", at) for at in range(len(POOL))], user_id="u")
        yield plain, reranking, stub


def test_every_setting_reaches_the_model(folder: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract §4: the variables, their defaults, and the same under `recall`."""
    with open_client("memory", folder, config=ON):
        pass
    given = {
        "ENABLED": "true",
        "MODEL": "some/model",
        "DEVICE": "cpu",
        "BATCH_SIZE": "4",
        "MAX_LENGTH": "64",
        "INT8": "true",
        "TIMEOUT": "1.5",
        "POOL_FACTOR": "2",
        "BLEND": "0.4",
        "CACHE_MB": "9",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"MEMORY_LOCAL_RERANK_{name}", value)
    with open_client("memory", folder) as client:
        client.add_extracted(["alpha", "beta", "gamma"], user_id="u")
        client.search("alpha", user_ids=["u"], limit=1)
        assert len(stub.seen[-1][1]) == 2
    default, chosen = stub.opened
    assert default.model == "nreimers/mmarco-mMiniLMv2-L6-H384-v1"
    late = load_settings({"recall": {"local_rerank_kind": "late_interaction"}}, environ={}, dotenv=None)
    assert late.recall.max_length() == 128
    assert (default.device, default.batch_size, default.max_length) == ("auto", 16, 512)
    assert (default.int8, default.timeout) == (False, None)
    assert (chosen.model, chosen.device, chosen.batch_size, chosen.max_length) == ("some/model", "cpu", 4, 64)
    assert (chosen.int8, chosen.timeout) == (True, 1.5)
    assert (default.cache_mb, chosen.cache_mb) == (64, 9)
    with open_client("memory", folder, config={"recall": {"local_rerank_enabled": False}}):
        assert len(stub.opened) == 2, "an argument wins over the environment"


@pytest.mark.parametrize(
    "recall",
    [
        {"local_rerank_pool_factor": 0},
        {"local_rerank_batch_size": 0},
        {"local_rerank_max_length": 3},
        {"local_rerank_timeout": 0},
        {"local_rerank_model": ""},
        {"local_rerank_kind": "guess"},
        {"local_rerank_blend": 0},
        {"local_rerank_blend": 1.1},
        {"local_rerank_cache_mb": -1},
        {"local_rerank_enable": True},
    ],
)
def test_a_bad_setting_is_named(recall: dict[str, object], folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(recall))):
        open_client("memory", folder, config={"recall": recall})


@pytest.mark.parametrize("reader", READERS)
def test_a_blend_weighs_the_score_too(reader: str, folder: Path, stub: Stub) -> None:
    """A judgement that says little changes little, one that is sure decides."""
    stub.answer = lambda query, texts: [0.7 if one.startswith("right") else 0.5 for one in texts]
    recall = {"local_rerank_enabled": True, "local_rerank_blend": 0.5}
    question: dict[str, Any] = {"query": "which", "user_ids": ["u"], "min_score": 0.0, "reader": reader}
    with open_client("memory", folder, config={"recall": recall}) as client:
        nine(client, right=6)
        plain = normal(client.search(**question, limit=9, rerank=False))
        blended = normal(client.search(**question, limit=9))
        assert [one["rerank_score"] for one in blended] == sorted(
            [one["rerank_score"] for one in blended], reverse=True
        )
        assert blended[0]["content"] == plain[0]["content"] != near("right", 6)
        scores_of = {one["memory_id"]: one["score"] for one in plain}
        assert {one["memory_id"]: one["score"] for one in blended} == scores_of
        others = [one["content"] for one in blended if one["content"] != near("right", 6)]
        assert others == [near("wrong", at) for at in range(9) if at != 6]
        stub.answer = lambda query, texts: [1.0 if one.startswith("right") else 0.5 for one in texts]
        assert contents(client.search(**question, limit=9))[0] == near("right", 6)


def test_an_unknown_variable_of_the_family_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_LOCAL_RERANK_POOL_FACTR", "3")
    with pytest.raises(ConfigurationError, match="MEMORY_LOCAL_RERANK_POOL_FACTOR"):
        open_client("memory", folder)
