"""The few calls that this backend makes of Qdrant, whichever form it has.

Everything that decides a result (ties, ceilings, filters) is written once above this port, in
`store.py`; the adapters below it, `edge.py` and `remote.py`, only translate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from hy_memory.errors import BackendError
from hy_memory.ports import ScoreArray
from hy_memory.values.point import FloatArray, IdArray, Point
from hy_memory.vectors.qdrant.filter import Clause

GRAPH_FROM = 100_000
"""Points from which a scope may be searched by graph; below, an exact scan of the scope is as fast,
and a graph would lose results of a selective filter."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseQuery:
    """The points of `where` most similar to `vector`, at most `limit`."""

    vector: FloatArray
    where: Clause
    limit: int


@dataclass(frozen=True, slots=True, eq=False)
class SparseQuery:
    """The points of `where` that hold any of `ids`, at most `limit`.

    The score is the sum, over the common ids, of value times stored weight times IDF, where IDF is
    ln(1 + (N - df + 0.5) / (df + 0.5)), counted by the engine over the points of `corpus`.
    """

    ids: IdArray
    values: FloatArray
    corpus: Clause
    where: Clause
    limit: int


@dataclass(frozen=True, slots=True)
class MemberQuery:
    """The points of `where` in any order, at most `limit`; their scores mean nothing."""

    where: Clause
    limit: int


Query: TypeAlias = DenseQuery | SparseQuery | MemberQuery


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Point ids and their scores (n,), best first; `exhausted` says that there were no more."""

    ids: list[str]
    scores: ScoreArray
    exhausted: bool


class Engine(Protocol):
    """A Qdrant store with our schema. Every call raises BackendError where Qdrant fails."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Store `points`, searchable on return."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Forget the points `ids`, known or not."""
        ...

    def clear(self) -> None:
        """Forget every point."""
        ...

    def run(self, queries: Sequence[Query]) -> list[Scored]:
        """Return the answer to each query, all of them in one call of the engine."""
        ...

    def count(self, where: Clause) -> int:
        """Return how many points `where` admits, exactly."""
        ...

    def memory_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the memory ids that the payloads of mapped points hold, by point id."""
        ...

    def every_id(self) -> Iterator[tuple[str, str | None]]:
        """Yield every point id, with the memory id that its payload holds, if it does."""
        ...

    def compact(self) -> None:
        """Reclaim what deleted points left behind, and build whatever makes large scopes fast."""
        ...

    def close(self) -> None:
        """Let go of the store; closing twice is no error."""
        ...


def refuse_unusable(points: Sequence[Point], dims: int) -> None:
    """Raise BackendError for a vector of another length than `dims` or with a value that is no number.

    Qdrant stores NaN in silence, and a point that holds one ranks anywhere.
    """
    for point in points:
        if point.vector.shape != (dims,):
            raise BackendError(f"memory {point.id} has a vector of shape {point.vector.shape}, not ({dims},)")
    if points and not np.isfinite(np.concatenate([point.vector for point in points])).all():
        bad = next(point.id for point in points if not np.isfinite(point.vector).all())
        raise BackendError(f"the vector of memory {bad} holds NaN or an infinite number; it was not stored")
