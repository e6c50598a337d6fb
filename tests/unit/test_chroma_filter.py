"""The compiler of filters and its other half, compared with the reference without any Chroma."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING, And, Compare, Filter, Not, Op, Or
from hy_memory.testing.fakes import payload_for
from hy_memory.testing.strategies import filters, payloads
from hy_memory.values.point import Payload
from hy_memory.vectors.chroma.filter import (
    Metadata,
    Where,
    compile_filter,
    decode_text,
    encode_text,
    to_metadata,
)


def admits(where: Where, metadata: Metadata) -> bool:
    """Return what Chroma would say: its documented grammar, its negations true for missing keys."""
    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        parts = cast("list[Where]", value)
        assert 2 <= len(parts) <= 200, "Chroma wants two clauses, SQLite not too many"
        results = [admits(part, metadata) for part in parts]
        return all(results) if key == "$and" else any(results)
    ((operator, operand),) = cast("dict[str, object]", value).items()
    held = metadata.get(key)
    if operator in ("$ne", "$nin"):
        return held is None or not admits({key: {"$eq" if operator == "$ne" else "$in": operand}}, metadata)
    if held is None:
        return False
    if operator == "$in":
        values = cast("list[object]", operand)
        assert values, "Chroma refuses an empty list"
        assert len({type(one) for one in values}) == 1, "Chroma refuses mixed lists"
        return held in values
    if operator == "$eq":
        return held == operand
    assert isinstance(held, int | float)
    assert isinstance(operand, int | float)
    return {
        "$gt": held > operand,
        "$gte": held >= operand,
        "$lt": held < operand,
        "$lte": held <= operand,
    }[operator]


def check(payload: Payload, tree: Filter, users: tuple[str, ...] = ("u1",)) -> None:
    where = scoped(users, tree)
    compiled = compile_filter(where)
    metadata = to_metadata(payload)
    assert (compiled is not None and admits(compiled, metadata)) == where.admits(payload)


@given(payloads(), filters())
def test_compiled_means_what_the_reference_says(payload: Payload, tree: Filter) -> None:
    """C07, C69: every node, typed values, lists, missing fields, negations, awkward keys."""
    check(payload, tree)
    check(payload, Not(tree), ("u1", "u2"))


@given(payloads())
def test_metadata_holds_only_what_chroma_takes(payload: Payload) -> None:
    metadata = to_metadata(payload)
    json.dumps(metadata, allow_nan=False).encode()
    assert all(key and not key.startswith(("$", "chroma:")) for key in metadata)
    assert all(
        isinstance(value, str | int | float) and not isinstance(value, bool) for value in metadata.values()
    )


HUGE = 10**400
ODD_VALUES = [
    (float("nan"), Op.EQ, float("nan")),
    (float("nan"), Op.GT, 0),
    (float("nan"), Op.EXISTS, True),
    (float("inf"), Op.GT, 1e300),
    (float("-inf"), Op.LT, -1e300),
    (HUGE, Op.EQ, HUGE),
    (HUGE, Op.GT, 5),
    (-HUGE, Op.GT, 5),
    (2**53 + 1, Op.EQ, 2**53),
    (1, Op.EQ, True),
    (True, Op.EQ, 1),
    (True, Op.GTE, 0),
    ("1", Op.EQ, 1),
    ("1", Op.GTE, 0),
    (1.0, Op.EQ, 1),
    (-0.0, Op.EQ, 0),
    (1, Op.GT, float("nan")),
    (1, Op.LT, float("inf")),
    (1, Op.GT, float("-inf")),
    (None, Op.EXISTS, True),
    ([], Op.EXISTS, True),
    ([[1]], Op.EXISTS, True),
    ([None, 3, "3"], Op.GT, 2),
    ([1, 5], Op.LT, 2),
    ([1, 5], Op.GT, 5),
    ({"a": 1}, Op.EXISTS, True),
    ("cut \ud83d", Op.EQ, "cut \ud83d"),
    ("cut \ud83d", Op.EQ, "cut \ud83e"),
]


@pytest.mark.parametrize(("value", "op", "operand"), ODD_VALUES)
def test_odd_values(value: object, op: Op, operand: object) -> None:
    payload = Payload(**{**_fields(), "attributes": {"k": value}})  # type: ignore[arg-type]
    leaf = Compare("metadata.k", op, operand)  # type: ignore[arg-type]
    check(payload, leaf, ("ana",))
    check(payload, Not(leaf), ("ana",))


def _fields() -> dict[str, object]:
    plain = payload_for("ana")
    return {name: getattr(plain, name) for name in Payload.__dataclass_fields__}


@pytest.mark.parametrize("field", ["source", "event_at", "expires_at", "tags", "metadata.k"])
@pytest.mark.parametrize("operand", [1, True, "x", (), (1, "x", True), float("nan"), float("inf"), 10**400])
@pytest.mark.parametrize("op", [Op.EQ, Op.IN, Op.GT, Op.LTE])
def test_operands_of_every_type_on_every_field(field: str, operand: object, op: Op) -> None:
    if op is Op.EQ and isinstance(operand, tuple):
        operand = "x"
    if op in (Op.GT, Op.LTE) and (isinstance(operand, tuple | str | bool)):
        operand = 0.5  # the language orders numbers only
    leaf = Compare(field, op, operand)  # type: ignore[arg-type]
    for tree in (leaf, Not(leaf), And((leaf, EVERYTHING)), Or((leaf, Or(())))):
        check(payload_for("ana"), tree, ("ana",))


def test_what_can_never_be_admitted_asks_nothing() -> None:
    assert compile_filter(scoped(("u",), Or(()))) is None
    assert compile_filter(scoped(("u",), Compare("source", Op.GT, 1))) is None
    assert compile_filter(scoped(("u",), EVERYTHING)) == {"user_id": {"$in": ["u"]}}


def test_a_wide_list_is_split_into_groups() -> None:
    """SQLite refuses an expression deeper than 1000."""
    tree = Compare("tags", Op.IN, tuple(f"tag{at}" for at in range(5_000)))
    check(Payload(**{**_fields(), "tags": ("tag4999",)}), tree, ("ana",))  # type: ignore[arg-type]
    check(payload_for("ana"), Not(tree), ("ana",))


@given(st.text(st.characters(), max_size=8), st.text(st.characters(), max_size=8))
def test_encoded_texts_are_storable_told_apart_and_come_back(left: str, right: str) -> None:
    for text in (left, right):
        stored = encode_text(text)
        assert stored
        assert "\0" not in stored
        stored.encode("utf-8")
        assert decode_text(stored) == text
    assert (encode_text(left) == encode_text(right)) == (left == right)
