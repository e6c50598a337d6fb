"""Synthetic memories in the shape of a busy chat backend: many users of very different size.

Vectors come from heavy-tailed clusters, users from a Zipf law (a few own much, most own little),
texts from a Zipf vocabulary of which a fifth is Chinese. All from one seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hy_memory.values.point import FloatArray

DIMS = 384
USERS = 1000
SOURCES = tuple(f"app{number}" for number in range(7))
_VOCABULARY = 30_000
_CLUSTERS = 400


@dataclass(frozen=True, slots=True)
class Corpus:
    """`vectors` (n, DIMS) of unit length; `owners` (n,) user numbers; `texts` n words each."""

    vectors: FloatArray
    owners: npt.NDArray[np.int64]
    texts: list[str]

    def of(self, user: int) -> npt.NDArray[np.int64]:
        """Return the rows of one user."""
        return np.flatnonzero(self.owners == user)


def make_corpus(size: int, seed: int = 7, users: int = USERS) -> Corpus:
    """Return `size` memories of `users` users."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, users + 1) ** 0.8
    owners = rng.choice(users, size=size, p=shares / shares.sum())
    words = _vocabulary(rng)
    lengths = rng.integers(8, 31, size=size)
    picks = np.minimum(rng.zipf(1.3, size=int(lengths.sum())) - 1, _VOCABULARY - 1)
    texts, at = [], 0
    for length in lengths.tolist():
        texts.append(" ".join(words[pick] for pick in picks[at : at + length].tolist()))
        at += length
    return Corpus(make_vectors(size, rng), owners, texts)


def make_vectors(size: int, rng: np.random.Generator) -> FloatArray:
    """Return (size, DIMS) unit vectors around heavy-tailed cluster centres."""
    centres = rng.standard_normal((_CLUSTERS, DIMS), dtype=np.float32)
    vectors = np.empty((size, DIMS), dtype=np.float32)
    for start in range(0, size, 50_000):  # in parts: a million rows at once would triple the memory
        part = vectors[start : start + 50_000]
        chosen = np.minimum(rng.zipf(1.5, size=len(part)) - 1, _CLUSTERS - 1)
        part[:] = centres[chosen] + 0.7 * rng.standard_normal(part.shape, dtype=np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def make_query(corpus: Corpus, user: int, rng: np.random.Generator) -> tuple[str, FloatArray]:
    """Return a question near one of a user's memories: some of its words, and a vector beside it."""
    row = int(rng.choice(corpus.of(user)))
    words = corpus.texts[row].split()
    chosen = rng.choice(words, size=min(len(words), int(rng.integers(4, 8))), replace=False)
    vector = corpus.vectors[row] + 0.05 * rng.standard_normal(DIMS, dtype=np.float32)
    return " ".join(chosen.tolist()), (vector / np.linalg.norm(vector)).astype(np.float32)


def _vocabulary(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = []
    for _ in range(_VOCABULARY):
        if rng.random() < 0.2:
            words.append("".join(chr(code) for code in rng.integers(0x4E00, 0x9FA5, size=2).tolist()))
        else:
            words.append("".join(rng.choice(letters, size=int(rng.integers(3, 10))).tolist()))
    return words
