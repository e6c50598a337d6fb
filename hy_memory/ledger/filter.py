"""From a filter tree to SQL: what SQL can say exactly becomes a clause, the rest stays a tree.

Pure: values become bound parameters, never text of the statement. What is left over (tags, a caller's
own fields, texts that an engine cannot bind) is for `hy_memory.filters.evaluate`, which is also what
the clauses are tested against; so a filter has one meaning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, and_, false, func, not_, or_, true

from hy_memory.filters.tree import (
    EVERYTHING,
    TEXT_FIELDS,
    TIME_FIELDS,
    And,
    Compare,
    Filter,
    Not,
    Op,
    Scalar,
    all_of,
)
from hy_memory.ledger.schema import records, tallies

Fields: TypeAlias = Mapping[str, ColumnElement[Any]]
"""The payload fields that a table holds, and where."""

RECORD_FIELDS: Fields = {
    **{name: records.c[name] for name in (*TEXT_FIELDS, "created_at", "expires_at")},
    "event_at": func.coalesce(records.c.memory_at, records.c.created_at),
}
"""What `records` can be asked for."""
TALLY_FIELDS: Fields = {name: tallies.c[name] for name in ("user_id", "layer", "status")}
"""What `tallies` can be asked for."""

_MOST_VALUES = 10_000
"""Engines bind 32,766 values at most in one statement; a longer list is compared in Python."""


@dataclass(frozen=True, slots=True)
class Split:
    """A tree as `clauses` that SQL decides and the `rest` that it cannot; both must hold."""

    clauses: tuple[ColumnElement[bool], ...]
    rest: Filter

    @property
    def is_exact(self) -> bool:
        """Whether SQL decides everything."""
        return self.rest == EVERYTHING


def split(tree: Filter, fields: Fields) -> Split:
    """Return `tree` as far as `fields` can decide it, and what is left of it."""
    if _size(tree) > _MOST_VALUES:
        return Split((), tree)
    clauses: list[ColumnElement[bool]] = []
    rest: list[Filter] = []
    for part in tree.parts if isinstance(tree, And) else (tree,):
        clause = _clause(part, fields)
        if clause is None:
            rest.append(part)
        else:
            clauses.append(clause)
    return Split(tuple(clauses), all_of(*rest) if rest else EVERYTHING)


def _size(tree: Filter) -> int:
    if isinstance(tree, Compare):
        return len(tree.value) if isinstance(tree.value, tuple) else 1
    return sum(map(_size, (tree.part,) if isinstance(tree, Not) else tree.parts))


def _clause(tree: Filter, fields: Fields) -> ColumnElement[bool] | None:
    """The exact, two-valued form of `tree` (never NULL, so that NOT is safe), or None."""
    if isinstance(tree, Compare):
        return _compare(tree, fields)
    if isinstance(tree, Not):
        part = _clause(tree.part, fields)
        return None if part is None else not_(part)
    parts = [_clause(part, fields) for part in tree.parts]
    if any(part is None for part in parts):
        return None
    clauses = [part for part in parts if part is not None]
    return and_(true(), *clauses) if isinstance(tree, And) else or_(false(), *clauses)


def _compare(node: Compare, fields: Fields) -> ColumnElement[bool] | None:
    column = fields.get(node.field)
    if column is None:
        return None
    if node.op is Op.EXISTS:
        return _exists(node, column)
    if node.field in TIME_FIELDS:
        return _compare_time(node, column)
    return _compare_text(node, column)


def _exists(node: Compare, column: ColumnElement[Any]) -> ColumnElement[bool]:
    if not isinstance(node.value, bool):
        return false()
    if node.field == "expires_at":
        return column.is_not(None) if node.value else column.is_(None)
    return true() if node.value else false()  # every other field is always there


def _compare_text(node: Compare, column: ColumnElement[Any]) -> ColumnElement[bool] | None:
    if node.op not in (Op.EQ, Op.IN):
        return false()  # texts have no order here
    wanted = [value for value in _values(node) if isinstance(value, str)]
    if not all(map(_is_bindable, wanted)):
        return None
    return column == wanted[0] if len(wanted) == 1 else column.in_(wanted) if wanted else false()


def _compare_time(node: Compare, column: ColumnElement[Any]) -> ColumnElement[bool] | None:
    if node.op in (Op.EQ, Op.IN):
        numbers = [_as_float(value) for value in _values(node) if not isinstance(value, bool)]
        wanted = [number for number in numbers if number is not None]
        clause = column.in_(wanted) if wanted else false()
    else:
        bound = node.value
        if isinstance(bound, str | tuple) or (isinstance(bound, float) and math.isnan(bound)):
            return false()
        number = _as_float(bound)
        if number is None:
            return None  # an integer between two doubles: Python compares it exactly, SQL would round
        clause = _ordered(node.op, column, number)
    return and_(column.is_not(None), clause) if node.field == "expires_at" else clause


def _ordered(op: Op, column: ColumnElement[Any], bound: float) -> ColumnElement[bool]:
    if op is Op.GT:
        return column > bound
    if op is Op.GTE:
        return column >= bound
    if op is Op.LT:
        return column < bound
    return column <= bound


def _values(node: Compare) -> tuple[Scalar, ...]:
    return node.value if isinstance(node.value, tuple) else (node.value,)


def _as_float(value: Scalar) -> float | None:
    """The double that equals `value`, None where there is none (a text, NaN, a large odd integer)."""
    if isinstance(value, str):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == value and not math.isnan(number) else None


def _is_bindable(text: str) -> bool:
    """Whether every engine can take `text`: neither NUL (PostgreSQL) nor half a surrogate pair (UTF-8)."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
