"""A real backend that counts what is asked of it, and whose parts fail when the test says so."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from hy_memory.errors import BackendError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import (
    Backend,
    BackendOptions,
    Fed,
    KeywordIndex,
    PointSource,
    Ranking,
    ScoreArray,
    VectorIndex,
)
from hy_memory.values.point import FloatArray, IdArray, Point
from hy_memory.vectors.memory import open_backend


class Faults:
    """Which parts are broken now ("vectors", "keywords", "feed"), and how many calls there were."""

    def __init__(self) -> None:
        self.broken: frozenset[str] = frozenset()
        self.calls = 0

    def called(self, part: str) -> None:
        """Count a call of `part`; raise where it is broken."""
        self.calls += 1
        if part in self.broken:
            raise BackendError(f"{part} were told to fail")

    @contextmanager
    def breaking(self, *parts: str) -> Generator[None]:
        """Break `parts` for a while."""
        self.broken = frozenset(parts)
        try:
            yield
        finally:
            self.broken = frozenset()

    def __call__(self, options: BackendOptions, source: PointSource) -> Backend:
        """Return the reference backend behind these faults: a `BackendFactory`."""
        inner = open_backend(options, source)
        assert inner.keywords is not None
        assert inner.fed is not None
        return Backend(
            "faulty", _Vectors(inner.vectors, self), _Keywords(inner.keywords, self), _Feed(inner.fed, self)
        )


class _Vectors:
    def __init__(self, inner: VectorIndex, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        self._faults.called("vectors")
        return self._inner.search(vector, where, top_k)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        self._faults.called("vectors")
        return self._inner.score(vector, ids, where)

    def count(self, where: ScopedFilter) -> int:
        return self._inner.count(where)


class _Keywords:
    def __init__(self, inner: KeywordIndex, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        self._faults.called("keywords")
        return self._inner.search(terms, where, top_k)

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        self._faults.called("keywords")
        return self._inner.score(terms, ids, where)


class _Feed:
    volatile = True

    def __init__(self, inner: Fed, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def upsert(self, points: Sequence[Point]) -> None:
        self._faults.called("feed")
        self._inner.upsert(points)

    def remove(self, ids: Sequence[str]) -> None:
        self._faults.called("feed")
        self._inner.remove(ids)

    def clear(self) -> None:
        self._inner.clear()

    def ids(self) -> Iterable[str]:
        return self._inner.ids()


factory: Faults | None = None
"""What the backend name "faulty" opens; the fixture `faults` sets it for one test."""
PATH = f"{__name__}:factory"
