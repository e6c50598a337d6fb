"""The wall behind every embedder: whatever passes is finite, of the right shape and of unit length."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hy_memory.errors import EmbeddingError, HyMemoryError
from hy_memory.ranking.calibration import Calibration
from hy_memory.text.normalize import repair
from hy_memory.values.point import FloatArray

_ZERO = 1e-12
"""A row whose largest component is smaller holds no direction: failed providers answer zeros."""
_PLAIN = 1e-18
"""Rows whose squared length lies between this and its inverse hold no zero row, NaN, or too large number."""


class RawEmbedder(Protocol):
    """An embedder before the wall: any table of numbers, any length of row, any exception."""

    @property
    def name(self) -> str:
        """See `Embedder`."""
        ...

    @property
    def fingerprint(self) -> str:
        """See `Embedder`."""
        ...

    @property
    def dims(self) -> int:
        """See `Embedder`."""
        ...

    @property
    def calibration(self) -> Calibration:
        """See `Embedder`."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return one row per text."""
        ...

    def embed_query(self, text: str) -> npt.ArrayLike:
        """Return one row."""
        ...


class CheckedEmbedder:
    """Wraps a provider: its answers are checked and normalised, its exceptions become EmbeddingError.

    Messages name the provider and the position of a text in the call, never the text. Lone
    surrogates and NUL, which many providers cannot take, reach it as U+FFFD.
    """

    def __init__(self, raw: RawEmbedder) -> None:
        self._raw = raw

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._raw.name

    @property
    def fingerprint(self) -> str:
        """See `Embedder`."""
        return self._raw.fingerprint

    @property
    def dims(self) -> int:
        """See `Embedder`."""
        with translated(self.name):
            return self._raw.dims

    @property
    def calibration(self) -> Calibration:
        """See `Embedder`."""
        return self._raw.calibration

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """See `Embedder`."""
        dims = self.dims
        if not texts:
            return np.empty((0, dims), dtype=np.float32)
        with translated(self.name):
            answer = self._raw.embed_documents([_printable(text) for text in texts])
        return _unit_rows(_table(answer, self.name), len(texts), dims, self.name)

    def embed_query(self, text: str) -> FloatArray:
        """See `Embedder`."""
        dims = self.dims
        with translated(self.name):
            answer = self._raw.embed_query(_printable(text))
        row = _table(answer, self.name)
        # nearly always; the rest is looked at closely
        if row.shape == (dims,) and _PLAIN < (squared := float(np.dot(row, row))) < 1 / _PLAIN:
            return (row / math.sqrt(squared)).astype(np.float32)
        # Some services answer a single text with a table of one row.
        return _unit_rows(row if row.ndim == 2 else row[None, :], 1, dims, self.name)[0]

    def close(self) -> None:
        """Close the provider, if it holds anything."""
        close = getattr(self._raw, "close", None)
        if callable(close):
            close()


def checked(embedder: RawEmbedder) -> CheckedEmbedder:
    """Return `embedder` behind the wall; one that stands behind it already is returned as it is."""
    return embedder if isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)


@contextmanager
def translated(name: str) -> Generator[None]:
    """Turn whatever the provider `name` raises into EmbeddingError; this package's own errors pass."""
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:
        # The provider's own words may quote the text; they stay in the chained exception.
        raise EmbeddingError(f"the embedder {name!r} raised {type(error).__name__}; see the cause") from error


def _printable(text: str) -> str:
    return repair(text).replace("\0", "\ufffd")


def _table(answer: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return `answer` as float64: float32 would overflow on the way to unit length."""
    try:
        return np.atleast_1d(np.asarray(answer, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingError(
            f"the embedder {name!r} answered with {type(answer).__name__} that is no table of numbers with "
            f"rows of one length"
        ) from error


def _unit_rows(table: npt.NDArray[np.float64], count: int, dims: int, name: str) -> FloatArray:
    if table.ndim != 2 or len(table) != count:
        rows = len(table) if table.ndim == 2 else f"an array of shape {table.shape}"
        raise EmbeddingError(f"the embedder {name!r} answered {rows} where {count} vectors were due")
    if table.shape[1] != dims:
        raise EmbeddingError(
            f"the embedder {name!r} answered vectors of {table.shape[1]} numbers, {dims} were due; set "
            f"MEMORY_EMBEDDING_DIMS={table.shape[1]} or choose a model that makes {dims}"
        )
    largest = np.abs(table).max(axis=1)  # NaN and infinity show in the largest component
    bad = np.flatnonzero(~np.isfinite(largest) | (largest < _ZERO))
    if len(bad):
        at = int(bad[0])
        what = "all zeros" if largest[at] < _ZERO else "NaN or infinite"
        raise EmbeddingError(
            f"the embedder {name!r} answered a vector that is {what} for text {at} of {count}, counted from 0"
        )
    scaled = table / largest[:, None]  # first, so that squares neither overflow nor vanish
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return (scaled / lengths[:, None]).astype(np.float32)
