"""A payload as Chroma metadata, and a filter as a Chroma `where`: two halves of one encoding.

Chroma compares `1` with `1.0`, knows no lists that mix types, refuses some keys, and takes every
negation as true where the key is missing. So the caller's own fields never reach it as they are:

- Equality on tags and attributes is a *mark*, a key that hashes field, type and value and holds 1.
  A negated mark is true exactly where the mark is missing. (Integers, because Chroma's SQLite has an
  index on them and none on booleans.)
- Order on an attribute uses its largest number for `gt gte` and its smallest for `lt lte`: some
  element is above a bound if and only if the largest is.
- Built-in fields stay readable under their own names; times are floats.

Negation is pushed down to the leaves, because Chroma has none for groups. Numbers are doubles here:
integers beyond 2^53 are equal only to themselves but ordered by their rounded value.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Sequence
from typing import Literal, TypeAlias

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.evaluate import field_values
from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import (
    ATTRIBUTE,
    LIST_FIELDS,
    TEXT_FIELDS,
    TIME_FIELDS,
    And,
    Compare,
    Filter,
    Not,
    Op,
    Or,
    Scalar,
    all_of,
    one_of,
)
from hy_memory.values.point import Payload

Metadata: TypeAlias = dict[str, str | int | float | None]
Where: TypeAlias = "dict[str, object]"
Clause: TypeAlias = "Where | bool"
"""A `where`, or what it would be where no question needs to be asked."""

_ESCAPE = "~"
_WIDEST = 200  # operands of one $and/$or; Chroma chains them, and SQLite allows a depth of 1000
_OPPOSITE = {Op.GT: Op.LTE, Op.GTE: Op.LT, Op.LT: Op.GTE, Op.LTE: Op.GT}


def encode_text(text: str) -> str:
    """Return `text` so that any storage keeps it apart from every other: surrogates and NUL escaped."""
    if text and not text.startswith(_ESCAPE) and "\0" not in text and _is_encodable(text):
        return text
    return _ESCAPE + text.encode("utf-8", "surrogatepass").hex()


def decode_text(stored: str) -> str:
    """Return the text that `encode_text` was given."""
    if not stored.startswith(_ESCAPE):
        return stored
    return bytes.fromhex(stored[len(_ESCAPE) :]).decode("utf-8", "surrogatepass")


def to_metadata(payload: Payload) -> Metadata:
    """Return what Chroma keeps beside a point."""
    metadata: Metadata = {field: encode_text(str(getattr(payload, field))) for field in TEXT_FIELDS}
    for field in TIME_FIELDS:
        value: float | None = getattr(payload, field)
        if value is not None:
            metadata[field] = _double(value)
            metadata[_key("numbers", field)] = 1
    for field in (*LIST_FIELDS, *(ATTRIBUTE + key for key in payload.attributes)):
        metadata.update(_marks(field, field_values(payload, field)))
    return metadata


def compile_filter(where: ScopedFilter) -> Where | None:
    """Return what admits exactly what `where` does, None if that is nothing, whatever is stored."""
    clause = _compile(all_of(one_of("user_id", where.user_ids), where.tree), wanted=True)
    return None if isinstance(clause, bool) else clause


def _marks(field: str, values: tuple[Scalar, ...]) -> Metadata:
    """Return the marks of one field: that it is there, what it equals, and its bounds."""
    if not values:
        return {}
    marks: Metadata = {_mark(field, value): 1 for value in values}
    marks[_key("has", field)] = 1
    numbers = _numbers(values)
    if numbers:
        marks[_key("numbers", field)] = 1
        marks[_key("max", field)] = max(numbers)
        marks[_key("min", field)] = min(numbers)
    return marks


def _compile(tree: Filter, wanted: bool) -> Clause:
    """Return the clause for `tree` being `wanted`."""
    if isinstance(tree, Not):
        return _compile(tree.part, not wanted)
    if isinstance(tree, And | Or):
        parts = [_compile(part, wanted) for part in tree.parts]
        return _join("$and" if isinstance(tree, And) is wanted else "$or", parts)
    if tree.field in TEXT_FIELDS:
        return _text(tree, wanted)
    if tree.field in TIME_FIELDS:
        return _time(tree, wanted)
    if tree.field in LIST_FIELDS or tree.field.startswith(ATTRIBUTE):
        return _marked(tree, wanted)
    raise InvalidArgumentError("field", tree.field, "no field of a payload")


def _join(operator: Literal["$and", "$or"], parts: Sequence[Clause]) -> Clause:
    """Return the conjunction or disjunction of `parts`, constants folded away."""
    deciding = operator == "$or"
    if any(part is deciding for part in parts):
        return deciding
    clauses = [part for part in parts if not isinstance(part, bool)]
    if len(clauses) <= 1:
        return clauses[0] if clauses else not deciding
    if len(clauses) <= _WIDEST:
        return {operator: clauses}
    groups = [clauses[start : start + _WIDEST] for start in range(0, len(clauses), _WIDEST)]
    return _join(operator, [_join(operator, group) for group in groups])


def _text(node: Compare, wanted: bool) -> Clause:
    """A built-in text is always there, so that Chroma's own negations are exact."""
    if node.op is Op.EXISTS:
        return node.value is wanted
    if node.op not in (Op.EQ, Op.IN):
        return not wanted  # texts have no order
    texts = [encode_text(str(value)) for value in _operands(node) if isinstance(value, str)]
    if not texts:
        return not wanted
    return {node.field: {"$in" if wanted else "$nin": texts}}


def _time(node: Compare, wanted: bool) -> Clause:
    """A time; `expires_at` may be missing, which Chroma's own negations take as true."""
    if node.op is Op.EXISTS:
        return _mark_is(_key("numbers", node.field), node.value is wanted)
    values = _numbers(_operands(node))
    if not values:
        return not wanted
    if node.op in (Op.EQ, Op.IN):
        return {node.field: {"$in" if wanted else "$nin": values}}
    return _ordered(node, node.field, values[0], wanted)


def _marked(node: Compare, wanted: bool) -> Clause:
    """Tags and attributes: marks for equality, bounds for order."""
    if node.op is Op.EXISTS:
        return _mark_is(_key("has", node.field), node.value is wanted)
    if node.op in (Op.EQ, Op.IN):
        marks = [_mark(node.field, value) for value in _operands(node) if not _is_nan(value)]
        return _join("$or" if wanted else "$and", [_mark_is(mark, wanted) for mark in marks])
    bounds = _numbers(_operands(node))
    if not bounds:
        return not wanted
    key = _key("max" if node.op in (Op.GT, Op.GTE) else "min", node.field)
    return _ordered(node, key, bounds[0], wanted)


def _ordered(node: Compare, key: str, bound: float, wanted: bool) -> Clause:
    """Return the comparison of `key`, or its opposite, which holds as well where there is no number."""
    if wanted:
        return {key: {f"${node.op}": bound}}
    return {"$or": [{key: {f"${_OPPOSITE[node.op]}": bound}}, _mark_is(_key("numbers", node.field), False)]}


def _mark_is(key: str, there: bool) -> Where:
    return {key: {"$eq" if there else "$ne": 1}}


def _operands(node: Compare) -> tuple[Scalar, ...]:
    return node.value if isinstance(node.value, tuple) else (node.value,)


def _mark(field: str, value: Scalar) -> str:
    """Return the key whose presence says that `field` holds `value`, type included; 1 is 1.0."""
    if isinstance(value, bool):
        kind, text = "truth", str(value)
    elif isinstance(value, str):
        kind, text = "text", str(value)
    elif isinstance(value, float) and not value.is_integer():
        kind, text = "number", repr(value)
    else:
        kind, text = "number", str(int(value))
    return _key(kind, field, text)


def _key(kind: str, field: str, value: str = "") -> str:
    """Return a key that Chroma accepts whatever the caller named the field: 128 bits cannot collide."""
    content = f"{len(field)} {field} {value}".encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.blake2b(content, digest_size=16).hexdigest()}"


def _double(value: float) -> float:
    """Return `value` as a finite double, which is what Chroma can store and compare."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return max(-sys.float_info.max, min(sys.float_info.max, number))


def _numbers(values: Sequence[Scalar]) -> list[float]:
    """Return those of `values` that have a place among the numbers, as doubles."""
    return [_double(value) for value in values if not isinstance(value, str | bool) and not _is_nan(value)]


def _is_nan(value: Scalar) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
