"""A bounded memory of texts' token vectors, in eight bits, so that not every search reads a text again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_LEVELS = 127  # of a signed byte, the same on both sides of 0
_OVERHEAD = 400  # bytes of Python's objects around the numbers of one text


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The vectors of a text's tokens: `levels` int8 (tokens, width) times `scales` float32 (tokens,)."""

    levels: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]

    @classmethod
    def of(cls, vectors: npt.NDArray[np.float32]) -> TokenVectors:
        """Return `vectors` (tokens, width) rounded, each by its largest number."""
        scales = (np.abs(vectors).max(axis=1) / _LEVELS).astype(np.float32)
        return cls(np.rint(vectors / scales[:, None]).astype(np.int8), scales)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.levels.nbytes + self.scales.nbytes + _OVERHEAD

    def best(self, asked: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (n,): of each of `asked` (n, width) its highest product with any of the tokens."""
        return ((asked @ self.levels.astype(np.float32).T) * self.scales).max(axis=1)


class TokenCache:
    """Token vectors by text, those used last, within `capacity` bytes. Threads share it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, TokenVectors] = OrderedDict()
        self._size = 0

    @property
    def nbytes(self) -> int:
        """Bytes held now."""
        return self._size

    def get(self, text: str) -> TokenVectors | None:
        """Return what is kept of `text`, if anything."""
        key = _key(text)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, text: str, vectors: TokenVectors) -> None:
        """Keep `vectors`, and let go of those used longest ago that no longer fit."""
        key = _key(text)
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = vectors
            self._size += vectors.nbytes - (before.nbytes if before else 0)
            while self._size > self._capacity:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.nbytes


def _key(text: str) -> bytes:
    """Return a digest: the cache holds no text, and a key is as small for a long one."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
