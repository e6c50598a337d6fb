"""One user's vectors as rows of a matrix, and FAISS's exact inner products with them.

FAISS's kernels and not a matrix product: they sum each row in the same order wherever it stands,
so equal rows have equal scores, and from some 20,000 rows on they are twice as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import faiss
import numpy as np
import numpy.typing as npt

from hy_memory.errors import BackendError, InvalidArgumentError
from hy_memory.values.point import FloatArray, Point
from hy_memory.working_set.arrays import GrowingArray, RowArray
from hy_memory.working_set.rows import Step

# Generated wrappers of FAISS's C++ functions, which its type stubs leave out.
_at: Callable[[npt.NDArray[np.generic]], object] = faiss.swig_ptr  # pyright: ignore[reportAttributeAccessIssue]
_products: Callable[..., None] = faiss.fvec_inner_products_ny  # pyright: ignore[reportAttributeAccessIssue]


class Matrix:
    """Unit vectors, a row each (n, dims) float32; shared by the versions of a user's rows."""

    def __init__(self, rows: FloatArray) -> None:
        self._rows = GrowingArray(rows)
        self._dims = rows.shape[1]

    @classmethod
    def build(cls, points: Sequence[Point], dims: int) -> Matrix:
        """Return the vectors of `points`, one row each; raises BackendError for one of another length."""
        return cls(_stacked(points, dims))

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return self._rows.nbytes

    def follow(self, step: Step, size: int) -> Matrix:
        """Return the matrix after `step` of rows that were `size` many: the same one, unless rows moved."""
        matrix = self if step.kept is None else Matrix(self._rows.head(size)[step.kept])
        if step.added:
            matrix._rows.extend(_stacked(step.added, self._dims), len(step.added))
        return matrix

    def cosines(self, vector: FloatArray, size: int) -> FloatArray:
        """Return the inner product of the unit `vector` (dims,) with each of the first `size` rows."""
        query = self._checked(vector)
        scores = np.empty(size, dtype=np.float32)
        if size:
            _products(_at(scores), _at(query), _at(self._rows.head(size)), self._dims, size)
        return scores

    def cosines_of(self, vector: FloatArray, places: RowArray) -> FloatArray:
        """Return the inner product of the unit `vector` (dims,) with each row of `places` (n,)."""
        query = self._checked(vector)
        scores = np.empty(len(places), dtype=np.float32)
        if len(places):
            # copied first: FAISS's kernel for picked rows starts OpenMP threads, 12 ms on a busy machine
            rows = self._rows.head(int(places.max()) + 1)[places]
            _products(_at(scores), _at(query), _at(rows), self._dims, len(places))
        return scores

    def _checked(self, vector: FloatArray) -> FloatArray:
        """Return `vector` as the kernels need it; they read raw memory and check nothing."""
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if query.shape != (self._dims,):
            raise InvalidArgumentError("vector", query.shape, f"give a vector of {self._dims} numbers")
        return query


def _stacked(points: Sequence[Point], dims: int) -> FloatArray:
    rows = np.empty((len(points), dims), dtype=np.float32)
    for row, point in enumerate(points):
        if point.vector.shape != (dims,):
            raise BackendError(
                f"the vector of memory {point.id!r} has {point.vector.size} numbers and not {dims}: "
                "it was made by another embedder; run: hy-memory reembed"
            )
        rows[row] = point.vector
    return rows
