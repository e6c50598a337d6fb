"""LangChain's vector stores, asked as their guides show: ``similarity_search(question, k, filter=…)``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

PACKAGES = [
    "langchain-core",
    "langchain-community",
    "langchain-chroma",
    "langchain-qdrant",
    "faiss-cpu",
    "chromadb",
    "qdrant-client",
    "numpy",
]


class LookupEmbeddings(Embeddings):
    def __init__(self, lookup: Any) -> None:
        self._lookup = lookup

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._lookup.document(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._lookup.question(text).tolist()


class Store:
    def __init__(self, folder: Path, lookup: Any, options: dict[str, Any]) -> None:
        self._documents = lookup.documents
        made = {"faiss": _faiss, "chroma": _chroma, "qdrant": _qdrant}[options["store"]]
        self._store, narrow = made(folder, lookup)
        self.arms = {"default": self._arm(narrow, {})}
        if options["store"] == "faiss":
            self.arms["fetch all"] = self._arm(narrow, {"fetch_k": len(self._documents)})

    def add(self, rows: range) -> None:
        chosen = [self._documents[row] for row in rows]
        self._store.add_documents(
            [Document(one["text"], metadata={"user": one["user"], "document": one["id"]}) for one in chosen]
        )

    def add_one(self, row: int) -> None:
        self.add(range(row, row + 1))

    def _arm(self, narrow: Any, extra: dict[str, Any]) -> Any:
        def search(question: str, user: str, limit: int) -> list[str]:
            found = self._store.similarity_search(question, k=limit, filter=narrow(user), **extra)
            return [one.metadata["document"] for one in found]

        return search


def _faiss(_: Path, lookup: Any) -> tuple[Any, Any]:
    import faiss
    from langchain_community.docstore.in_memory import InMemoryDocstore
    from langchain_community.vectorstores import FAISS

    store = FAISS(LookupEmbeddings(lookup), faiss.IndexFlatL2(lookup.dims), InMemoryDocstore(), {})
    return store, lambda user: {"user": user}


def _chroma(folder: Path, lookup: Any) -> tuple[Any, Any]:
    from langchain_chroma import Chroma

    store = Chroma("peers", LookupEmbeddings(lookup), persist_directory=str(folder / "chroma"))
    return store, lambda user: {"user": user}


def _qdrant(_: Path, lookup: Any) -> tuple[Any, Any]:
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    size = models.VectorParams(size=lookup.dims, distance=models.Distance.COSINE)
    client.create_collection("peers", vectors_config=size)
    store = QdrantVectorStore(client, "peers", LookupEmbeddings(lookup), validate_collection_config=False)

    def narrow(user: str) -> Any:
        own = models.MatchValue(value=user)
        return models.Filter(must=[models.FieldCondition(key="metadata.user", match=own)])

    return store, narrow


def open_store(folder: Path, lookup: Any, options: dict[str, Any]) -> Store:
    return Store(folder, lookup, options)
