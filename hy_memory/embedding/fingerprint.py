"""What tells two model files apart without reading them whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

_EDGE = 1 << 16  # bytes; the tail of a model file holds weights, its head the graph or the index


def fingerprint(*files: Path) -> str:
    """Return 16 hex digits of the sizes and both ends of `files`, in the given order."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        size = file.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with file.open("rb") as stream:
            digest.update(stream.read(_EDGE))
            stream.seek(max(0, size - _EDGE))
            digest.update(stream.read(_EDGE))
    return digest.hexdigest()
