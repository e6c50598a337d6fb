"""The reference meaning of a filter: one payload in, true or false out."""

from __future__ import annotations

from hy_memory.filters.tree import ATTRIBUTE, And, Compare, Filter, Op, Or, Scalar
from hy_memory.values.point import Payload

_ORDERED = (Op.GT, Op.GTE, Op.LT, Op.LTE)


def evaluate(tree: Filter, payload: Payload) -> bool:
    """Return whether `payload` satisfies `tree`."""
    if isinstance(tree, Compare):
        return _compare(tree, field_values(payload, tree.field))
    if isinstance(tree, And):
        return all(evaluate(part, payload) for part in tree.parts)
    if isinstance(tree, Or):
        return any(evaluate(part, payload) for part in tree.parts)
    return not evaluate(tree.part, payload)


def field_values(payload: Payload, field: str) -> tuple[Scalar, ...]:
    """Return the scalars that `field` holds: none where it is absent, one, or a list's elements.

    Elements that are no scalars (objects, lists in lists, null) cannot be compared and are left out.
    """
    value: object
    if field.startswith(ATTRIBUTE):
        value = payload.attributes.get(field[len(ATTRIBUTE) :])
    else:
        value = getattr(payload, field)
    elements = value if isinstance(value, list | tuple) else (value,)
    return tuple(element for element in elements if isinstance(element, str | int | float | bool))


def same(left: Scalar, right: Scalar) -> bool:
    """Return whether two scalars are equal without mixing types: true is not 1, "1" is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def _compare(node: Compare, values: tuple[Scalar, ...]) -> bool:
    if node.op is Op.EXISTS:
        return bool(values) is node.value
    if node.op in _ORDERED:
        return any(_ordered(node.op, value, node.value) for value in values)
    wanted = node.value if isinstance(node.value, tuple) else (node.value,)
    return any(same(value, one) for value in values for one in wanted)


def _ordered(op: Op, value: Scalar, bound: object) -> bool:
    if isinstance(value, bool | str) or not isinstance(bound, int | float):
        return False
    if op is Op.GT:
        return value > bound
    if op is Op.GTE:
        return value >= bound
    if op is Op.LT:
        return value < bound
    return value <= bound
