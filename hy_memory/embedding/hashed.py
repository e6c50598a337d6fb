"""The built-in embedder: hashed words and character n-grams, numpy only, no model.

It knows spelling and not meaning: inflections, typos, names and identifiers meet, synonyms do
not.  It is always there, needs no download, and is the same on every machine and in every
process.  Feature hashing after Weinberger et al., "Feature Hashing for Large Scale Multitask
Learning" (2009): each feature adds signed weights to a few coordinates, so that collisions
cancel on average.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.ports import Embedder
from hy_memory.ranking.calibration import HASHED, Calibration
from hy_memory.text.tokenize import stop_terms, tokenize

DEFAULT_DIMS = 384

_SHORTEST_GRAM, _LONGEST_GRAM = 3, 4
_COORDINATES = 8  # per feature; 4 to 16 measure alike, fewer are at the mercy of single collisions
_GRAM_SHARE = 0.6  # length of a word's n-gram part; the word itself has length 1
_STOP_WEIGHT = 0.25  # "what did she" should not make two questions alike, nor count for nothing
_SINGLE_WEIGHT = 0.75  # one Han character says less than a pair
_LONGEST_WORD = 64  # n-grams of longer "words" (data) would drown the text

_Features = tuple[NDArray[np.uint16], NDArray[np.float32]]


def _mix(value: int) -> int:
    """Return 64 well-mixed bits of a 32-bit value (the finaliser of SplitMix64)."""
    value = (value + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 31)


def _grams(word: str) -> list[str]:
    """Return the character n-grams of a word with its borders marked."""
    if len(word) < 2 or len(word) > _LONGEST_WORD:
        return []
    bounded = f"<{word}>"
    return [
        bounded[start : start + size]
        for size in range(_SHORTEST_GRAM, _LONGEST_GRAM + 1)
        for start in range(len(bounded) - size + 1)
    ]


def _add(feature: str, weight: float, dims: int, at: list[int], values: list[float]) -> None:
    """Append the signed coordinates of one feature of length `weight`."""
    bits = _mix(zlib.crc32(feature.encode("utf-8", "surrogatepass")))
    part = weight / math.sqrt(_COORDINATES)
    for _ in range(_COORDINATES):
        at.append((bits >> 1) % dims)
        values.append(part if bits & 1 else -part)
        bits = _mix(bits & 0xFFFFFFFF)


def _is_unspaced(word: str) -> bool:
    """Tell whether a term is a character or pair of a script without spaces."""
    return len(word) <= 2 and word >= "\u0e01"


@lru_cache(maxsize=16_384)  # some 12 MB when full
def _word_features(word: str, dims: int) -> _Features:
    """Return coordinates and values of one term: the term itself and its n-grams."""
    weight = _STOP_WEIGHT if word in stop_terms() else 1.0
    at: list[int] = []
    values: list[float] = []
    if _is_unspaced(word):
        _add(word, _SINGLE_WEIGHT if len(word) == 1 else 1.0, dims, at, values)
    else:
        _add(word, weight, dims, at, values)
        grams = _grams(word)
        for gram in grams:
            _add(f"#{gram}", weight * _GRAM_SHARE / math.sqrt(len(grams)), dims, at, values)
    return np.array(at, dtype=np.uint16), np.array(values, dtype=np.float32)


def _accumulate(counts: dict[str, int], dims: int) -> NDArray[np.float64]:
    """Return the sum of the terms' features, each by the square root of its count."""
    parts = [_word_features(word, dims) for word in counts]
    # Square root and not logarithm: IEEE defines it exactly, so all machines agree.
    factors = np.sqrt(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)))
    sizes = [len(at) for at, _ in parts]
    values = np.concatenate([value for _, value in parts]) * np.repeat(factors, sizes)
    total = np.bincount(np.concatenate([at for at, _ in parts]), values, minlength=dims)
    return total.astype(np.float64, copy=False)


class HashedEmbedder:
    """An embedder of words and subwords of all scripts, deterministic everywhere."""

    def __init__(self, dims: int = DEFAULT_DIMS) -> None:
        """Make an embedder of `dims` dimensions (8 to 65,536)."""
        if not 8 <= dims <= 65_536:
            raise ValueError(f"dims must be from 8 to 65536, got {dims}")
        self._dims = dims

    @property
    def name(self) -> str:
        """The name under which a ledger remembers these vectors."""
        return "hashed"

    @property
    def fingerprint(self) -> str:
        """The version of the formula; vectors of two versions cannot be compared."""
        return "1"

    @property
    def dims(self) -> int:
        """The length of a vector."""
        return self._dims

    @property
    def calibration(self) -> Calibration:
        """The curve from this embedder's cosines to scores."""
        return HASHED

    def get_embedding_dims(self) -> int:
        """Return the length of a vector."""
        return self._dims

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question: the same as of a stored text."""
        return self.embed(text)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit row per text, float32 (n, dims)."""
        return self.embed_batch(texts)

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of `text`, float32 (dims,); all zeros only for blank text."""
        counts: dict[str, int] = Counter(tokenize(text))
        if not counts:
            # Punctuation or marks only: the characters are all there is.
            counts = Counter(f"\0{character}" for character in "".join(text.split()))
        if not counts:
            return np.zeros(self._dims, dtype=np.float32)
        vector = _accumulate(counts, self._dims)
        # A running sum, because BLAS and SIMD sums round differently from machine to machine.
        norm = math.sqrt(float(np.cumsum(vector * vector)[-1]))
        if norm < 1e-9:  # every coordinate cancelled
            vector = np.zeros(self._dims)
            vector[zlib.crc32(next(iter(counts)).encode("utf-8", "replace")) % self._dims] = 1.0
            norm = 1.0
        return (vector / norm).astype(np.float32)

    def embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit row per text, float32 (n, dims)."""
        rows = np.zeros((len(texts), self._dims), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self.embed(text)
        return rows


def open_embedder(options: EmbedderOptions) -> Embedder:
    """Return the built-in embedder (entry point `hashed`), of any width from 8; 384 by default."""
    return CheckedEmbedder(HashedEmbedder(options.dims or DEFAULT_DIMS))
