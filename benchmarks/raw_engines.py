"""The engines themselves, asked directly: what a search costs with no SDK around it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import DIMS, Corpus

RawSearch = Callable[[int, Any, int], Any]


def raw_engine(backend: str, corpus: Corpus) -> RawSearch:
    """Return ``search(user, vector, k)`` on the bare engine behind `backend`, filled with the corpus."""
    return {"faiss": _faiss, "qdrant": _qdrant, "chroma": _chroma, "memory": _faiss}[backend](corpus)


def _faiss(corpus: Corpus) -> RawSearch:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMS)
    index.add(corpus.vectors)
    rows = {user: corpus.of(user) for user in range(int(corpus.owners.max()) + 1)}

    def search(user: int, vector: Any, k: int) -> Any:
        bits = np.zeros(len(corpus.owners), dtype=bool)
        bits[rows[user]] = True
        selector = faiss.IDSelectorBitmap(np.packbits(bits, bitorder="little"))
        return index.search(vector[None, :], k, params=faiss.SearchParameters(sel=selector))

    return search


def _qdrant(corpus: Corpus) -> RawSearch:
    import qdrant_edge as q

    folder = tempfile.mkdtemp()
    shard = q.EdgeShard.create(
        folder, q.EdgeConfig(vectors={"dense": q.EdgeVectorParams(size=DIMS, distance=q.Distance.Cosine)})
    )
    shard.update(q.UpdateOperation.create_field_index("user", q.PayloadSchemaType.Keyword))
    for start in range(0, len(corpus.owners), 2000):
        rows = range(start, min(start + 2000, len(corpus.owners)))
        points = [
            q.Point(row, {"dense": corpus.vectors[row].tolist()}, {"user": f"user{corpus.owners[row]}"})
            for row in rows
        ]
        shard.update(q.UpdateOperation.upsert_points(points))

    def search(user: int, vector: Any, k: int) -> Any:
        own = q.Filter(must=[q.FieldCondition(key="user", match=q.MatchValue(f"user{user}"))])
        query = q.Query.Nearest(vector.tolist(), using="dense")
        return shard.query(q.QueryRequest(limit=k, query=query, filter=own))

    return search


def _chroma(corpus: Corpus) -> RawSearch:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(tempfile.mkdtemp(), Settings(anonymized_telemetry=False))
    collection = client.create_collection("raw", embedding_function=None, metadata={"hnsw:space": "cosine"})
    for start in range(0, len(corpus.owners), 2000):
        rows = range(start, min(start + 2000, len(corpus.owners)))
        collection.add(
            ids=[str(row) for row in rows],
            embeddings=corpus.vectors[start : start + len(rows)],
            metadatas=[{"user": f"user{corpus.owners[row]}"} for row in rows],
        )

    def search(user: int, vector: Any, k: int) -> Any:
        return collection.query(query_embeddings=vector[None, :], n_results=k, where={"user": f"user{user}"})

    return search
