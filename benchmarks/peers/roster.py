"""Who takes part: each library or engine, the environment it runs in, and what its rows are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers.environments import HERE


@dataclass(frozen=True, slots=True)
class Peer:
    """One worker. `arms` gives the title of each of its ways of searching; others are not asked."""

    name: str
    environment: str
    adapter: str
    options: Mapping[str, Any]
    arms: Mapping[str, str]
    keeps: bool = True
    """Whether its store survives the process: then it is opened anew, filled, before anything is timed."""
    largest: int = 100_000
    """The greatest size it is asked to hold."""
    speed: bool = True
    quality: bool = False
    exact: frozenset[str] = field(default_factory=frozenset)
    """Arms that promise the nearest vectors, so that what they find is compared with an exact search."""
    remark: str = ""
    """What the reader of its rows should know."""


_REFERENCE = (
    "Backend `memory`: written to be plainly right, as the yardstick of the tests; not meant to be fast."
)
_WITHOUT_MODEL = (
    "Published hy-memory 2.0.6 needs a language model to write in its mode `pro`: here ready facts are given "
    "to it and its reconciler is switched off (RECONCILE_ENABLED=false). Its searches use no language model. "
    "`lite` keeps raw texts. Its log is set to warnings. Its verbs write memories one by one, so that "
    "filling it would take hours: for its bulk figures its store's own batch call is used."
)


def _ours(backend: str, title: str, largest: int = 100_000, quality: bool = False) -> Peer:
    return Peer(
        name=f"hy_memory-{backend}",
        environment=HERE,
        adapter="hy_memory_here",
        options={"backend": backend},
        arms={"legacy": title, "hybrid": f"{title}, hybrid"},
        largest=largest,
        quality=quality,
        exact=frozenset({"legacy"}),
        remark=_REFERENCE if backend == "memory" else "",
    )


def _published(backend: str, mode: str, quality: bool = False) -> Peer:
    title = f"hy-memory 2.0.6, {backend.upper() if backend == 'faiss' else backend.title()}"
    arms = {"legacy": title, "hybrid": f"{title}, hybrid"} if mode == "pro" else {"legacy": f"{title}, lite"}
    return Peer(
        name=f"hy-memory-2-{backend}-{mode}",
        environment="hy_memory_2",
        adapter="hy_memory_2",
        options={"backend": backend, "mode": mode},
        arms=arms,
        exact=frozenset({"legacy"}),
        remark=_WITHOUT_MODEL,
        quality=quality,
    )


_FILTERED_AFTER = (
    "LangChain's FAISS filters the 20 nearest of everybody (fetch_k), so a user who owns few of the memories "
    "gets few or none; `fetch_k = all` is what full answers cost there."
)


def _langchain(store: str, arms: Mapping[str, str], quality: bool = False) -> Peer:
    return Peer(
        name=f"langchain-{store}",
        environment="langchain",
        adapter="langchain_here",
        options={"store": store},
        arms=arms,
        keeps=store == "chroma",
        remark=_FILTERED_AFTER if store == "faiss" else "",
        quality=quality,
        exact=frozenset(arms),
    )


def _engine(name: str, title: str, largest: int = 1_000_000, quality: bool = False) -> Peer:
    return Peer(
        name=name,
        environment="engines",
        adapter="engines_dense",
        options={"engine": name},
        arms={"search": title},
        keeps=name != "faiss",
        largest=largest,
        quality=quality,
        exact=frozenset({"search"}),
    )


def _keywords(name: str) -> Peer:
    return Peer(
        name=name,
        environment="engines",
        adapter="engines_keyword",
        options={"engine": name},
        arms={"search": name},
        remark="An index for each user, built once; words split as its guide shows.",
        keeps=False,
        quality=True,
    )


BARE = Peer(
    name="hy_memory-bare",
    environment=HERE,
    adapter="hy_memory_here",
    options={"backend": "faiss", "bare": True, "readers": ["hybrid"]},
    arms={"hybrid": "hy_memory, hybrid, bare texts"},
    speed=False,
    quality=True,
)
"""As our own row, but told neither time nor session, and names only in the text: as the peers are."""

ROSTER = (
    _ours("faiss", "**hy_memory**", largest=1_000_000, quality=True),
    _ours("qdrant", "**hy_memory**, Qdrant", largest=1_000_000),
    _ours("chroma", "**hy_memory**, Chroma"),
    _ours("memory", "**hy_memory**, reference", largest=1000),
    BARE,
    _published("chroma", "pro", quality=True),
    _published("chroma", "lite"),
    _published("faiss", "pro"),
    _published("faiss", "lite"),
    Peer(
        name="mem0",
        environment="mem0",
        adapter="mem0_here",
        options={},
        arms={"search": "mem0, embedded Qdrant"},
        exact=frozenset({"search"}),
        remark="infer=False; without its optional spaCy and fastembed models, which come from the network.",
        quality=True,
    ),
    _langchain(
        "faiss",
        {"default": "LangChain FAISS", "fetch all": "LangChain FAISS, fetch_k = all"},
        quality=True,
    ),
    _langchain("chroma", {"default": "LangChain Chroma"}),
    _langchain("qdrant", {"default": "LangChain Qdrant, in memory"}),
    _engine("faiss", "FAISS itself", quality=True),
    _engine("qdrant-edge", "qdrant-edge itself"),
    _engine("chroma", "Chroma itself", largest=100_000),
    _keywords("bm25s"),
    _keywords("rank-bm25"),
)
OURS = ("hy_memory-faiss", "legacy")
"""The row that the others are compared with: default settings."""
