"""The three kinds of payload column: one text, one moment, any number of values of any type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hy_memory.filters.tree import Compare, Op, Scalar
from hy_memory.working_set.arrays import BoolArray, GrowingArray, RowArray

Mask: TypeAlias = BoolArray | bool
"""Which rows satisfy a filter: True for all of them, False for none; most filters give one of these."""

# Up to here, comparing once for each wanted code is faster than looking every row's code up.
_FEW_CODES = 4


class TextColumn:
    """A field that holds one text in every row: a code for each distinct text, an int32 a row."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._codes: GrowingArray[np.int32] = GrowingArray(np.empty(0, dtype=np.int32))

    @property
    def nbytes(self) -> int:
        """Bytes of codes and an estimate for the texts, which are ids of some 40 characters."""
        return self._codes.nbytes + 200 * len(self._code_of)

    def extend(self, texts: Sequence[str]) -> None:
        """Append a row for each of `texts`."""
        code_of = self._code_of
        self._codes.extend([code_of.setdefault(text, len(code_of)) for text in texts], len(texts))

    def take(self, rows: RowArray) -> TextColumn:
        """Return a new column of `rows`, without texts that no row has any more."""
        texts = list(self._code_of)
        taken = TextColumn()
        taken.extend([texts[code] for code in self._codes.head(int(rows.max(initial=-1)) + 1)[rows].tolist()])
        return taken

    def mask(self, node: Compare, size: int) -> Mask:
        """Return which of the first `size` rows satisfy `node`."""
        if node.op is Op.EXISTS:
            return node.value is True
        # Texts that another thread adds from here on are in none of these rows.
        known = len(self._code_of)
        wanted = self._wanted(node, known)
        if not wanted or len(wanted) == known:
            return len(wanted) == known
        codes = self._codes.head(size)
        if len(wanted) > _FEW_CODES:
            table = np.zeros(known, dtype=np.bool_)
            table[wanted] = True
            return table[codes]
        result = np.zeros(size, dtype=np.bool_)
        for code in wanted:
            result |= codes == code
        return result

    def _wanted(self, node: Compare, known: int) -> list[int]:
        if node.op not in (Op.EQ, Op.IN):
            return []
        values = node.value if isinstance(node.value, tuple) else (node.value,)
        codes = {self._code_of.get(value, -1) for value in values if isinstance(value, str)}
        return [code for code in codes if 0 <= code < known]


class TimeColumn:
    """A field that holds epoch seconds, or nothing, which is NaN here."""

    def __init__(self) -> None:
        self._times: GrowingArray[np.float64] = GrowingArray(np.empty(0, dtype=np.float64))
        self._is_used = False

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self._times.nbytes

    def extend(self, times: Sequence[float | None]) -> None:
        """Append a row for each of `times`."""
        self._is_used = self._is_used or any(one is not None for one in times)
        self._times.extend([math.nan if one is None else one for one in times], len(times))

    def take(self, rows: RowArray) -> TimeColumn:
        """Return a new column of `rows`."""
        taken = TimeColumn()
        taken._times = GrowingArray(self._times.head(int(rows.max(initial=-1)) + 1)[rows])
        taken._is_used = self._is_used
        return taken

    def mask(self, node: Compare, size: int) -> Mask:
        """Return which of the first `size` rows satisfy `node`."""
        if not self._is_used:
            return node.op is Op.EXISTS and node.value is not True
        return compare_numbers(self._times.head(size), node)


class ValuesColumn:
    """Tags, or a caller's own field: any number of scalars in a row, each with its type.

    One entry (row, code, number) for each value; texts and truth values have NaN for a number.
    Numbers are ordered as float64: integers beyond ±2^53 are rounded in `gt gte lt lte`.
    """

    def __init__(self) -> None:
        self.covered = 0
        # The flag keeps True and 1, which Python takes for the same key, apart.
        self._code_of: dict[tuple[bool, Scalar], int] = {}
        self._rows: GrowingArray[np.int32] = GrowingArray(np.empty(0, dtype=np.int32))
        self._codes: GrowingArray[np.int32] = GrowingArray(np.empty(0, dtype=np.int32))
        self._numbers: GrowingArray[np.float64] = GrowingArray(np.empty(0, dtype=np.float64))
        self._entries = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and an estimate for the distinct values."""
        return 16 * self._entries + 200 * len(self._code_of)

    def extend(self, held: Sequence[object]) -> None:
        """Append a row for each of `held`: a scalar, a list of values, or something no filter meets."""
        rows: list[int] = []
        codes: list[int] = []
        numbers: list[float] = []
        code_of = self._code_of
        for row, value in enumerate(held, start=self.covered):
            if value is None or value == ():
                continue
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, str | int | float | bool):
                    rows.append(row)
                    codes.append(code_of.setdefault((isinstance(one, bool), one), len(code_of)))
                    numbers.append(math.nan if isinstance(one, str | bool) else to_float(one))
        self._rows.extend(rows, len(rows))
        self._codes.extend(codes, len(rows))
        self._numbers.extend(numbers, len(rows))
        # In this order: a mask being made meanwhile must not see an entry of a row beyond `covered`.
        self.covered += len(held)
        self._entries += len(rows)

    def mask(self, node: Compare, size: int) -> BoolArray:
        """Return which of the first `size` rows, all covered, satisfy `node`."""
        entries, covered = self._entries, self.covered
        rows = self._rows.head(entries)
        having = np.zeros(covered, dtype=np.bool_)
        if node.op is Op.EXISTS:
            having[rows] = True
            return having[:size] if node.value is True else ~having[:size]
        if node.op in (Op.EQ, Op.IN):
            codes = self._codes.head(entries)
            values = node.value if isinstance(node.value, tuple) else (node.value,)
            for value in values:
                code = self._code_of.get((isinstance(value, bool), value))
                if code is not None:
                    having[rows[codes == code]] = True
        else:
            having[rows[compare_numbers(self._numbers.head(entries), node)]] = True
        return having[:size]


def compare_numbers(numbers: npt.NDArray[np.float64], node: Compare) -> BoolArray:
    """Return where `numbers`, NaN for absent, satisfy `node`."""
    if node.op is Op.EXISTS:
        return np.isnan(numbers) != (node.value is True)
    if node.op in (Op.EQ, Op.IN):
        result = np.zeros(len(numbers), dtype=np.bool_)
        for value in node.value if isinstance(node.value, tuple) else (node.value,):
            if not isinstance(value, str | bool):
                result |= numbers == to_float(value)
        return result
    if isinstance(node.value, str | tuple):
        return np.zeros(len(numbers), dtype=np.bool_)
    bound = to_float(node.value)
    if node.op is Op.GT:
        return numbers > bound
    if node.op is Op.GTE:
        return numbers >= bound
    return numbers < bound if node.op is Op.LT else numbers <= bound


def to_float(value: float) -> float:
    """Return `value` as a float; an integer too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
