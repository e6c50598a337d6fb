"""An array that grows at its end while readers look at its head."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item", bound=np.generic)

BoolArray = npt.NDArray[np.bool_]
RowArray = npt.NDArray[np.int64]


class GrowingArray(Generic[Item]):
    """Rows that are only ever appended, by one writer at a time.

    What `head(n)` returned stays valid: rows below `n` never change, also when the array moves.
    """

    def __init__(self, rows: npt.NDArray[Item]) -> None:
        """Take over `rows`; the caller must not write to them afterwards."""
        self._data = rows
        self._size = len(rows)

    @property
    def nbytes(self) -> int:
        """Bytes in use, spare room left out: memory that was never written costs nothing."""
        return self._size * (self._data.nbytes // max(1, len(self._data)))

    def head(self, size: int) -> npt.NDArray[Item]:
        """Return the first `size` rows, a view."""
        return self._data[:size]

    def extend(self, rows: npt.ArrayLike, count: int) -> None:
        """Append `rows`, which are `count` many."""
        size = self._size + count
        if size > len(self._data):
            # Half as much again: appends stay constant time, and at most a third is spare.
            room: tuple[Any, ...] = (max(16, size + size // 2), *self._data.shape[1:])
            moved = np.empty(room, dtype=self._data.dtype)
            moved[: self._size] = self._data[: self._size]
            self._data = moved
        self._data[self._size : size] = rows
        self._size = size
