"""This library, from this checkout: default settings but for backend, data folder and embedder."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hy_memory import HyMemoryClient

PACKAGES = ["hy_memory", "numpy", "faiss-cpu", "qdrant-edge-py", "chromadb"]
_ROLES = ("user", "assistant")


class Service:
    """The caller's `embedding_service`."""

    name = "looked up"

    def __init__(self, lookup: Any, calibration: str | None) -> None:
        self._lookup = lookup
        if calibration is not None:
            from hy_memory.ranking import calibration as curves

            self.calibration = getattr(curves, calibration)

    def get_embedding_dims(self) -> int:
        return self._lookup.dims

    def embed_batch(self, texts: Sequence[str]) -> list[Any]:
        return [self._lookup.document(text) for text in texts]

    def embed_query(self, text: str) -> Any:
        return self._lookup.question(text)


class Store:
    def __init__(self, folder: Path, lookup: Any, options: dict[str, Any]) -> None:
        self._documents, self._is_bare = lookup.documents, options.get("bare", False)
        settings = {"data_dir": str(folder), "vector_store": {"provider": options["backend"]}}
        self._client = HyMemoryClient(settings, embedding_service=Service(lookup, options.get("calibration")))
        self.arms = {reader: self._arm(reader) for reader in options.get("readers", ["legacy", "hybrid"])}

    def add(self, rows: range) -> None:
        documents = (self._documents[row] for row in rows)
        for (user, session), group in itertools.groupby(documents, key=_scope):
            self._client.add_extracted([self._fact(one) for one in group], user_id=user, session_id=session)

    def add_one(self, row: int) -> None:
        one = self._documents[row]
        self._client.add(one["text"], user_id=one["user"], metadata={"document": one["id"]})

    def close(self) -> None:
        self._client.close()

    def _fact(self, one: dict[str, Any]) -> dict[str, Any]:
        if self._is_bare:
            return {"content": one["text"], "metadata": {"document": one["id"]}}
        extra = {key: one[key] for key in ("caption", "place") if one.get(key)}
        fact = {"content": one.get("said", one["text"]), "metadata": {"document": one["id"], **extra}}
        if one.get("timestamp"):
            fact["timestamp"] = one["timestamp"]
        if one.get("speaker"):
            fact["role" if one["speaker"] in _ROLES else "name"] = one["speaker"]
        return fact

    def _arm(self, reader: str) -> Any:
        def search(question: str, user: str, limit: int) -> list[str]:
            answer = self._client.search(question, user_ids=[user], limit=limit, min_score=0.0, reader=reader)
            return [str(hit["meta"]["document"]) for hit in answer["memories"]["normal"]]

        return search


def _scope(one: dict[str, Any]) -> tuple[str, str]:
    return one["user"], str(one.get("session_id") or "default_session")


def open_store(folder: Path, lookup: Any, options: dict[str, Any]) -> Store:
    return Store(folder, lookup, options)
