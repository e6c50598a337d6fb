"""mem0 with its default embedded store (Qdrant's local mode) and no language model: ``infer=False``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

PACKAGES = ["mem0ai", "qdrant-client", "numpy"]


class LookupEmbedding(EmbeddingBase):
    def __init__(self, lookup: Any) -> None:
        super().__init__()
        self._lookup = lookup
        self.config.embedding_dims = lookup.dims

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = self._lookup.question(text) if memory_action == "search" else self._lookup.document(text)
        return vector.tolist()


class Store:
    def __init__(self, folder: Path, lookup: Any, _: dict[str, Any]) -> None:
        self._documents = lookup.documents
        key = {"config": {"api_key": "none"}}  # its client insists on one; it is never called
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": lookup.dims}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", **key},
                "embedder": {"provider": "openai", **key},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = LookupEmbedding(lookup)
        self.arms = {"search": self._search}

    def add(self, rows: range) -> None:
        for row in rows:
            self.add_one(row)

    def add_one(self, row: int) -> None:
        one = self._documents[row]
        self._memory.add(one["text"], user_id=one["user"], metadata={"document": one["id"]}, infer=False)

    def _search(self, question: str, user: str, limit: int) -> list[str]:
        answer = self._memory.search(question, top_k=limit, filters={"user_id": user}, threshold=0.0)
        return [hit["metadata"]["document"] for hit in answer["results"]]


def open_store(folder: Path, lookup: Any, options: dict[str, Any]) -> Store:
    return Store(folder, lookup, options)
