"""The published hy-memory 2.0, without a language model.

Mode `pro` stores facts by `add_extracted` with its reconciler, which needs a language model, switched
off by its own RECONCILE_ENABLED=false; mode `lite` stores raw texts by `add`. Its log is set to warnings:
at its default level a part of each search would be log lines.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.update(RECONCILE_ENABLED="false", MEMORY_LOG_LEVEL="WARNING", OPENAI_API_KEY="none")

import hy_memory

PACKAGES = ["hy-memory", "numpy", "faiss-cpu", "chromadb"]
_BATCH = 64  # its dedup compares the facts of one call pairwise


class Service:
    """Its asynchronous embedding protocol; what is asked during a search is a question."""

    def __init__(self, lookup: Any) -> None:
        self._lookup, self.is_searching = lookup, False

    def get_embedding_dims(self) -> int:
        return self._lookup.dims

    async def embed(self, text: str, use_cache: bool = True) -> list[float]:
        vector = self._lookup.question(text) if self.is_searching else self._lookup.document(text)
        return vector.tolist()

    async def embed_with_meta(self, text: str, use_cache: bool = True) -> tuple[list[float], dict[str, Any]]:
        return await self.embed(text), {}

    async def embed_batch(self, texts: Sequence[str], use_cache: bool = True) -> list[list[float]]:
        return [await self.embed(text) for text in texts]

    embed_queued = embed
    embed_queued_with_meta = embed_with_meta


class Store:
    def __init__(self, folder: Path, lookup: Any, options: dict[str, Any]) -> None:
        os.environ.update(MEMORY_DATA_DIR=str(folder), MEMORY_EMBEDDING_DIMS=str(lookup.dims))
        self._documents, self._mode = lookup.documents, options["mode"]
        self._service = Service(lookup)
        settings = {"vector_store": {"provider": options["backend"], "embedding_dims": lookup.dims}}
        self._client = hy_memory.HyMemoryClient.from_config(
            settings, mode=self._mode, embedding_service=self._service
        )
        self._by_text = {(one["user"], one["text"].strip()): one["id"] for one in reversed(self._documents)}
        self._names = folder / "names.json"
        self._by_id = json.loads(self._names.read_text()) if self._names.is_file() else {}
        readers = ["legacy"] if self._mode == "lite" else ["legacy", "hybrid"]
        self.arms = {reader: self._arm(reader) for reader in readers}

    def add(self, rows: range) -> None:
        with self._at_once():
            self._add([self._documents[row] for row in rows])

    def _add(self, documents: list[dict[str, Any]]) -> None:
        if self._mode == "lite":
            for one in documents:
                self._add_raw(one)
            return
        for (user, moment), group in itertools.groupby(documents, key=_scope):
            own = list(group)
            for start in range(0, len(own), _BATCH):
                part = own[start : start + _BATCH]
                facts = [one["text"] for one in part]
                done = self._client.add_extracted(facts, user_id=user, memory_at=_time(moment))
                if not done["success"]:
                    raise RuntimeError(done["error_message"])
                if len(done["memory_ids"]) == len(
                    part
                ):  # else its dedup dropped some, and does not say which
                    self._by_id.update(zip(done["memory_ids"], (one["id"] for one in part), strict=True))

    def add_one(self, row: int) -> None:
        if self._mode == "lite":
            self._add_raw(self._documents[row])
        else:
            self._add([self._documents[row]])

    def close(self) -> None:
        self._names.write_text(json.dumps(self._by_id))
        self._client.close()

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Let its store write a chunk by its own batch call: one by one, filling would take hours."""
        store, nodes = self._client._vector_store, []

        async def collect(node: Any) -> str:
            nodes.append(node)
            return node.node_id

        store.upsert = collect
        try:
            yield
        finally:
            del store.upsert
        self._client._loop_thread.run(store.upsert_batch(nodes))

    def _add_raw(self, one: dict[str, Any]) -> None:
        moment = _time(one.get("timestamp"))
        done = self._client.add(one["text"], user_id=one["user"], memory_at=moment)
        if not done["success"]:
            raise RuntimeError(done["error_message"])
        self._by_id[done["memory_id"]] = one["id"]

    def _name(self, hit: dict[str, Any]) -> str:
        """Return the document of a hit: by its id, else by its text, which `pro` shows with a time below."""
        known = self._by_id.get(hit["memory_id"])
        if known is not None:
            return known
        text = hit["content"].removeprefix("Memory: ").rpartition("\nWhen: ")[0] or hit["content"]
        return self._by_text.get((hit["user_id"], text.strip()), "?")

    def _arm(self, reader: str) -> Any:
        def search(question: str, user: str, limit: int) -> list[str]:
            self._service.is_searching = True
            answer = self._client.search(question, user_ids=[user], limit=limit, min_score=0.0, reader=reader)
            self._service.is_searching = False
            return [self._name(hit) for hit in answer["memories"]["normal"]]

        return search


def _scope(one: dict[str, Any]) -> tuple[str, str | None]:
    return one["user"], one.get("timestamp")


def _time(moment: str | None) -> datetime | None:
    if not moment:
        return None
    parsed = datetime.fromisoformat(moment)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def open_store(folder: Path, lookup: Any, options: dict[str, Any]) -> Store:
    return Store(folder, lookup, options)
