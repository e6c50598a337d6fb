"""Public cases of models, updates, deletions and times: C59, C61, C63, C69, C77, C79, C80, C82, C84, C86."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import EmbedderMismatchError, EmbeddingError, InvalidArgumentError
from hy_memory.maintenance.reembed import reembed
from hy_memory.settings.load import load_settings
from tests.support.embedding import DottedEmbedding, text
from tests.support.stores import (
    BACKENDS,
    LASTING,
    READERS,
    config_for,
    contents,
    has_keywords,
    ids,
    normal,
    open_client,
)

readers = pytest.mark.parametrize("reader", READERS)


class _Wide(DottedEmbedding):
    """The dotted embedder at another length, or of another name at the same length."""

    def __init__(self, name: str, dims: int) -> None:
        super().__init__()
        self.name = name  # pyright: ignore[reportIncompatibleVariableOverride]
        self._dims = dims

    def embed_batch(self, texts: list[str]) -> Sequence[Sequence[float]]:
        return [[*row, *[0.0] * (self._dims - len(row))] for row in super().embed_batch(texts)]

    def get_embedding_dims(self) -> int:
        return self._dims


@pytest.mark.parametrize("backend", LASTING)
@pytest.mark.parametrize(("name", "dims"), [("wide", 16), ("other", 8)])
def test_c59_another_embedder_is_told_and_reembed_keeps_everything_else(
    folder: Path, backend: str, name: str, dims: int
) -> None:
    """C59: both named, with the command; ids, times, links and history stay."""
    with open_client(backend, folder) as client:
        kept = client.add("alpha", user_id="u", memory_at=5, tags=["t"])["memory_id"]
        client.update(kept, "beta")
        before = (client.get(kept, versions=True), client.history(kept))
    other = _Wide(name, dims)
    with pytest.raises(EmbedderMismatchError, match=rf"dotted.*8.*{name}.*{dims}.*reembed"):
        open_client(backend, folder, other)
    assert reembed(load_settings(config_for(backend, folder)), embedding_service=other).vectors == 1
    with open_client(backend, folder, other) as client:
        assert (client.get(kept, versions=True), client.history(kept)[-2:]) == before
        assert ids(client.search("alpha", user_ids=["u"])) == [kept]
        assert client.add("gamma", user_id="u")["searchable"]
        assert client.doctor()["problems"] == []
    with pytest.raises(EmbedderMismatchError):
        open_client(backend, folder)


@pytest.mark.parametrize("backend", LASTING)
def test_c59_an_empty_store_keeps_no_old_dimension(folder: Path, backend: str) -> None:
    """C59."""
    with open_client(backend, folder) as client:
        client.delete(client.add("alpha", user_id="u")["memory_id"])
        client.delete_all(user_id="u")
    with open_client(backend, folder, _Wide("wide", 16)) as client:
        memory_id = client.add("alpha", user_id="u")["memory_id"]
        assert ids(client.search("alpha", user_ids=["u"])) == [memory_id]


class _Faulty(DottedEmbedding):
    """Answers the next calls with what the test puts here."""

    name = "faulty"

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Any] = []

    def embed_batch(self, texts: list[str]) -> Any:
        if self.answers:
            answer = self.answers.pop()
            if isinstance(answer, Exception):
                raise answer
            return answer
        return super().embed_batch(texts)


_NONSENSE: tuple[Any, ...] = (
    RuntimeError("down"),
    [[0.0] * 8],
    [[float("nan")] * 8],
    [[float("inf")] + [0.0] * 7],
    [[1.0] * 7],
    [],
    [[1.0] * 8] * 2,
    None,
    "vector",
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("cache", [0, 100])
def test_c61_what_an_embedder_failed_to_give_is_neither_stored_nor_cached(
    folder: Path, backend: str, cache: int
) -> None:
    """C61: add fails, nothing is there; the retry works, with the cache on too; so does a search."""
    embedder = _Faulty()
    with open_client(backend, folder, embedder, {"embedder": {"cache_size": cache}}) as client:
        for at, answer in enumerate(_NONSENSE):
            embedder.answers = [answer]
            with pytest.raises(EmbeddingError):
                client.add(f"alpha {at}", user_id="u")
            assert client.memory_stats(user_id="u")["total"] == at
            memory_id = client.add(f"alpha {at}", user_id="u")["memory_id"]
            embedder.answers = [answer]
            failed = client.search(f"question {at}", user_ids=["u"], limit=50)
            assert failed.get("degraded")
            assert memory_id in ids(client.search(f"question {at}", user_ids=["u"], limit=50))


@pytest.mark.parametrize("backend", LASTING)
@readers
def test_c63_an_update_reaches_vector_and_keywords(folder: Path, backend: str, reader: str) -> None:
    """C63: the new text is found and the old is not, before and after opening again."""
    violin, tea = text("plays violin", 12), text("likes tea", 2)
    with open_client(backend, folder) as client:
        memory_id = client.add(violin, user_id="u")["memory_id"]
        assert contents(client.search(violin, user_ids=["u"], reader=reader)) == [violin]
        client.update(memory_id, tea)
    for _ in range(2):
        with open_client(backend, folder) as client:
            asked: dict[str, Any] = {"user_ids": ["u"], "reader": reader}
            found = normal(client.search(text("drinks", 2), **asked))
            assert [(one["content"], one["score"]) for one in found] == [(tea, 0.99999)]
            assert contents(client.search(violin, **asked)) == []
            if reader == "hybrid" and has_keywords(backend):
                assert contents(client.search(text("tea", 12), **asked)) == [tea]
                assert contents(client.search(text("violin", 7), min_score=0.9, **asked)) == []


@pytest.mark.parametrize("backend", LASTING)
def test_c63_an_update_that_fails_leaves_the_old_state(folder: Path, backend: str) -> None:
    """C63: text, tags, vector, keywords, version and history are as before."""
    embedder = DottedEmbedding()
    with open_client(backend, folder, embedder) as client:
        memory_id = client.add("plays violin", user_id="u", tags=["t"])["memory_id"]
        before = (client.get(memory_id, versions=True), client.history(memory_id))
        found = normal(client.search("violin", user_ids=["u"], reader="hybrid"))
        embedder.fail_next = 1
        with pytest.raises(EmbeddingError):
            client.update(memory_id, text("likes tea", 2), tags=["other"])
        assert (client.get(memory_id, versions=True), client.history(memory_id)) == before
        assert normal(client.search("violin", user_ids=["u"], reader="hybrid")) == found


def test_c63_changing_tags_alone_embeds_nothing_and_filters_follow(folder: Path) -> None:
    embedder = DottedEmbedding()
    with open_client("faiss", folder, embedder) as client:
        memory_id = client.add("alpha", user_id="u", tags=["old"], metadata={"k": 1})["memory_id"]
        embedded = embedder.calls
        client.update(memory_id, tags=["new"], metadata={"k": 2}, memory_at=7)
        assert embedder.calls == embedded
        for filters, there in (
            ({"tags": "new"}, True),
            ({"tags": "old"}, False),
            ({"metadata.k": 2}, True),
            ({"metadata.k": 1}, False),
            ({"memory_at": 7}, True),
        ):
            found = ids(client.search("alpha", user_ids=["u"], filters=filters))
            assert (found == [memory_id]) is there


@pytest.mark.parametrize("backend", BACKENDS)
def test_c69_filter_keys_are_names_and_never_code(folder: Path, backend: str) -> None:
    """C69: injections select nothing but what they literally name, and nobody else's rows."""
    with open_client(backend, folder) as client:
        client.add("alpha", user_id="u", metadata={"a.b": 1, "$or": 2, "__proto__": 3})
        client.add("secret", user_id="v", metadata={"a.b": 1})
        for key in ("x') OR 1=1 --", "x'); DROP TABLE records; --", 'x" OR ""="', "user_id", "%", "a"):
            for value in (1, "1", "' OR '1'='1", True):
                for reader in READERS:
                    asked: dict[str, Any] = {"user_ids": ["u"], "reader": reader}
                    assert ids(client.search("alpha", filters={f"metadata.{key}": value}, **asked)) == []
                    assert client.list_memories(user_id="u", filters={f"metadata.{key}": value})["total"] == 0
        for key, value in (("a.b", 1), ("$or", 2), ("__proto__", 3)):
            found = client.search("alpha", user_ids=["u"], filters={f"metadata.{key}": value})
            assert contents(found) == ["alpha"]
        for key in ("x') OR 1=1 --", "a.b", "$or", "__proto__", "user_id", "status", "content"):
            with pytest.raises(InvalidArgumentError, match="unknown field"):
                client.search("alpha", user_ids=["u"], filters={key: 1})
        for user_id in ("u' OR '1'='1", "*", "%", "u,v", '["u","v"]'):
            assert ids(client.search("alpha", user_ids=[user_id])) == []


@pytest.mark.parametrize("backend", LASTING)
@readers
def test_c77_after_deleting_in_the_middle_ids_and_texts_belong_together(
    folder: Path, backend: str, reader: str
) -> None:
    """C77: add 3, delete the middle one, add 1, open again."""
    with open_client(backend, folder) as client:
        made = [client.add(text(f"text {at}", at), user_id="u")["memory_id"] for at in (4, 5, 6)]
        client.delete(made.pop(1))
        made.append(client.add(text("text 8", 8), user_id="u")["memory_id"])
    for _ in range(2):
        with open_client(backend, folder) as client:
            for at, memory_id in zip((4, 6, 8), made, strict=True):
                best = normal(client.search(text("text", at), user_ids=["u"], reader=reader))[0]
                assert (best["memory_id"], best["content"], best["score"]) == (
                    memory_id,
                    text(f"text {at}", at),
                    pytest.approx(1, abs=1e-4),
                )
            found = contents(client.search(text("text 5", 5), user_ids=["u"], reader=reader, min_score=0))
            assert sorted(found) == sorted(text(f"text {at}", at) for at in (4, 6, 8))


@pytest.mark.parametrize("backend", LASTING)
def test_c79_deleting_one_user_leaves_the_other(folder: Path, backend: str) -> None:
    """C79: raw turns and outcomes of the one are gone too, everything of the other stays; open again."""
    with open_client(backend, folder) as client:
        for user_id in ("u1", "u2"):
            for at in range(10):
                messages = [{"role": "user", "content": f"alpha {at}"}]
                client.add(messages, user_id=user_id, request_id=f"r{at}", session_id=f"s{at % 2}")
        kept = client.list_memories(user_id="u2", limit=50)
        raw = client.list_memories(user_id="u2", layers=["l1_raw"])
        assert client.delete_all(user_id="u1", session_ids=["s0"])["deleted_count"] == 5
        assert client.memory_stats(user_id="u1")["by_layer"] == {"l2_fact": 5, "l1_raw": 5}
        assert client.delete_all(user_id="u1")["deleted_count"] == 5
        for wrong in ("", " ", None):
            with pytest.raises(InvalidArgumentError, match="user_id"):
                client.delete_all(user_id=wrong)  # pyright: ignore[reportArgumentType]
    with open_client(backend, folder) as client:
        assert client.memory_stats(user_id="u1") == {
            "user_id": "u1",
            "total": 0,
            "by_layer": {},
            "scenes": {},
        }
        assert client.get_write_outcome("r1", user_id="u1") is None
        assert client.list_memories(user_id="u2", limit=50) == kept
        assert client.list_memories(user_id="u2", layers=["l1_raw"]) == raw
        for reader in READERS:
            assert ids(client.search("alpha", user_ids=["u1"], reader=reader)) == []
            assert len(ids(client.search("alpha", user_ids=["u1", "u2"], reader=reader, limit=50))) == 10
        assert client.doctor()["problems"] == []


def _mutators(client: HyMemoryClient, made: list[str]) -> dict[str, Callable[[], object]]:
    return {
        "add": lambda: client.add("alpha new", user_id="u"),
        "add_extracted": lambda: client.add_extracted(["alpha new"], user_id="u"),
        "update": lambda: client.update(made[0], "alpha changed"),
        "update away": lambda: client.update(made[0], text("gone", 2)),
        "retag": lambda: client.update(made[1], tags=["hidden"]),
        "expire": lambda: client.update(made[2], expires_at=1.0),
        "delete": lambda: client.delete(made[3]),
        "delete a session": lambda: client.delete_all(user_id="u", session_ids=["s4"]),
        "clone": lambda: client.clone_user("v", "u"),
        "delete all": lambda: client.delete_all(user_id="u"),
    }


@pytest.mark.parametrize("backend", BACKENDS)
@readers
def test_c80_the_same_search_right_after_every_mutator_is_fresh(
    folder: Path, backend: str, reader: str
) -> None:
    """C80: whatever is cached, each write shows in the next answer."""
    with open_client(backend, folder, config={"embedder": {"cache_size": 100}}) as client:
        made = [client.add(f"alpha {at}", user_id="u", session_id=f"s{at}")["memory_id"] for at in range(6)]
        client.add("alpha of v", user_id="v")
        asked: dict[str, Any] = {
            "user_ids": ["u"],
            "reader": reader,
            "limit": 50,
            "filters": {"tags": {"ne": "hidden"}},
        }
        expected = {f"alpha {at}" for at in range(6)}
        assert set(contents(client.search("alpha", **asked))) == expected
        effects: dict[str, tuple[set[str], set[str]]] = {
            "add": ({"alpha new"}, set()),
            "add_extracted": (set(), set()),
            "update": ({"alpha changed"}, {"alpha 0"}),
            "update away": (set(), {"alpha changed"}),
            "retag": (set(), {"alpha 1"}),
            "expire": (set(), {"alpha 2"}),
            "delete": (set(), {"alpha 3"}),
            "delete a session": (set(), {"alpha 4"}),
            "clone": ({"alpha of v"}, set()),
            "delete all": (set(), {"alpha 5", "alpha new", "alpha of v"}),
        }
        for name, mutate in _mutators(client, made).items():
            mutate()
            come, gone = effects[name]
            expected = (expected | come) - gone
            assert set(contents(client.search("alpha", **asked))) == expected, name


@pytest.mark.parametrize("backend", BACKENDS)
@readers
def test_c82_expired_memories_are_hidden_but_not_lost(folder: Path, backend: str, reader: str) -> None:
    """C82: hidden from the moment of expiry (UTC), still got and listed; an intention becomes a fact."""
    now = time.time()
    with open_client(backend, folder) as client:
        gone = client.add("alpha yesterday", user_id="u", expires_at=now - 86_400)["memory_id"]
        client.add("alpha tomorrow", user_id="u", expires_at=now + 86_400)
        client.add("alpha never", user_id="u")
        client.add("alpha plan due", user_id="u", layer="l7_intention", expires_at=now - 1)
        client.add("alpha plan open", user_id="u", layer="l7_intention", expires_at=now + 86_400)
        found = contents(client.search("alpha", user_ids=["u"], reader=reader))
        assert sorted(found) == ["alpha never", "alpha plan due", "alpha tomorrow"]
        assert (client.get(gone) or {}).get("expires_at") == now - 86_400
        assert client.list_memories(user_id="u")["total"] == 5
        past = client.list_memories(user_id="u", filters={"expires_at": {"lte": now}})
        assert {one.get("content") for one in past["memories"]} == {"alpha yesterday", "alpha plan due"}
        soon = client.add("alpha soon", user_id="u", expires_at=time.time() + 0.3)["memory_id"]
        assert soon in ids(client.search("alpha", user_ids=["u"], reader=reader))
        time.sleep(0.35)
        assert soon not in ids(client.search("alpha", user_ids=["u"], reader=reader))


@pytest.mark.parametrize("backend", BACKENDS)
def test_c84_a_bare_day_as_upper_bound_includes_that_day(folder: Path, backend: str) -> None:
    """C84: bounds are inclusive; a moment is a moment."""
    with open_client(backend, folder) as client:
        client.add("alpha", user_id="u", memory_at="2026-03-31T15:00:00Z")
        table: tuple[tuple[dict[str, Any], bool], ...] = (
            ({"created_before": "2026-03-31"}, True),
            ({"created_after": "2026-03-31", "created_before": "2026-03-31"}, True),
            ({"created_before": "2026-03-30"}, False),
            ({"created_after": "2026-04-01"}, False),
            ({"created_before": "2026-03-31T15:00:00Z"}, True),
            ({"created_after": "2026-03-31T15:00:00Z"}, True),
            ({"created_before": "2026-03-31T14:59:59.999Z"}, False),
            ({"created_after": "2026-03-31T15:00:00.001Z"}, False),
            ({"created_before": "2026-03-31T00:00:00Z"}, False),
        )
        for bounds, there in table:
            found = contents(client.search("alpha", user_ids=["u"], **bounds))
            assert (found == ["alpha"]) is there, bounds


@pytest.mark.parametrize("backend", BACKENDS)
def test_c86_one_instant_in_every_zone_is_one_instant(folder: Path, backend: str) -> None:
    """C86: +08:00, Z, −07:00, microseconds, epoch seconds; milliseconds are refused."""
    spellings = (
        "2024-05-07T17:00:00+08:00",
        "2024-05-07T09:00:00Z",
        "2024-05-07T02:00:00-07:00",
        "2024-05-07T09:00:00.000000+00:00",
        1715072400,
        1715072400.0,
    )
    with open_client(backend, folder) as client:
        for at, spelling in enumerate(spellings):
            client.add(f"alpha {at}", user_id="u", memory_at=spelling)
        for spelling in spellings:
            for bound in ("created_after", "created_before"):
                bounds: dict[str, Any] = {bound: spelling}
                found = normal(client.search("alpha", user_ids=["u"], **bounds))
                assert len(found) == len(spellings)
                assert {one["memory_at"] for one in found} == {1715072400.0}
            assert client.list_memories(user_id="u", filters={"memory_at": spelling})["total"] == 6
        for wrong in (1715072400_000, "1715072400"):
            with pytest.raises(InvalidArgumentError, match="created_after"):
                client.search("alpha", user_ids=["u"], created_after=wrong)
