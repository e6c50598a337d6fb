"""A reranker that says what the test wants, opened in place of the cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hy_memory.reranking.options import RerankerOptions

Answer = Callable[[str, Sequence[str]], Any]


def by_length(query: str, texts: Sequence[str]) -> list[float]:
    """Judge a text by its length alone: the longest is the best."""
    return [len(text) / 1000 for text in texts]


class Stub:
    """Answers by `answer`; `seen` are the questions and texts of every call, `opened` its options."""

    def __init__(self, answer: Answer = by_length) -> None:
        self.answer: Answer = answer
        self.seen: list[tuple[str, tuple[str, ...]]] = []
        self.opened: list[RerankerOptions] = []

    def __call__(self, options: RerankerOptions) -> Stub:
        """Open it: a `RerankerFactory`."""
        self.opened.append(options)
        return self

    def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Remember the call and answer."""
        self.seen.append((query, tuple(texts)))
        return self.answer(query, texts)


factory: Stub | None = None
"""What is opened; the fixture `stub` sets it for one test."""
PATH = f"{__name__}:factory"
