"""Which points a user has, in rows: a row is written once and dies once, ids and fields follow it.

Each change makes a new `Rows`; all versions share one append-only `_Table`. An updated point gets
a new row and its old one dies; when a quarter is dead, the living move to a new table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hy_memory.filters.tree import Filter
from hy_memory.values.point import Changes, Point
from hy_memory.working_set.arrays import BoolArray, RowArray
from hy_memory.working_set.columns import Columns
from hy_memory.working_set.latest import Latest

# Below it, moving saves too little to be worth a copy.
_FEWEST_DEAD = 256
# Python's share of a row: an id of 36 characters, its place in a list, its entry in a dict.
_BYTES_PER_ROW = 210


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What the versions of one user's rows share."""

    columns: Columns
    ids: list[str]
    row_of: dict[str, int]
    replaced: dict[int, int]
    """Row to the row that held the same id before: how a reader of an older version finds its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """From one version to the next, for arrays kept beside the rows.

    When `kept` is not None the rows moved: row i is what was row `kept[i]`. After that the
    points `added` were appended.
    """

    rows: Rows
    kept: RowArray | None
    added: Sequence[Point]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """One version of one user's rows. `alive` is None while all `size` rows live; `count` do."""

    table: _Table
    size: int
    alive: BoolArray | None
    count: int
    latest: Latest[BoolArray | None] = field(default_factory=Latest["BoolArray | None"])

    @classmethod
    def build(cls, points: Sequence[Point]) -> Rows:
        """Return rows of `points`, all of one user, with ids that differ."""
        user_id = points[0].payload.user_id if points else ""
        table = _Table(Columns(user_id), [], {}, {})
        _append(table, points)
        return cls(table, len(points), None, len(points))

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated for what Python keeps."""
        return self.table.columns.nbytes + _BYTES_PER_ROW * self.size

    @property
    def ids(self) -> list[str]:
        """The id of each row; longer than `size` when a newer version exists."""
        return self.table.ids

    def find(self, ids: Sequence[str]) -> RowArray:
        """Return the living row of each of `ids` (n,), -1 for an unknown one."""
        row_of, replaced = self.table.row_of, self.table.replaced
        found = [row_of.get(one, -1) for one in ids]
        if len(self.table.ids) > self.size:
            for place, newest in enumerate(found):
                row = newest
                while row >= self.size:
                    row = replaced.get(row, -1)
                found[place] = row
        rows = np.array(found, dtype=np.int64)
        if self.alive is not None and self.size:
            rows[~self.alive[rows]] = -1
        return rows

    def admitted(self, tree: Filter) -> BoolArray | None:
        """Return which rows live and satisfy `tree` (size,), None when all of them do; not to be changed."""
        # compared by identity (see filters.tree)
        return self.latest.of(tree, lambda: self._admitted(tree))

    def _admitted(self, tree: Filter) -> BoolArray | None:
        mask = self.table.columns.mask(tree, self.size)
        if not isinstance(mask, bool):
            return mask if self.alive is None else mask & self.alive
        return self.alive if mask else np.zeros(self.size, dtype=np.bool_)

    def advance(self, changes: Changes) -> Step:
        """Return the next version; only the newest version may be advanced, by one thread at a time."""
        added = tuple({point.id: point for point in changes.upserted}.values())
        if not self.size and added:
            return Step(Rows.build(added), np.empty(0, dtype=np.int64), added)
        row_of = self.table.row_of
        gone = [row_of.pop(point_id) for point_id in dict.fromkeys(changes.removed) if point_id in row_of]
        gone += [row_of[point.id] for point in added if point.id in row_of]
        if not added and not gone:
            return Step(self, None, ())
        alive = self._without(gone)
        dead = self.size - self.count + len(gone)
        if alive is not None and dead > max(_FEWEST_DEAD, self.size // 4):
            return self._move(np.flatnonzero(alive), added)
        size = self.size + len(added)
        if alive is not None:
            alive = np.concatenate([alive, np.ones(len(added), dtype=np.bool_)])
        _append(self.table, added)
        return Step(Rows(self.table, size, alive, self.count - len(gone) + len(added)), None, added)

    def _without(self, gone: Sequence[int]) -> BoolArray | None:
        if not gone:
            return self.alive
        alive = np.ones(self.size, dtype=np.bool_) if self.alive is None else self.alive.copy()
        alive[gone] = False
        return alive

    def _move(self, kept: RowArray, added: Sequence[Point]) -> Step:
        ids = [self.table.ids[row] for row in kept.tolist()]
        table = _Table(self.table.columns.take(kept), ids, {one: row for row, one in enumerate(ids)}, {})
        _append(table, added)
        count = len(kept) + len(added)
        return Step(Rows(table, count, None, count), kept, added)


def _append(table: _Table, points: Sequence[Point]) -> None:
    """Add a row for each of `points`; the order of the writes is what readers without a lock rely on."""
    first = len(table.ids)
    table.columns.extend([point.payload for point in points])
    table.ids.extend(point.id for point in points)
    for row, point in enumerate(points, start=first):
        before = table.row_of.get(point.id)
        if before is not None:
            table.replaced[row] = before
        table.row_of[point.id] = row
