"""Embedding services whose vectors the test chooses by how a text ends."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence

import numpy as np

from hy_memory.testing.fakes import unit
from hy_memory.values.point import FloatArray

DIMS = 8


def _row(*numbers: float) -> FloatArray:
    return unit([*numbers, *[0.0] * (DIMS - len(numbers))])


def _pool() -> tuple[FloatArray, ...]:
    chosen = [
        _row(1.0),
        _row(0.5, math.sqrt(0.75)),  # 60 degrees from the first
        _row(0.0, 1.0),  # 90 degrees
        _row(-1.0),  # opposite
        _row(0.8, 0.6),
        _row(0.6, 0.8),
        _row(0.6, 0.0, 0.8),
        _row(*[1.0] * DIMS),
        _row(1.0, 1.0),
        _row(0.9, 0.0, 0.0, math.sqrt(0.19)),
        _row(0.4, math.sqrt(0.84)),  # exactly the default min_score
        _row(0.39, math.sqrt(1 - 0.39**2)),  # just below it
        _row(0.0, 0.0, 0.0, 0.0, 1.0),
    ]
    random = np.random.default_rng(7)
    return (*chosen, *(unit(random.standard_normal(DIMS).astype(np.float32)) for _ in range(5)))


POOL = _pool()
"""The vectors there are; the first is what a text without dots means."""


def text(words: str, place: int = 0) -> str:
    """Return `words` with as many dots as say which vector of POOL it has: dots are no keywords."""
    return f"{words} {'.' * place}" if place else words


def place_of(content: str) -> int:
    """Return which vector of POOL a text has."""
    return min(len(content) - len(content.rstrip(".")), len(POOL) - 1)


class DottedEmbedding:
    """An embedding service: a text's vector is POOL[number of dots at its end].

    `calls` counts texts; `fail_next` makes that many of the next calls fail; `delay` is seconds
    that each call takes.
    """

    name = "dotted"

    def __init__(self, delay: float = 0.0) -> None:
        self.calls = 0
        self.fail_next = 0
        self.delay = delay
        self._lock = threading.Lock()

    def embed_batch(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Return the vector of each text."""
        if self.delay:
            time.sleep(self.delay)
        with self._lock:
            self.calls += len(texts)
            if self.fail_next > 0:
                self.fail_next -= 1
                raise RuntimeError("this embedder was told to fail")
        return [POOL[place_of(one)].tolist() for one in texts]

    def get_embedding_dims(self) -> int:
        """Return the length of a vector."""
        return DIMS


class UninformedEmbedding:
    """An embedding service that knows nothing: every question is at 90 degrees to every memory."""

    name = "uninformed"

    def embed_batch(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Return the same vector for each text."""
        return [POOL[2].tolist() for _ in texts]

    def embed_query(self, text: str) -> Sequence[float]:
        """Return another one for every question."""
        del text
        return POOL[0].tolist()

    def get_embedding_dims(self) -> int:
        """Return the length of a vector."""
        return DIMS
