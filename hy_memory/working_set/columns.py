"""The payload fields of one user's rows as columns, and a filter tree over them as a mask.

`mask` gives what `filters.evaluate` gives row by row; a property test holds them equal. Rows
are only appended, so a column is read without a lock up to the size that a reader knows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from hy_memory.filters.tree import ATTRIBUTE, TIME_FIELDS, And, Compare, Filter, Not, Op
from hy_memory.values.point import Payload
from hy_memory.values.record import Json
from hy_memory.working_set.arrays import RowArray
from hy_memory.working_set.column_kinds import Mask, TextColumn, TimeColumn, ValuesColumn

_TEXT_COLUMNS = ("agent_id", "session_id", "source", "layer", "status")  # user_id is the same in all rows
_MOST_VALUE_COLUMNS = 64  # of caller fields that were asked for; a bound on what odd queries can cost
_NO_ATTRIBUTES: Mapping[str, Json] = {}


class Columns:
    """The columns of one user. `extend` is for one writer at a time; `mask` for everybody."""

    def __init__(self, user_id: str) -> None:
        self._user_id = user_id
        self._texts = {field: TextColumn() for field in _TEXT_COLUMNS}
        self._times = {field: TimeColumn() for field in TIME_FIELDS}
        self._tags: list[tuple[str, ...]] = []
        self._attributes: list[Mapping[str, Json]] = []
        self._with_attributes = 0
        self._values: dict[str, ValuesColumn] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, and an estimate for tags and attributes."""
        columns = (*self._texts.values(), *self._times.values(), *tuple(self._values.values()))
        # Two list slots a row; a small dict of short texts is some 400 bytes.
        return sum(column.nbytes for column in columns) + 16 * len(self._tags) + 400 * self._with_attributes

    def extend(self, payloads: Sequence[Payload]) -> None:
        """Append one row for each of `payloads`."""
        for field, column in self._texts.items():
            column.extend([getattr(payload, field) for payload in payloads])
        for field, times in self._times.items():
            times.extend([getattr(payload, field) for payload in payloads])
        self._tags.extend(payload.tags for payload in payloads)
        self._attributes.extend(payload.attributes or _NO_ATTRIBUTES for payload in payloads)
        self._with_attributes += sum(1 for payload in payloads if payload.attributes)

    def take(self, rows: RowArray) -> Columns:
        """Return new columns that hold copies of `rows` in that order."""
        taken = Columns(self._user_id)
        taken._texts = {field: column.take(rows) for field, column in self._texts.items()}
        taken._times = {field: column.take(rows) for field, column in self._times.items()}
        taken._tags = [self._tags[row] for row in rows.tolist()]
        taken._attributes = [self._attributes[row] for row in rows.tolist()]
        taken._with_attributes = sum(1 for attributes in taken._attributes if attributes)
        return taken

    def mask(self, tree: Filter, size: int) -> Mask:
        """Return which of the first `size` rows satisfy `tree`."""
        if isinstance(tree, Compare):
            return self._compare(tree, size)
        if isinstance(tree, Not):
            inner = self.mask(tree.part, size)
            return not inner if isinstance(inner, bool) else ~inner
        masks = [self.mask(part, size) for part in tree.parts]
        return _all_of(masks) if isinstance(tree, And) else _any_of(masks)

    def _compare(self, node: Compare, size: int) -> Mask:
        if node.field in self._texts:
            return self._texts[node.field].mask(node, size)
        if node.field in self._times:
            return self._times[node.field].mask(node, size)
        if node.field == "user_id":
            return self._is_mine(node)
        return self._value_column(node.field, size).mask(node, size)

    def _is_mine(self, node: Compare) -> bool:
        if node.op is Op.EXISTS:
            return node.value is True
        wanted = node.value if isinstance(node.value, tuple) else (node.value,)
        return node.op in (Op.EQ, Op.IN) and self._user_id in wanted

    def _value_column(self, field: str, size: int) -> ValuesColumn:
        """Return the column of tags or of a caller's field, made or extended to `size` rows."""
        with self._lock:
            column = self._values.get(field)
            if column is None:
                if len(self._values) >= _MOST_VALUE_COLUMNS:
                    del self._values[next(iter(self._values))]
                column = self._values[field] = ValuesColumn()
            if column.covered < size:
                read = self._reader(field)
                column.extend([read(row) for row in range(column.covered, size)])
            return column

    def _reader(self, field: str) -> Callable[[int], object]:
        if not field.startswith(ATTRIBUTE):
            return self._tags.__getitem__
        key, attributes = field[len(ATTRIBUTE) :], self._attributes
        return lambda row: attributes[row].get(key)


def _all_of(masks: Sequence[Mask]) -> Mask:
    """Return the conjunction of `masks`, True for none."""
    result: Mask = True
    for one in masks:
        if isinstance(one, bool):
            if not one:
                return False
        else:
            result = one if isinstance(result, bool) else result & one
    return result


def _any_of(masks: Sequence[Mask]) -> Mask:
    """Return the disjunction of `masks`, False for none."""
    result: Mask = False
    for one in masks:
        if isinstance(one, bool):
            if one:
                return True
        else:
            result = one if isinstance(result, bool) else result | one
    return result
