"""From the caller's spelling of a filter to a tree; everything that cannot be meant is refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.tree import ATTRIBUTE, And, Compare, Filter, Not, Op, Or, Scalar, all_of
from hy_memory.values.check import MOST_VALUES
from hy_memory.values.instant import to_epoch
from hy_memory.values.record import Layer

FIELDS = ("tags", "layer", "source", "session_id", "agent_id", "memory_at", "created_at", "expires_at")
"""What a caller may name, besides `metadata.KEY`."""
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists")
_TIMES = {"memory_at": "event_at", "created_at": "created_at", "expires_at": "expires_at"}
_ORDERED = ("gt", "gte", "lt", "lte")
_DEEPEST = 32  # deeper nesting is no filter a person wrote, and would reach the recursion limit


def parse_filter(spelling: object, depth: int = 0) -> Filter:
    """Return the tree for a filter such as ``{"tags": {"contains": "travel"}, "or": [{…}, {…}]}``.

    Raises InvalidArgumentError for an unknown field or operator, or a value of the wrong type.
    """
    if not isinstance(spelling, Mapping):
        raise InvalidArgumentError("filters", spelling, "give a mapping such as {'source': 'app'}")
    if depth > _DEEPEST:
        raise InvalidArgumentError("filters", "…", f"nest at most {_DEEPEST} levels deep")
    parts: list[Filter] = []
    for key, value in cast("Mapping[object, object]", spelling).items():
        if key in ("and", "or"):
            if not isinstance(value, list | tuple) or not value:
                raise InvalidArgumentError(f"filters.{key}", value, "give a non-empty list of filters")
            nested = tuple(parse_filter(one, depth + 1) for one in cast("list[object]", value))
            parts.append(all_of(*nested) if key == "and" else Or(nested))
        elif key == "not":
            parts.append(Not(parse_filter(value, depth + 1)))
        else:
            parts.append(_parse_field(key, value))
    return all_of(*parts) if parts else And(())


def _parse_field(key: object, value: object) -> Filter:
    field = _field_name(key)
    if not isinstance(value, Mapping):
        return _parse_operator(field, "eq", value)
    operators = cast("Mapping[object, object]", value)
    if not operators:
        raise InvalidArgumentError(f"filters.{key}", value, f"name an operator: {', '.join(OPERATORS)}")
    return all_of(*(_parse_operator(field, operator, operand) for operator, operand in operators.items()))


def _field_name(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidArgumentError("filters", key, "field names are text")
    if key in FIELDS or (key.startswith(ATTRIBUTE) and len(key) > len(ATTRIBUTE)):
        return key
    raise InvalidArgumentError(
        "filters", key, f"unknown field; use one of {', '.join(FIELDS)}, or metadata.KEY for your own fields"
    )


def _parse_operator(field: str, operator: object, operand: object) -> Filter:
    name = f"filters.{field}"
    target = _TIMES.get(field, field)
    if operator not in OPERATORS:
        raise InvalidArgumentError(name, operator, f"unknown operator; use one of {', '.join(OPERATORS)}")
    if operator == "exists":
        if not isinstance(operand, bool):
            raise InvalidArgumentError(f"{name}.exists", operand, "give true or false")
        return Compare(target, Op.EXISTS, operand)
    if operator in ("in", "nin"):
        if not isinstance(operand, list | tuple | set | frozenset):
            raise InvalidArgumentError(f"{name}.{operator}", operand, "give a list of values")
        if len(cast("list[object]", operand)) > MOST_VALUES:
            raise InvalidArgumentError(f"{name}.{operator}", "…", f"give at most {MOST_VALUES} values")
        values = tuple(_scalar(field, f"{name}.{operator}", one) for one in cast("list[object]", operand))
        within = Compare(target, Op.IN, values)
        return within if operator == "in" else Not(within)
    scalar = _scalar(field, f"{name}.{operator}", operand)
    if operator in _ORDERED:
        if isinstance(scalar, str | bool):
            raise InvalidArgumentError(f"{name}.{operator}", operand, "compare with a number or a time")
        return Compare(target, Op(str(operator)), scalar)
    equal = Compare(target, Op.EQ, scalar)
    return Not(equal) if operator == "ne" else equal


def _scalar(field: str, name: str, value: object) -> Scalar:
    if field in _TIMES:
        return to_epoch(name, value)
    if not isinstance(value, str | int | float | bool):
        raise InvalidArgumentError(name, value, "give a text, a number or true/false")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidArgumentError(name, value, "give a finite number")
    if field in FIELDS and not isinstance(value, str):
        raise InvalidArgumentError(name, value, "this field holds text; give a text")
    if field == "layer" and value not in tuple(Layer):
        raise InvalidArgumentError(name, value, f"unknown layer; use one of {', '.join(Layer)}")
    return value.strip().lower() if field == "source" and isinstance(value, str) else value
