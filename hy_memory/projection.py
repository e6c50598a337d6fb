"""Keeping a fed projection equal to the ledger, by replaying the change log.

What is replayed is not what a change said but what the ledger holds *now* of the memories it
names: so replaying twice, late, or after a crash ends in the same state.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import Fed, KeywordIndex, Ledger, Ranking, ScoreArray, VectorIndex
from hy_memory.values.point import FloatArray, IdArray

_BATCH = 1000  # changes replayed at once: a few MB of vectors, a fraction of a second of work


@runtime_checkable
class Volatile(Protocol):
    """A fed index that ends with its process: the ledger cannot remember for it how far it was fed."""

    volatile: Literal[True]


@runtime_checkable
class Formed(Protocol):
    """A fed index that names the form in which it keeps points: where that changes, all are fed anew."""

    form: str


class Feeder:
    """Brings one fed projection up to date with the ledger."""

    def __init__(self, name: str, fed: Fed, ledger: Ledger) -> None:
        self.name = f"{name}:{fed.form}" if isinstance(fed, Formed) else name
        self._fed = fed
        self._ledger = ledger
        self._is_volatile = isinstance(fed, Volatile)
        self._position = 0  # of a volatile one
        self._seen: int | None = None
        self._lock = threading.Lock()

    def catch_up(self, progress: Callable[[int], None] | None = None) -> None:
        """Replay everything the projection has not seen; cheap when there is nothing.

        `progress` is told the sequence number after each batch. Raises what the projection raises;
        what was replayed until then stays, the rest is replayed by the next call.
        """
        freshness = self._ledger.freshness()
        if freshness == self._seen:
            return
        with self._lock, self._ledger.feeding(self.name):
            cursor = self._cursor()
            while changes := self._ledger.log(cursor, _BATCH):
                self._replay(tuple(dict.fromkeys(change.memory_id for change in changes)))
                cursor = changes[-1].seq
                self._set_cursor(cursor)
                if progress is not None:
                    progress(cursor)
            # read before the replay: whatever came meanwhile differs from it and is seen next time
            self._seen = freshness

    def rebuild(self, progress: Callable[[int], None] | None = None) -> None:
        """Empty the projection and fill it anew from the ledger."""
        with self._lock, self._ledger.feeding(self.name):
            self._fed.clear()
            self._set_cursor(0)
            self._seen = None
        self.catch_up(progress)

    def differences(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the ids that the projection lacks, and those that it has and should not have."""
        held = frozenset(self._fed.ids())
        wanted: set[str] = set()
        for user_id in self._ledger.users():
            wanted.update(point.id for point in self._ledger.points(user_id).upserted)
        return frozenset(wanted - held), frozenset(held - wanted)

    def repair(self, ids: Sequence[str]) -> None:
        """Make the projection agree with the ledger about `ids`."""
        with self._lock, self._ledger.feeding(self.name):
            for start in range(0, len(ids), _BATCH):
                self._replay(tuple(ids[start : start + _BATCH]))

    def _cursor(self) -> int:
        """Return where to go on; at the start again where a folder was lost and nothing is held."""
        if self._is_volatile:
            return self._position
        cursor = self._ledger.cursor(self.name)
        if cursor and self._seen is None and next(iter(self._fed.ids()), None) is None:
            return 0
        return cursor

    def _set_cursor(self, seq: int) -> None:
        if self._is_volatile:
            self._position = seq
        else:
            self._ledger.set_cursor(self.name, seq)

    def _replay(self, ids: tuple[str, ...]) -> None:
        points = self._ledger.searchable(ids)
        gone = [one for one in ids if one not in points]
        if gone:
            self._fed.remove(gone)
        if points:
            self._fed.upsert(list(points.values()))


@dataclass(frozen=True, slots=True)
class FreshVectors:
    """A vector leg that is caught up before each search, so that it shows other processes' writes."""

    inner: VectorIndex
    feeder: Feeder

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Search after catching up."""
        self.feeder.catch_up()
        return self.inner.search(vector, where, top_k)

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score as things stand: the search just before has caught up."""
        return self.inner.score(vector, ids, where)

    def count(self, where: ScopedFilter) -> int:
        """Count after catching up."""
        self.feeder.catch_up()
        return self.inner.count(where)


@dataclass(frozen=True, slots=True)
class FreshKeywords:
    """A keyword leg that is caught up before each search."""

    inner: KeywordIndex
    feeder: Feeder

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """Search after catching up."""
        self.feeder.catch_up()
        return self.inner.search(terms, where, top_k)

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """Score as things stand."""
        return self.inner.score(terms, ids, where)
