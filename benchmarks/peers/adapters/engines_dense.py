"""Vector engines asked directly, with a user filter: vectors go in and ids come out, no texts are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGES = ["qdrant-edge-py", "faiss-cpu", "chromadb", "numpy"]
_BATCH = 2000


class Faiss:
    """A flat index and a bitmap of each user's rows: exact."""

    def __init__(self, _: Path, lookup: Any) -> None:
        import faiss
        import numpy as np

        self._np, self._faiss, self._lookup = np, faiss, lookup
        self._index = faiss.IndexFlatIP(lookup.dims)
        self._rows: dict[str, list[int]] = {}
        self._ids: list[str] = []
        self.arms = {"search": self._search}

    def add(self, rows: range) -> None:
        self._index.add(self._lookup.vectors[rows.start : rows.stop])
        for row in rows:
            one = self._lookup.documents[row]
            self._rows.setdefault(one["user"], []).append(len(self._ids))
            self._ids.append(one["id"])

    def add_one(self, row: int) -> None:
        self.add(range(row, row + 1))

    def _search(self, question: str, user: str, limit: int) -> list[str]:
        bits = self._np.zeros(len(self._ids), dtype=bool)
        bits[self._rows[user]] = True
        selector = self._faiss.IDSelectorBitmap(self._np.packbits(bits, bitorder="little"))
        vector = self._lookup.question(question)[None, :]
        _, found = self._index.search(vector, limit, params=self._faiss.SearchParameters(sel=selector))
        return [self._ids[place] for place in found[0].tolist() if place >= 0]


class QdrantEdge:
    """A shard with a keyword index on the user."""

    def __init__(self, folder: Path, lookup: Any) -> None:
        import qdrant_edge as q

        self._q, self._lookup, path = q, lookup, folder / "shard"
        if path.is_dir():
            self._shard = q.EdgeShard.load(str(path))
        else:
            path.mkdir(parents=True)
            dense = q.EdgeVectorParams(size=lookup.dims, distance=q.Distance.Cosine)
            self._shard = q.EdgeShard.create(str(path), q.EdgeConfig(vectors={"dense": dense}))
            self._shard.update(q.UpdateOperation.create_field_index("user", q.PayloadSchemaType.Keyword))
        self.arms = {"search": self._search}

    def add(self, rows: range) -> None:
        for start in range(rows.start, rows.stop, _BATCH):
            points = [self._point(row) for row in range(start, min(start + _BATCH, rows.stop))]
            self._shard.update(self._q.UpdateOperation.upsert_points(points))

    def add_one(self, row: int) -> None:
        self.add(range(row, row + 1))

    def close(self) -> None:
        self._shard.close()

    def _point(self, row: int) -> Any:
        vector = {"dense": self._lookup.vectors[row].tolist()}
        return self._q.Point(row, vector, {"user": self._lookup.documents[row]["user"]})

    def _search(self, question: str, user: str, limit: int) -> list[str]:
        q = self._q
        own = q.Filter(must=[q.FieldCondition(key="user", match=q.MatchValue(user))])
        near = q.Query.Nearest(self._lookup.question(question).tolist(), using="dense")
        found = self._shard.query(q.QueryRequest(limit=limit, query=near, filter=own))
        return [self._lookup.documents[point.id]["id"] for point in found]


class Chroma:
    """A persistent collection, its own filtered query."""

    def __init__(self, folder: Path, lookup: Any) -> None:
        import chromadb
        from chromadb.config import Settings

        self._lookup = lookup
        client = chromadb.PersistentClient(str(folder / "chroma"), Settings(anonymized_telemetry=False))
        space = {"hnsw:space": "cosine"}
        self._collection = client.get_or_create_collection("peers", embedding_function=None, metadata=space)
        self.arms = {"search": self._search}

    def add(self, rows: range) -> None:
        for start in range(rows.start, rows.stop, _BATCH):
            part = range(start, min(start + _BATCH, rows.stop))
            documents = [self._lookup.documents[row] for row in part]
            self._collection.add(
                ids=[one["id"] for one in documents],
                embeddings=self._lookup.vectors[part.start : part.stop],
                metadatas=[{"user": one["user"]} for one in documents],
            )

    def add_one(self, row: int) -> None:
        self.add(range(row, row + 1))

    def _search(self, question: str, user: str, limit: int) -> list[str]:
        vector = self._lookup.question(question)[None, :]
        return self._collection.query(query_embeddings=vector, n_results=limit, where={"user": user})["ids"][
            0
        ]


def open_store(folder: Path, lookup: Any, options: dict[str, Any]) -> Any:
    return {"faiss": Faiss, "qdrant-edge": QdrantEdge, "chroma": Chroma}[options["engine"]](folder, lookup)
