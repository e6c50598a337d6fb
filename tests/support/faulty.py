"""Real parts that count what is asked of them, and that fail, hang or talk nonsense when the test says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pytest

from hy_memory import parts, plugins
from hy_memory.errors import BackendError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import (
    Backend,
    BackendFactory,
    BackendOptions,
    Fed,
    KeywordIndex,
    Ledger,
    PointSource,
    Ranking,
    ScoreArray,
    VectorIndex,
)
from hy_memory.reranking.options import RerankerOptions
from hy_memory.values.point import FloatArray, IdArray, Point
from tests.support.embedding import DottedEmbedding

Act = Callable[[Callable[[], Any]], Any]
"""What happens in place of a call, which it is given: `lambda call: call()` does it."""


class Faults:
    """Which parts are broken now ("vectors", "keywords", "feed"), and how many calls there were.

    `acting` breaks one place of a part in a way of the test's own: "vectors.search", "vectors.score",
    "keywords.search", "keywords.score", "schema", "intention", "embedder", "rerank", "ledger.NAME".
    `provider` is the real backend behind.
    """

    def __init__(self, provider: str = "memory") -> None:
        self.broken: frozenset[str] = frozenset()
        self.calls = 0
        self._provider = provider
        self._acts: Mapping[str, Act] = {}

    def called(self, part: str) -> None:
        """Count a call of `part`; raise where it is broken."""
        self.calls += 1
        if part in self.broken:
            raise BackendError(f"{part} were told to fail")

    def through(self, place: str, call: Callable[[], Any]) -> Any:
        """Make `call` as `place` is told to."""
        act = self._acts.get(place)
        return call() if act is None else act(call)

    @contextmanager
    def breaking(self, *parts: str) -> Generator[None]:
        """Break `parts` for a while."""
        self.broken = frozenset(parts)
        try:
            yield
        finally:
            self.broken = frozenset()

    @contextmanager
    def acting(self, place: str, act: Act) -> Generator[None]:
        """Let `act` stand for `place` for a while."""
        self._acts = {place: act}
        try:
            yield
        finally:
            self._acts = {}

    def __call__(self, options: BackendOptions, source: PointSource) -> Backend:
        """Return the real backend behind these faults: a `BackendFactory`."""
        opener = cast("BackendFactory", plugins.load(plugins.BACKENDS[self._provider]))
        inner = opener(options, source)
        return Backend(
            "faulty",
            _Vectors(inner.vectors, self),
            _Keywords(inner.keywords, self) if inner.keywords else None,
            _Feed(inner.fed, self) if inner.fed and self._provider == "memory" else inner.fed,
            (inner,),
        )

    def open_ledger(self, *args: object, **kwargs: object) -> Ledger:
        """Return the real ledger behind these faults: what `plugins.LEDGER` names."""
        opener = cast("Callable[..., Ledger]", plugins.load(plugins.LEDGER))
        return cast("Ledger", _Ledger(opener(*args, **kwargs), self))

    def open_reranker(self, options: RerankerOptions) -> FaultyReranker:
        """Return a reranker behind these faults: a `RerankerFactory`."""
        del options
        return FaultyReranker(self)


class _Vectors:
    def __init__(self, inner: VectorIndex, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        self._faults.called("vectors")
        place = _bucket_of(where) or "vectors.search"
        return self._faults.through(place, lambda: self._inner.search(vector, where, top_k))

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        self._faults.called("vectors")
        return self._faults.through("vectors.score", lambda: self._inner.score(vector, ids, where))

    def count(self, where: ScopedFilter) -> int:
        return self._inner.count(where)


def _bucket_of(where: ScopedFilter) -> str | None:
    """Return whose recall this is, where it is a bucket's beside `normal`."""
    text = str(where.tree)
    if "l2_fact" in text:
        return None
    return next((name for layer, name in _BUCKETS.items() if layer in text), None)


_BUCKETS = {"l6_schema": "schema", "l7_intention": "intention"}


class _Keywords:
    def __init__(self, inner: KeywordIndex, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        self._faults.called("keywords")
        return self._faults.through("keywords.search", lambda: self._inner.search(terms, where, top_k))

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        self._faults.called("keywords")
        return self._faults.through("keywords.score", lambda: self._inner.score(terms, ids, where))


class _Ledger:
    """Every verb of the ledger is a place of its own, "ledger.records" for example."""

    def __init__(self, inner: Ledger, faults: Faults) -> None:
        self._inner, self._faults = inner, faults

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._inner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._faults.through(f"ledger.{name}", lambda: verb(*args, **kwargs))

        return call


class FaultyEmbedding(DottedEmbedding):
    """The dotted embedder, whose questions go through the place "embedder"."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def embed_query(self, text: str) -> Any:
        """Return the vector of a question."""
        return self._faults.through("embedder", lambda: self.embed_batch([text])[0])


class FaultyReranker:
    """Judges by length, through the place "rerank"."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Return a judgement of each text: the longest is the best."""
        del query
        return self._faults.through("rerank", lambda: [len(text) / 1000 for text in texts])


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
ledger_factory: Callable[..., Ledger] | None = None
reranker_factory: Callable[[RerankerOptions], FaultyReranker] | None = None


@contextmanager
def faulty_parts(provider: str = "memory") -> Generator[Faults]:
    """Let clients that are opened meanwhile have faulty parts throughout; yield what breaks them."""
    faults = Faults(provider)
    here = sys.modules[__name__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plugins.BACKENDS, "faulty", PATH)
        patch.setattr(here, "factory", faults)
        patch.setattr(here, "ledger_factory", faults.open_ledger)
        patch.setattr(here, "reranker_factory", faults.open_reranker)
        patch.setattr(parts, "LEDGER", f"{__name__}:ledger_factory")
        patch.setattr(parts, "LOCAL_RERANKER", f"{__name__}:reranker_factory")
        yield faults
