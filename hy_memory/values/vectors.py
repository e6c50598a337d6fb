"""Vectors that callers bring: checked by name, brought to unit length."""

from __future__ import annotations

import numpy as np

from hy_memory.errors import InvalidArgumentError
from hy_memory.values.point import FloatArray


def unit_rows(name: str, value: object, count: int, dims: int) -> FloatArray:
    """Return (count, dims) float32 rows of unit length.

    Raises InvalidArgumentError for another shape, NaN, infinite or all-zero rows.
    """
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused below
            rows = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            name, type(value).__name__, "give lists of numbers, all of one length"
        ) from error
    if rows.shape != (count, dims):
        raise InvalidArgumentError(
            name, f"shape {rows.shape}", f"give {count} × {dims} numbers: {dims} is this store's size"
        )
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    if not np.isfinite(lengths).all() or (lengths == 0.0).any():
        raise InvalidArgumentError(name, "NaN, infinite or all zero", "give finite numbers, not all zero")
    return np.ascontiguousarray(rows / lengths, dtype=np.float32)
