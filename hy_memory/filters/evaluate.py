"""The reference meaning of a filter: one record or payload in, true or false out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from hy_memory.filters.tree import ATTRIBUTE, TEXT_FIELDS, TIME_FIELDS, And, Compare, Filter, Op, Or, Scalar
from hy_memory.values.record import Json, Layer, Status


class Filterable(Protocol):
    """What a filter looks at: a record of the ledger, or the payload of a point."""

    @property
    def user_id(self) -> str: ...  # noqa: D102 - the fields are those of `Payload`, documented there
    @property
    def agent_id(self) -> str: ...  # noqa: D102
    @property
    def session_id(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def layer(self) -> Layer: ...  # noqa: D102
    @property
    def status(self) -> Status: ...  # noqa: D102
    @property
    def event_at(self) -> float: ...  # noqa: D102
    @property
    def created_at(self) -> float: ...  # noqa: D102
    @property
    def expires_at(self) -> float | None: ...  # noqa: D102
    @property
    def tags(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def attributes(self) -> Mapping[str, Json]: ...  # noqa: D102


Predicate: TypeAlias = Callable[[Filterable], bool]

_ORDER = {Op.GT: operator.gt, Op.GTE: operator.ge, Op.LT: operator.lt, Op.LTE: operator.le}


def evaluate(tree: Filter, subject: Filterable) -> bool:
    """Return whether `subject` satisfies `tree`."""
    return predicate(tree)(subject)


def predicate(tree: Filter) -> Predicate:
    """Return `tree` as a function, for those who ask it of many subjects."""
    if isinstance(tree, Compare):
        return _comparison(tree)
    if isinstance(tree, And | Or):
        return _junction([predicate(part) for part in tree.parts], is_and=isinstance(tree, And))
    inner = predicate(tree.part)
    return lambda subject: not inner(subject)


def field_values(subject: Filterable, field: str) -> tuple[Scalar, ...]:
    """Return the scalars that `field` holds: none where it is absent, one, or a list's elements.

    Elements that are no scalars (objects, lists in lists, null) cannot be compared and are left out.
    """
    value: object
    if field.startswith(ATTRIBUTE):
        value = subject.attributes.get(field[len(ATTRIBUTE) :])
    else:
        value = getattr(subject, field)
    if isinstance(value, str | int | float):
        return (value,)
    elements = value if isinstance(value, list | tuple) else ()
    return tuple(element for element in elements if isinstance(element, str | int | float))


def same(left: Scalar, right: Scalar) -> bool:
    """Return whether two scalars are equal without mixing types: true is not 1, "1" is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def _junction(parts: Sequence[Predicate], *, is_and: bool) -> Predicate:
    """All or any of `parts`. Of two, which every search has, in a third of the time."""
    if len(parts) == 2:
        left, right = parts
        if is_and:
            return lambda subject: left(subject) and right(subject)
        return lambda subject: left(subject) or right(subject)
    if is_and:
        return lambda subject: all(part(subject) for part in parts)
    return lambda subject: any(part(subject) for part in parts)


def _comparison(node: Compare) -> Predicate:
    field, value = node.field, node.value
    if node.op is Op.EXISTS:
        return lambda subject: bool(field_values(subject, field)) is value
    if node.op in _ORDER:
        return _ordering(field, _ORDER[node.op], value)
    wanted = value if isinstance(value, tuple) else (value,)
    if field in TEXT_FIELDS:  # one text, always there: what every search asks of every hit
        get, texts = operator.attrgetter(field), frozenset(one for one in wanted if isinstance(one, str))
        return lambda subject: get(subject) in texts
    return lambda subject: any(same(one, other) for one in field_values(subject, field) for other in wanted)


def _ordering(field: str, holds: Callable[[float, float], bool], bound: object) -> Predicate:
    if not isinstance(bound, int | float):
        return lambda subject: False
    if field in TIME_FIELDS:  # one moment or none: what every search asks of every hit
        get = operator.attrgetter(field)
        return lambda subject: (moment := get(subject)) is not None and holds(moment, bound)
    return lambda subject: any(
        not isinstance(one, bool | str) and holds(one, bound) for one in field_values(subject, field)
    )
