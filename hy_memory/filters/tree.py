"""The filter language: a small tree of frozen nodes.

Nothing may be looked up by a node: Python takes `Compare(f, EQ, 1)` and `Compare(f, EQ, True)` for
equal, and they mean different things.

Meaning (`evaluate.py` is the reference; every backend's compiler is held equal to it by tests):

- A field that is absent (or null) satisfies nothing but `exists: false` and a negation.
- A list-valued field satisfies a comparison when any of its elements does; a scalar counts as
  a list of one. So `contains` and `eq` agree, and `{"tags": "travel"}` means what it seems to.
- Values keep their type: the text "1", the number 1 and `true` are three values; 1 equals 1.0.
- `gt gte lt lte` compare numbers (and times, which are numbers here) with numbers only.
- `ne` and `nin` are the negations of `eq` and `in`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool


class Op(StrEnum):
    """The elementary comparisons; `ne`, `nin` and the rest of the language are built from them."""

    EQ = "eq"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EXISTS = "exists"


TEXT_FIELDS = ("user_id", "agent_id", "session_id", "source", "layer", "status")
"""Payload fields that hold one text."""
TIME_FIELDS = ("event_at", "created_at", "expires_at")
"""Payload fields that hold epoch seconds; `expires_at` may be absent."""
LIST_FIELDS = ("tags",)
"""Payload fields that hold texts."""
ATTRIBUTE = "metadata."
"""Prefix of a caller's own field; everything behind it is the key, dots included."""


@dataclass(frozen=True, slots=True)
class Compare:
    """`field op value`: `value` is a scalar, for IN a tuple of scalars, for EXISTS a bool."""

    field: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of `parts`; an empty one is always true."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of `parts`; an empty one is never true."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Whatever `part` is not."""

    part: Filter


Filter: TypeAlias = Compare | And | Or | Not

EVERYTHING = And(())


def all_of(*parts: Filter) -> Filter:
    """Return the conjunction of `parts`, flat: nested conjunctions dissolve, a single part stands alone."""
    flat: list[Filter] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, And) else (part,))
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def names_only(tree: Filter, fields: Collection[str]) -> bool:
    """Return whether `tree` asks for no other fields than `fields`."""
    if isinstance(tree, Compare):
        return tree.field in fields
    if isinstance(tree, Not):
        return names_only(tree.part, fields)
    for part in tree.parts:  # noqa: SIM110 - a generator would double the cost, and every search asks
        if not names_only(part, fields):
            return False
    return True


def one_of(field: str, values: tuple[Scalar, ...]) -> Filter:
    """Return the filter that `field` is one of `values`."""
    return Compare(field, Op.EQ, values[0]) if len(values) == 1 else Compare(field, Op.IN, values)
