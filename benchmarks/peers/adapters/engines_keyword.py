"""Keyword engines asked directly, one index a user: words split as each package's own guide shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ["bm25s", "rank-bm25", "numpy"]
Build = Callable[[list[str]], Any]
Top = Callable[[Any, str, int], list[int]]


class Store:
    """Indexes are built once, after the last row: neither package can add to one."""

    no_single = "its index cannot grow: each addition builds it anew"

    def __init__(self, lookup: Any, build: Build, top: Top) -> None:
        self._documents, self._build, self._top = lookup.documents, build, top
        self._own: dict[str, list[int]] = {}
        self._indexes: dict[str, Any] = {}
        self.arms = {"search": self._search}

    def add(self, rows: range) -> None:
        for row in rows:
            self._own.setdefault(self._documents[row]["user"], []).append(row)

    def build(self) -> None:
        for user, rows in self._own.items():
            self._indexes[user] = self._build([self._documents[row]["text"] for row in rows])

    def _search(self, question: str, user: str, limit: int) -> list[str]:
        rows = self._own[user]
        places = self._top(self._indexes[user], question, min(limit, len(rows)))
        return [self._documents[rows[place]]["id"] for place in places]


def _bm25s() -> tuple[Build, Top]:
    import bm25s

    def build(texts: list[str]) -> Any:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
        return index

    def top(index: Any, question: str, limit: int) -> list[int]:
        tokens = bm25s.tokenize(question, stopwords="en", show_progress=False)
        return index.retrieve(tokens, k=limit, show_progress=False)[0][0].tolist()

    return build, top


def _rank_bm25() -> tuple[Build, Top]:
    import numpy as np
    from rank_bm25 import BM25Okapi

    def build(texts: list[str]) -> Any:
        return BM25Okapi([text.lower().split() for text in texts])

    def top(index: Any, question: str, limit: int) -> list[int]:
        scores = index.get_scores(question.lower().split())
        return np.argsort(-scores, kind="stable")[:limit].tolist()

    return build, top


def open_store(_: Path, lookup: Any, options: dict[str, Any]) -> Store:
    return Store(lookup, *{"bm25s": _bm25s, "rank-bm25": _rank_bm25}[options["engine"]]())
