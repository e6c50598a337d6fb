"""A bounded memory of vectors by text, so that no text is embedded twice in a row."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from hy_memory.ports import Embedder
from hy_memory.ranking.calibration import Calibration
from hy_memory.values.point import FloatArray

_KEPT_WHOLE = 256  # characters; of longer texts a digest is the key, so that the cache's size is bounded


class CachedEmbedder:
    """Wraps a checked embedder by a thread-safe LRU cache of `capacity` vectors.

    Documents are embedded once per call even if repeated, in batches of `batch_size`; the vectors
    of batches that succeeded are kept when a later one fails. Cached query vectors are shared and
    therefore read-only.
    """

    def __init__(self, inner: Embedder, capacity: int = 4096, batch_size: int = 64) -> None:
        self._inner = inner
        self._capacity = capacity
        self._batch_size = max(1, batch_size)
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[bool, str | bytes], FloatArray] = OrderedDict()

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """See `Embedder`."""
        return self._inner.fingerprint

    @property
    def dims(self) -> int:
        """See `Embedder`."""
        return self._inner.dims

    @property
    def calibration(self) -> Calibration:
        """See `Embedder`."""
        return self._inner.calibration

    def embed_query(self, text: str) -> FloatArray:
        """See `Embedder`; the vector is read-only."""
        key = (True, _key(text))
        vector = self._recall(key)
        if vector is None:
            vector = self._inner.embed_query(text)
            self._remember(key, vector)
        return vector

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """See `Embedder`."""
        rows = np.empty((len(texts), self.dims), dtype=np.float32)
        missing: dict[str, list[int]] = {}
        for at, text in enumerate(texts):
            vector = self._recall((False, _key(text)))
            if vector is None:
                missing.setdefault(text, []).append(at)
            else:
                rows[at] = vector
        wanted = list(missing)
        for start in range(0, len(wanted), self._batch_size):
            batch = wanted[start : start + self._batch_size]
            for text, vector in zip(batch, self._inner.embed_documents(batch), strict=True):
                rows[missing[text]] = vector
                self._remember((False, _key(text)), vector.copy())
        return rows

    def close(self) -> None:
        """Forget every vector and close the embedder behind, if it holds anything."""
        with self._lock:
            self._vectors.clear()
        close = getattr(self._inner, "close", None)
        if callable(close):
            close()

    def _recall(self, key: tuple[bool, str | bytes]) -> FloatArray | None:
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def _remember(self, key: tuple[bool, str | bytes], vector: FloatArray) -> None:
        vector.flags.writeable = False
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)


def _key(text: str) -> str | bytes:
    if len(text) <= _KEPT_WHOLE:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
