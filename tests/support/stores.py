"""Opening clients: every backend there is, over one ledger or over stores of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from hy_memory import HyMemoryClient, vectors
from tests.support.embedding import DottedEmbedding

_FOLDER = Path(vectors.__file__).parent
_PROVIDERS = (
    "memory",
    "faiss",
    "qdrant",
    *(("chroma",) if (_FOLDER / "chroma" / "store.py").is_file() else ()),
)
LOCAL = "+local"
"""Suffix of a backend whose keywords are the in-process index (MEMORY_KEYWORD_INDEX=local)."""
BACKENDS = _PROVIDERS
KEYWORD_BACKENDS = tuple(
    one
    for one in (*_PROVIDERS, *(f"{one}{LOCAL}" for one in _PROVIDERS if one != "faiss"))
    if one != "chroma"
)
EVERYWHERE = tuple(dict.fromkeys((*BACKENDS, *KEYWORD_BACKENDS)))
"""All backends with their local-keyword forms."""
READERS = ("legacy", "hybrid")
NO_SUPPORT = {"ranking": {"neighbours": 0, "named_speaker": 0, "own_words": 0, "time": 0}}
"""A configuration in which each memory stands alone, as the oracle sees it."""
LASTING = tuple(one for one in BACKENDS if one != "memory")
"""Backends that people keep data with."""


def has_keywords(backend: str) -> bool:
    """Return whether `hybrid` differs from `legacy` there (contract §1: not on Chroma)."""
    return backend != "chroma"


def config_for(backend: str, folder: Path, **more: object) -> dict[str, object]:
    """Return the configuration of a store in `folder`; the process's death is all it must survive."""
    provider = backend.removesuffix(LOCAL)
    store: dict[str, object] = {"provider": provider}
    if backend.endswith(LOCAL):
        # a form of its own beside the plain one: two clients of one process may not share a folder
        store |= {"keyword_index": "local", "collection_name": "with_local_keywords"}
    return {
        "data_dir": str(folder),
        "vector_store": store,
        "ledger": {"synchronous": "NORMAL"},
        "embedder": {"cache_size": 0},
        **more,
    }


def open_client(
    backend: str, folder: Path, service: object = None, config: Mapping[str, object] | None = None
) -> HyMemoryClient:
    """Return a client of `backend` over `folder`, with the dotted embedder unless told otherwise."""
    return HyMemoryClient(
        {**config_for(backend, folder), **(config or {})}, embedding_service=service or DottedEmbedding()
    )


@contextmanager
def quick_folder() -> Generator[Path]:
    """Yield a new folder, in memory where the system has one: making stores syncs many files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@contextmanager
def open_everywhere(
    folder: Path, service: object = None, backends: tuple[str, ...] = EVERYWHERE
) -> Generator[dict[str, HyMemoryClient]]:
    """Yield a client of each backend over one ledger: the same memories, the same ids, for all."""
    with ExitStack() as opened:
        yield {one: opened.enter_context(open_client(one, folder, service)) for one in backends}


def normal(answer: object) -> list[dict[str, Any]]:
    """Return the items of the `normal` bucket."""
    return cast("Any", answer)["memories"]["normal"]


def ids(answer: object) -> list[str]:
    """Return the ids of the `normal` bucket, in order."""
    return [one["memory_id"] for one in normal(answer)]


def contents(answer: object) -> list[str]:
    """Return the texts of the `normal` bucket, in order."""
    return [one["content"] for one in normal(answer)]


def scores(answer: object) -> dict[str, float]:
    """Return the scores of the `normal` bucket by id."""
    return {one["memory_id"]: one["score"] for one in normal(answer)}
