"""Readers by name, switches, idempotent requests: what the contract promises beside the laws."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import BackendError, ConflictError, EmbeddingError, MemoryNotFoundError
from tests.support.embedding import POOL, DottedEmbedding, text
from tests.support.faulty import Faults
from tests.support.stores import BACKENDS, READERS, contents, ids, normal, open_client


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


# -- readers -------------------------------------------------------------------------------------


def test_an_unknown_reader_warns_once_and_means_legacy(
    client: HyMemoryClient, caplog: pytest.LogCaptureFixture
) -> None:
    """C43."""
    client.add_extracted(["alpha", text("beta", 2)], user_id="u")
    answer = client.search("beta", user_ids=["u"], reader="hybird")
    assert normal(answer) == normal(client.search("beta", user_ids=["u"], reader="legacy"))
    assert "degraded" not in answer
    (warning,) = _warnings(caplog)
    assert "hybird" in warning
    assert "legacy" in warning


def test_the_default_reader_is_legacy_and_the_environment_names_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_client("faiss", folder) as client:
        client.add_extracted(["alpha", text("beta", 2)], user_id="u")
        assert contents(client.search("beta", user_ids=["u"])) == ["alpha"]
    monkeypatch.setenv("HY_MEMORY_READER", "hybrid")
    with open_client("faiss", folder) as client:
        assert len(contents(client.search("beta", user_ids=["u"]))) == 2
        assert contents(client.search("beta", user_ids=["u"], reader="legacy")) == ["alpha"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_keyword_index_local_gives_any_backend_keywords(
    folder: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_KEYWORD_INDEX", "local")
    with open_client(backend, folder) as client:
        client.add_extracted(["alpha", text("beta", 2)], user_id="u")
        found = normal(client.search("beta", user_ids=["u"], reader="hybrid"))
        assert [one["retrieval_source"] for one in found] == ["VDB", "BM25"]
        client.delete(found[1]["memory_id"])
        assert contents(client.search("beta", user_ids=["u"], reader="hybrid")) == ["alpha"]


# -- what a search is asked ----------------------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_the_last_of_queries_is_the_target(client: HyMemoryClient, reader: str) -> None:
    client.add_extracted([text("alpha", 2), text("beta", 12)], user_id="u")
    answer = client.search(queries=[text("x", 2), text("x", 12)], user_ids=["u"], reader=reader)
    assert contents(answer) == [text("beta", 12)]
    assert (answer.get("rewrite") or {}).get("original_query") == text("x", 12)


def test_a_limit_of_0_switches_the_bucket_off_and_asks_nobody(folder: Path, faults: Faults) -> None:
    embedder = DottedEmbedding()
    with open_client("faulty", folder, embedder) as client:
        client.add("alpha", user_id="u")
        before = (faults.calls, embedder.calls)
        for reader in READERS:
            answer = client.search("alpha", user_ids=["u"], limit=0, reader=reader, explain="dropped")
            assert normal(answer) == []
            assert "degraded" not in answer
        assert (faults.calls, embedder.calls) == before


def test_the_callers_own_query_vector_is_used(client: HyMemoryClient) -> None:
    client.add_extracted([text("alpha", 2), text("alpha", 12)], user_id="u")
    forms: tuple[Any, ...] = (
        POOL[12],
        POOL[12].tolist(),
        (POOL[12] * 1000).astype(np.float64),
        tuple(POOL[12].tolist()),
    )
    for vector in forms:
        answer = client.search("alpha", user_ids=["u"], query_embedding=vector)
        assert contents(answer) == [text("alpha", 12)]
        assert normal(answer)[0]["score"] == 0.99999


def test_layers_choose_and_raw_turns_are_never_recalled(client: HyMemoryClient) -> None:
    layers = ("l2_fact", "l3_summary", "l4_identity", "l5_knowledge", "l6_schema", "l7_intention")
    for layer in layers:
        client.add_extracted([f"alpha {layer}"], user_id="u", layer=layer)
    client.add("alpha said", user_id="u")
    for reader in READERS:
        asked: dict[str, Any] = {"user_ids": ["u"], "reader": reader}
        everything = contents(client.search("alpha", **asked))
        assert sorted(everything) == sorted([*(f"alpha {one}" for one in layers[:4]), "alpha said"])
        assert contents(client.search("alpha", layers=["l3_summary"], **asked)) == ["alpha l3_summary"]
        assert contents(client.search("alpha", layers=["l1_raw"], **asked)) == []
        assert contents(client.search("alpha", layers=["l6_schema", "l7_intention"], **asked)) == []
        assert len(contents(client.search("alpha", layers=[], **asked))) == 5


# -- failures ------------------------------------------------------------------------------------


def test_memory_search_raise_raises_what_failed(
    folder: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_SEARCH_RAISE", "true")
    embedder = DottedEmbedding()
    with open_client("faulty", folder, embedder) as client:
        client.add("alpha", user_id="u")
        with faults.breaking("vectors"), pytest.raises(BackendError):
            client.search("alpha", user_ids=["u"])
        with faults.breaking("keywords"), pytest.raises(BackendError):
            client.search("alpha", user_ids=["u"], reader="hybrid")
        embedder.fail_next = 1
        with pytest.raises(EmbeddingError):
            client.search("alpha", user_ids=["u"])
        assert contents(client.search("alpha", user_ids=["u"])) == ["alpha"]


def test_a_write_while_the_projection_is_down_is_safe_and_says_it_is_not_searchable(
    folder: Path, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    with open_client("faulty", folder) as client:
        with faults.breaking("feed"):
            answer = client.add("alpha", user_id="u")
            assert answer["success"]
            assert not answer["searchable"]
            assert "not yet searchable" in _warnings(caplog)[0]
            assert client.get(answer["memory_id"]) is not None
            failed = client.search("alpha", user_ids=["u"])
            assert failed.get("degraded")
        assert contents(client.search("alpha", user_ids=["u"])) == ["alpha"]
        with faults.breaking("feed"):
            assert client.delete(answer["memory_id"])["deleted_count"] == 1
        assert contents(client.search("alpha", user_ids=["u"])) == []
        assert client.doctor()["healthy"]


def test_an_embedder_that_fails_on_a_write_leaves_nothing_behind(
    client: HyMemoryClient, folder: Path
) -> None:
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as own:
        for write in (
            lambda: own.add("alpha", user_id="u", request_id="r"),
            lambda: own.add_extracted(["alpha", "beta"], user_id="u", request_id="r"),
        ):
            embedder.fail_next = 1
            with pytest.raises(EmbeddingError):
                write()
            assert own.memory_stats(user_id="u") == {"user_id": "u", "total": 0, "by_layer": {}, "scenes": {}}
            assert own.get_write_outcome("r") is None
        assert own.add("alpha", user_id="u", request_id="r")["success"]  # the same request may be repeated


# -- idempotent requests -------------------------------------------------------------------------


def test_a_repeated_request_gives_the_first_outcome(folder: Path) -> None:
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as client:
        messages = [{"role": "user", "content": "alpha"}, {"role": "assistant", "content": "beta"}]
        first = client.add(messages, user_id="u", request_id="r", metadata={"a": 1, "b": 2})
        embedded = embedder.calls
        again = client.add(messages, user_id="u", request_id="r", metadata={"b": 2, "a": 1})
        assert again["memory_ids"] == first["memory_ids"]
        assert again["request_id"] == "r"
        assert embedder.calls == embedded
        assert client.memory_stats(user_id="u")["total"] == 2
        other = client.add(messages, user_id="v", request_id="r")  # ids of requests are each user's own
        assert set(other["memory_ids"]).isdisjoint(first["memory_ids"])


@pytest.mark.parametrize(
    "changed",
    [
        {"data": "beta"},
        {"session_id": "other"},
        {"tags": ["t"]},
        {"memory_at": 5},
        {"metadata": {"a": 1}},
        {"layer": "l3_summary"},
        {"source": "app"},
        {"expires_at": 4e9},
    ],
    ids=str,
)
def test_the_same_request_id_for_other_content_is_an_error(
    client: HyMemoryClient, changed: dict[str, Any]
) -> None:
    same: dict[str, Any] = {"data": "alpha", "user_id": "u", "request_id": "r"}
    client.add(**same)
    with pytest.raises(ConflictError, match="r"):
        client.add(**{**same, **changed})
    assert client.memory_stats(user_id="u")["total"] == 1


@pytest.mark.parametrize("backend", ["faiss", "qdrant"])
def test_two_threads_with_the_same_request_write_once(folder: Path, backend: str) -> None:
    with open_client(backend, folder, DottedEmbedding(delay=0.01)) as client:
        for at in range(10):
            barrier = threading.Barrier(4)

            def write(_: int, at: int = at, barrier: threading.Barrier = barrier) -> list[str]:
                barrier.wait()
                return client.add(f"alpha {at}", user_id="u", request_id=f"r{at}")["memory_ids"]

            with ThreadPoolExecutor(4) as pool:
                outcomes = list(pool.map(write, range(4)))
            assert all(one == outcomes[0] for one in outcomes)
        assert client.memory_stats(user_id="u") == {
            "user_id": "u",
            "total": 10,
            "by_layer": {"l2_fact": 10, "l1_raw": 10},
            "scenes": {},
        }


# -- small promises ------------------------------------------------------------------------------


def test_ready_vectors_are_stored_without_embedding(folder: Path) -> None:
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as client:
        client.add_extracted(["one", "two"], user_id="u", embeddings=np.stack([POOL[2], POOL[12] * 9]))
        assert embedder.calls == 0
        answer = client.search("alpha", user_ids=["u"], query_embedding=POOL[12])
        assert [(one["content"], one["score"]) for one in normal(answer)] == [("two", 0.99999)]


def test_what_is_unknown(client: HyMemoryClient) -> None:
    with pytest.raises(MemoryNotFoundError) as caught:
        client.update("unknown", "alpha")
    assert isinstance(caught.value, LookupError)
    assert client.get("unknown") is None
    assert client.history("unknown") == []
    assert client.delete("unknown") == {"success": True, "deleted_count": 0}
    assert ids(client.search("alpha", user_ids=["nobody"])) == []
    assert client.list_memories(user_id="nobody")["total"] == 0


def test_a_clone_has_everything_under_ids_of_its_own(client: HyMemoryClient) -> None:
    kept = client.add([{"role": "user", "content": "alpha"}], user_id="u", tags=["t"])["memory_id"]
    client.update(kept, "beta")
    client.clone_user("u", "v")
    (copy,) = normal(client.search("beta", user_ids=["v"]))
    assert (copy["content"], copy["tags"]) == ("beta", ["t"])
    assert copy["memory_id"] != kept
    client.delete_all(user_id="u")
    assert contents(client.search("beta", user_ids=["v"])) == ["beta"]
    client.delete(copy["memory_id"])
    assert client.memory_stats(user_id="v")["by_layer"] == {}
