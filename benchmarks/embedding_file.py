"""An embedder whose vectors are kept in a file, so that repeated measurements embed each text once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hy_memory.ports import Embedder
from hy_memory.values.point import FloatArray


class FiledEmbedder:
    """An `embedding_service` around `inner`; vectors live in `path` (.npz) by kind and hash of the text."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        self.name, self.fingerprint, self.calibration = inner.name, inner.fingerprint, inner.calibration
        self._inner, self._path = inner, path
        self._known: dict[str, FloatArray] = {}
        self._saved = 0
        if path.is_file():
            with np.load(path) as file:
                self._known = dict(zip(file["keys"].tolist(), file["vectors"], strict=True))
        self._saved = len(self._known)

    def get_embedding_dims(self) -> int:
        return self._inner.dims

    def embed_batch(self, texts: Sequence[str]) -> FloatArray:
        missing = list(dict.fromkeys(text for text in texts if _key("p", text) not in self._known))
        for start in range(0, len(missing), 64):
            part = missing[start : start + 64]
            for text, vector in zip(part, self._inner.embed_documents(part), strict=True):
                self._known[_key("p", text)] = vector
            if len(self._known) - self._saved >= 1000:
                self.save()
        return np.stack([self._known[_key("p", text)] for text in texts])

    def embed_query(self, text: str) -> FloatArray:
        key = _key("q", text)
        if key not in self._known:
            self._known[key] = self._inner.embed_query(text)
        return self._known[key]

    def save(self) -> None:
        """Write what is new; replaced in one step, so that an interrupted run loses nothing."""
        if len(self._known) == self._saved:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".tmp.npz")
        np.savez(fresh, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        os.replace(fresh, self._path)
        self._saved = len(self._known)


def _key(kind: str, text: str) -> str:
    return kind + hashlib.sha1(text.encode("utf-8", "surrogatepass")).hexdigest()
