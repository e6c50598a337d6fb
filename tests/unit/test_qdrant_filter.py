"""Filters and payloads as Qdrant gets them, without Qdrant: one meaning, whatever keys and values."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING, And, Compare, Filter, Not, Op, Or, Scalar
from hy_memory.reading.request import searchable_layers
from hy_memory.reading.request import within as within_scope
from hy_memory.testing.fakes import make_point, payload_for
from hy_memory.testing.strategies import filters, payloads
from hy_memory.values.point import Payload
from hy_memory.values.record import Json, Layer, Status
from hy_memory.vectors.qdrant.filter import (
    Clause,
    Condition,
    HasId,
    Match,
    Missing,
    Nested,
    Range,
    compile_filter,
    compile_search,
)
from hy_memory.vectors.qdrant.schema import (
    INDEXES,
    PLAIN,
    SPECIAL,
    is_mapped,
    key_token,
    point_id,
    to_payload,
    value_token,
)


def stored(payload: Payload) -> dict[str, Json]:
    """Return `payload` as it lies in Qdrant."""
    return to_payload(make_point("p", payload, [1.0]))


def meets(condition: Condition, fields: Mapping[str, Json]) -> bool:
    """Return what Qdrant's documentation says `condition` is for a point with `fields`."""
    if isinstance(condition, Clause):
        return (
            all(meets(part, fields) for part in condition.must)
            and (not condition.should or any(meets(part, fields) for part in condition.should))
            and not any(meets(part, fields) for part in condition.must_not)
        )
    if isinstance(condition, HasId):
        return False  # the filters here have none but the empty one
    held = fields.get(condition.key)
    values = held if isinstance(held, list) else [] if held is None else [held]
    if isinstance(condition, Missing):
        return not values
    if isinstance(condition, Nested):
        return any(meets(condition.clause, cast("dict[str, Json]", one)) for one in values)
    if isinstance(condition, Match):
        return any(one in condition.values for one in values)
    return any(within(condition, one) for one in values)


def within(bounds: Range, value: Json) -> bool:
    """Return whether a number lies in `bounds`."""
    assert isinstance(value, float)
    return (
        (bounds.gt is None or value > bounds.gt)
        and (bounds.gte is None or value >= bounds.gte)
        and (bounds.lt is None or value < bounds.lt)
        and (bounds.lte is None or value <= bounds.lte)
    )


def keys_of(condition: Condition) -> set[str]:
    """Return the payload fields a condition looks at."""
    if isinstance(condition, Clause):
        parts = (*condition.must, *condition.should, *condition.must_not)
        return {key for part in parts for key in keys_of(part)}
    if isinstance(condition, Nested):
        return {f"{condition.key}[].{key}" for key in keys_of(condition.clause)}
    return set() if isinstance(condition, HasId) else {condition.key}


@given(payloads(), filters())
def test_a_compiled_filter_means_what_the_tree_means(payload: Payload, tree: Filter) -> None:
    """C07, C69: compiled conditions over the stored payload admit exactly what the reference admits."""
    where = scoped(("u1",), tree)
    assert meets(compile_filter(where), stored(payload)) is where.admits(payload)


@given(payloads(), filters())
def test_a_search_admits_it_once_by_one_of_its_clauses(payload: Payload, tree: Filter) -> None:
    """Plain points are asked less; the answer is the same, and none comes twice."""
    where = scoped(("u1",), tree)
    for one in (payload, replace(payload, layer=Layer.L2_FACT, status=Status.ACTIVE, expires_at=None)):
        admitting = [clause for clause in compile_search(where) if meets(clause, stored(one))]
        assert len(admitting) == int(where.admits(one))


def test_plain_points_are_asked_nothing_that_is_known_of_them() -> None:
    """What every search asks costs nothing but the users' points; a bucket looks at special ones alone."""
    usual = within_scope(
        scoped(("u",), EVERYTHING),
        Compare("status", Op.EQ, Status.ACTIVE.value),
        searchable_layers(None, 1e9),
    )
    assert compile_search(usual)[0] == Clause(must=(Match(PLAIN, ("u",)),))
    schemas = scoped(("u",), Compare("layer", Op.EQ, Layer.L6_SCHEMA.value))
    assert [clause.must[0] for clause in compile_search(schemas)] == [Match(SPECIAL, ("u",))]


@given(filters())
def test_every_field_of_a_filter_has_an_index(tree: Filter) -> None:
    """A server in strict mode refuses filters on fields without one, and a scan of payloads is slow."""
    where = scoped(("u1",), tree)
    for clause in (compile_filter(where), *compile_search(where)):
        assert keys_of(clause) <= INDEXES.keys()


@given(
    st.lists(st.one_of(st.integers(), st.floats(), st.booleans(), st.text()), max_size=4),
    st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text()),
)
def test_any_value_equals_itself_alone(values: list[Scalar], wanted: Scalar) -> None:
    """Numbers of any size, NaN, infinities, any text: equality is typed and exact."""
    payload = replace(payload_for("u1"), attributes={"k": list[Json](values)})
    where = scoped(("u1",), Compare("metadata.k", Op.EQ, wanted))
    assert meets(compile_filter(where), stored(payload)) is where.admits(payload)


@pytest.mark.parametrize("number", [10**400, -(10**400), math.inf, 2**53, 1e308, 5e-324])
def test_ranges_take_numbers_of_any_size(number: float) -> None:
    """A number that no double holds is ordered like the largest one, and refused by nobody."""
    payload = replace(payload_for("u1"), attributes={"k": number})
    for op in (Op.GT, Op.LT):
        where = scoped(("u1",), Compare("metadata.k", op, 0))
        assert meets(compile_filter(where), stored(payload)) is where.admits(payload)


def test_nobody_is_asked_for_but_the_scope() -> None:
    """C02: whatever the tree, the first condition is the users'."""
    for tree in (EVERYTHING, Or(()), Not(EVERYTHING), And((Compare("user_id", Op.EQ, "other"),))):
        where = scoped(("b", "a"), tree)
        for compiled in (compile_filter(where), *compile_search(where)):
            first = compiled.must[0]
            assert isinstance(first, Match)
            assert first.key in ("user_id", PLAIN, SPECIAL)
            assert first.values == ("a", "b")
            assert not compiled.should


def test_tokens_keep_types_and_keys_apart() -> None:
    """The text "1", the number 1 and true are three values; 1 and 1.0 are one; keys never run together."""
    assert value_token("k", 1) == value_token("k", 1.0)
    assert value_token("k", 0.0) == value_token("k", -0.0)
    typed = [("k", 1), ("k", "1"), ("k", True), ("k", "true")]
    different = [*typed, ("k:", 1), ("", "k"), ("a", "b:c"), ("a:b", "c")]
    assert len({value_token(key, value) for key, value in different}) == len(different)
    assert key_token("k") not in {value_token("k", value) for value in ("", "k", True)}


@given(st.text())
def test_any_text_is_an_id(name: str) -> None:
    """An id that is no UUID gets one, always the same, and is kept in the payload."""
    assert str(uuid.UUID(point_id(name))) == point_id(name) == point_id(name)
    fields = to_payload(make_point(name, payload_for("u1"), [1.0]))
    assert fields.get("memory_id", point_id(name)) == name


def test_ids_that_look_alike_stay_apart() -> None:
    """Only the usual spelling of a UUID is taken as it is: others would come back spelled differently."""
    plain = "6f1f2a1e-9f0c-7c4e-8a55-0d1f6a1c2b3d"
    hashed = point_id("main")
    assert point_id(plain) == plain
    assert not is_mapped(plain)
    spellings = [plain, plain.upper(), plain.replace("-", ""), f"{{{plain}}}", f"urn:uuid:{plain}"]
    names = [*spellings, "main", hashed]
    assert len({point_id(name) for name in names}) == len(names)
    assert all(is_mapped(point_id(name)) for name in names[1:])
