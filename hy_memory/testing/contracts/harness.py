"""What a conformance class needs of a backend under test: the backend, and how points get into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import EVERYTHING, Filter
from hy_memory.ports import Backend, BackendFactory, BackendOptions, KeywordIndex, Ranking
from hy_memory.testing.fakes import ListSource
from hy_memory.values.point import Point


@dataclass(frozen=True, slots=True)
class Harness:
    """An empty backend under test.

    Args:
        backend: What the factory gave.
        put: Stores points so that the next search of `backend` finds them.
        remove: Makes `backend` forget ids.
        reopen: Closes the backend and opens it again over the same data; None where nothing
            outlives the process.
    """

    backend: Backend
    put: Callable[[Sequence[Point]], None]
    remove: Callable[[Sequence[str]], None]
    reopen: Callable[[], Harness] | None = None

    @property
    def keywords(self) -> KeywordIndex:
        """The keyword leg; asserts that there is one."""
        assert self.backend.keywords is not None, f"{self.backend.name} has no keyword leg"
        return self.backend.keywords


def open_harness(
    factory: BackendFactory, options: BackendOptions, reopen: Callable[[], Harness] | None = None
) -> Harness:
    """Return a harness over a new backend.

    A backend that is fed gets points through `Fed`; any other reads them from a `ListSource`.
    """
    source = ListSource()
    backend = factory(options, source)
    if backend.fed is None:
        return Harness(backend, source.put, source.remove, reopen)
    return Harness(backend, backend.fed.upsert, backend.fed.remove, reopen)


def users(*user_ids: str, tree: Filter = EVERYTHING) -> ScopedFilter:
    """Return the scope of `user_ids`, narrowed by `tree`."""
    return scoped(user_ids, tree)


def by_id(ranking: Ranking) -> dict[str, float]:
    """Return the scores of a ranking by id, having checked its shape, order and uniqueness."""
    assert len(ranking.ids) == len(ranking.scores)
    assert len(set(ranking.ids)) == len(ranking.ids), "an id twice"
    assert np.all(np.diff(ranking.scores) <= 0), "not in order"
    assert np.all(np.isfinite(ranking.scores))
    return dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))
