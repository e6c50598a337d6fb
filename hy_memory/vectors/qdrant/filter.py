"""From a scoped filter to Qdrant's conditions: a pure function, the same for both forms of the engine.

The conditions are Qdrant's own (`must`, `should`, `must_not` over matches and ranges), as values;
`edge.py` and `remote.py` each spell them in their driver's classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import ATTRIBUTE, LIST_FIELDS, TIME_FIELDS, And, Compare, Filter, Op, Or, Scalar
from hy_memory.vectors.qdrant.plain import of_plain
from hy_memory.vectors.qdrant.schema import (
    NUMBER_KEY,
    NUMBER_VALUE,
    NUMBERS,
    PLAIN,
    SPECIAL,
    TOKENS,
    key_token,
    to_float,
    value_token,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A text field, or any element of a list of texts, is one of `values` (not empty)."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """A number field, or any element of a list of numbers, lies between the bounds that are given."""

    key: str
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """A field is absent or empty."""

    key: str


@dataclass(frozen=True, slots=True)
class HasId:
    """The point's id is one of `ids`; none is, where `ids` is empty."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nested:
    """One object of the array `key` satisfies `clause` all by itself."""

    key: str
    clause: Clause


@dataclass(frozen=True, slots=True)
class Clause:
    """All of `must`, none of `must_not` and, where `should` is not empty, any of it."""

    must: tuple[Condition, ...] = ()
    should: tuple[Condition, ...] = ()
    must_not: tuple[Condition, ...] = ()


Condition: TypeAlias = Match | Range | Missing | HasId | Nested | Clause

ALWAYS = Clause()
NEVER = HasId(())


def compile_filter(where: ScopedFilter, point_ids: Iterable[str] | None = None) -> Clause:
    """Return the clause that admits what `where` does, of the points `point_ids` alone where given."""
    must: list[Condition] = [Match("user_id", where.user_ids)]
    if point_ids is not None:
        must.append(HasId(tuple(point_ids)))
    must.extend(_conditions(where.tree))
    return Clause(must=tuple(must))


def compile_search(where: ScopedFilter) -> tuple[Clause, ...]:
    """Return clauses that together admit what `where` does, and no point twice: see `plain`."""
    special = Clause(must=(Match(SPECIAL, where.user_ids), *_conditions(where.tree)))
    asked = of_plain(where.tree)
    if asked is False:
        return (special,)
    conditions = () if asked is True else _conditions(asked)
    return Clause(must=(Match(PLAIN, where.user_ids), *conditions)), special


def _conditions(tree: Filter) -> tuple[Condition, ...]:
    parts = tree.parts if isinstance(tree, And) else (tree,)
    return tuple(_compile(part) for part in parts)


def population(user_id: str) -> Clause:
    """Return the clause that admits every point of one user."""
    return Clause(must=(Match("user_id", (user_id,)),))


def _compile(tree: Filter) -> Condition:
    if isinstance(tree, Compare):
        return _compare(tree)
    if isinstance(tree, And):
        return Clause(must=tuple(_compile(part) for part in tree.parts))
    if isinstance(tree, Or):
        return Clause(should=tuple(_compile(part) for part in tree.parts)) if tree.parts else NEVER
    return Clause(must_not=(_compile(tree.part),))


def _compare(node: Compare) -> Condition:
    if node.op is Op.EXISTS:
        return _exists(node.field, node.value is True)
    if node.op in (Op.EQ, Op.IN):
        return _equal(node.field, node.value if isinstance(node.value, tuple) else (node.value,))
    bound = node.value
    if isinstance(bound, bool | str | tuple) or (isinstance(bound, float) and math.isnan(bound)):
        return NEVER
    if node.field in TIME_FIELDS:
        return _range(node.field, node.op, bound)
    if node.field.startswith(ATTRIBUTE):
        key = key_token(node.field[len(ATTRIBUTE) :])
        return Nested(NUMBERS, Clause(must=(Match(NUMBER_KEY, (key,)), _range(NUMBER_VALUE, node.op, bound))))
    return NEVER


def _equal(field: str, values: tuple[Scalar, ...]) -> Condition:
    if field in TIME_FIELDS:
        moments = [to_float(one) for one in values if not isinstance(one, bool | str)]
        same = tuple(Range(field, gte=one, lte=one) for one in moments)
        return (same[0] if len(same) == 1 else Clause(should=same)) if same else NEVER
    if field.startswith(ATTRIBUTE):
        tokens = tuple(value_token(field[len(ATTRIBUTE) :], one) for one in values)
        return Match(TOKENS, tokens) if tokens else NEVER
    texts = tuple(str(one) for one in values if isinstance(one, str))
    return Match(field, texts) if texts else NEVER


def _exists(field: str, wanted: bool) -> Condition:
    if field.startswith(ATTRIBUTE):
        there: Condition = Match(TOKENS, (key_token(field[len(ATTRIBUTE) :]),))
        return there if wanted else Clause(must_not=(there,))
    if field in LIST_FIELDS or field == "expires_at":
        return Clause(must_not=(Missing(field),)) if wanted else Missing(field)
    return ALWAYS if wanted else NEVER  # every other field of a payload always has a value


def _range(key: str, op: Op, bound: float) -> Range:
    limit = to_float(bound)
    if op is Op.GT:
        return Range(key, gt=limit)
    if op is Op.GTE:
        return Range(key, gte=limit)
    if op is Op.LT:
        return Range(key, lt=limit)
    return Range(key, lte=limit)
