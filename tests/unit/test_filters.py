"""The filter language: what is parsed means what it says, and what cannot be meant is refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.evaluate import evaluate
from hy_memory.filters.parse import FIELDS, OPERATORS, parse_filter
from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import EVERYTHING, And, Compare, Filter, Not, Op, Or, Scalar, all_of, one_of
from hy_memory.testing.fakes import payload_for
from hy_memory.testing.strategies import KEYS, ODD_IDS, filters, payloads, scalars
from hy_memory.values.point import Payload
from hy_memory.values.record import Json, Layer

ANA = payload_for("ana")
Spelling = Mapping[str, object]


def admits(spelling: object, payload: Payload) -> bool:
    return evaluate(parse_filter(spelling), payload)


def spellings() -> st.SearchStrategy[dict[str, object]]:
    """What callers write over tags, source and their own keys, nested a little."""
    fields = st.one_of(
        st.just("tags"), st.just("source"), st.sampled_from(KEYS).map(lambda key: f"metadata.{key}")
    )

    def entry(field: str) -> st.SearchStrategy[tuple[str, object]]:
        values: st.SearchStrategy[Scalar] = (
            scalars() if field.startswith("metadata.") else st.sampled_from(("travel", "main", "a-b", "1"))
        )
        operators: list[st.SearchStrategy[object]] = [
            values,
            st.dictionaries(st.sampled_from(("eq", "ne", "contains")), values, min_size=1, max_size=2),
            st.dictionaries(st.sampled_from(("in", "nin")), st.lists(values, max_size=3), min_size=1),
            st.fixed_dictionaries({"exists": st.booleans()}),
        ]
        if field.startswith("metadata."):
            operators.append(
                st.dictionaries(
                    st.sampled_from(("gt", "gte", "lt", "lte")), st.sampled_from((0, 1, 1.5, -2)), min_size=1
                )
            )
        return st.tuples(st.just(field), st.one_of(operators))

    flat = st.lists(fields.flatmap(entry), max_size=2).map(dict)

    def nested(inner: st.SearchStrategy[dict[str, object]]) -> st.SearchStrategy[dict[str, object]]:
        return st.fixed_dictionaries(
            {},
            optional={
                "and": st.lists(inner, min_size=1, max_size=2),
                "or": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "source": st.sampled_from(ODD_IDS[:6]),
            },
        ).map(dict[str, object])

    return st.recursive(flat, nested, max_leaves=4)


def means(spelling: Spelling, payload: Payload) -> bool:
    """The language from its description, with no tree in between."""
    return all(_entry_means(key, value, payload) for key, value in spelling.items())


def _entry_means(key: str, value: object, payload: Payload) -> bool:
    if key in ("and", "or"):
        parts = [means(part, payload) for part in cast("list[Spelling]", value)]
        return all(parts) if key == "and" else any(parts)
    if key == "not":
        return not means(cast("Spelling", value), payload)
    if key.startswith("metadata."):
        held: object = payload.attributes.get(key.removeprefix("metadata."))
    else:
        held = payload.tags if key == "tags" else payload.source
    values = list(held) if isinstance(held, list | tuple) else [held]
    known = [one for one in values if isinstance(one, str | int | float)]
    operators = cast("Spelling", value) if isinstance(value, dict) else {"eq": value}
    return all(_operator_means(name, operand, known) for name, operand in operators.items())


def _operator_means(name: str, operand: object, held: list[Scalar]) -> bool:
    def equal(one: object, other: object) -> bool:
        return isinstance(one, bool) == isinstance(other, bool) and one == other

    if name in ("eq", "contains"):
        return any(equal(one, operand) for one in held)
    if name == "ne":
        return not any(equal(one, operand) for one in held)
    if name in ("in", "nin"):
        among = any(equal(one, other) for one in held for other in cast("list[object]", operand))
        return among if name == "in" else not among
    if name == "exists":
        return bool(held) == operand
    bound = cast("float", operand)
    numbers = [float(one) for one in held if not isinstance(one, str | bool)]
    compared = {
        "gt": [one > bound for one in numbers],
        "gte": [one >= bound for one in numbers],
        "lt": [one < bound for one in numbers],
        "lte": [one <= bound for one in numbers],
    }
    return any(compared[name])


@settings(max_examples=200, deadline=None)
@given(spelling=spellings(), payload=payloads())
def test_a_parsed_filter_means_what_it_says(spelling: dict[str, object], payload: Payload) -> None:
    """C07, C69: every operator, on scalars, lists and absent fields, under any key."""
    spelled_source = {key: one for key, one in spelling.items() if key != "source"} | (
        {"source": payload.source} if "source" in spelling else {}
    )
    assert admits(spelled_source, payload) == means(spelled_source, payload)


@settings(max_examples=200, deadline=None)
@given(tree=filters(), other=filters(), payload=payloads())
def test_the_logic_is_boolean(tree: Filter, other: Filter, payload: Payload) -> None:
    """C07: negation, conjunction and disjunction obey their laws on every payload."""
    one, two = evaluate(tree, payload), evaluate(other, payload)
    assert evaluate(Not(tree), payload) is not one
    assert evaluate(And((tree, other)), payload) is (one and two)
    assert evaluate(all_of(tree, other), payload) is (one and two)
    assert evaluate(Or((tree, other)), payload) is (one or two)
    assert evaluate(Not(Or((tree, other))), payload) is evaluate(And((Not(tree), Not(other))), payload)
    assert evaluate(And(()), payload) is True
    assert evaluate(Or(()), payload) is False


@settings(max_examples=100, deadline=None)
@given(tree=filters(), other=filters(), payload=payloads())
def test_flattening_changes_no_meaning(tree: Filter, other: Filter, payload: Payload) -> None:
    """`all_of` dissolves nested conjunctions and keeps what they say."""
    joined = all_of(EVERYTHING, all_of(tree, And((other,))), tree)
    assert evaluate(joined, payload) is (evaluate(tree, payload) and evaluate(other, payload))
    assert all_of(And((tree, other)), Not(tree)) == And((tree, other, Not(tree)))


@pytest.mark.parametrize(
    ("held", "wanted", "expected"),
    [
        (True, True, True),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (1, "1", False),
        (1, 1.0, True),
        ("true", True, False),
        (["a", 2], 2, True),
        ([], "a", False),
        (None, "", False),
        ({"a": 1}, "a", False),
    ],
)
def test_values_keep_their_type(held: Json, wanted: Scalar, expected: bool) -> None:
    """C07: the text "1", the number 1 and true are three values; `eq`, `in` and `ne` agree on it."""
    payload = replace(ANA, attributes={"key": held})
    assert admits({"metadata.key": wanted}, payload) is expected
    assert admits({"metadata.key": {"contains": wanted}}, payload) is expected
    assert admits({"metadata.key": {"in": ["other", wanted]}}, payload) is expected
    assert admits({"metadata.key": {"ne": wanted}}, payload) is not expected
    assert admits({"metadata.key": {"nin": [wanted]}}, payload) is not expected


def test_absent_satisfies_only_negations() -> None:
    """C07: a field that is not there meets `exists: false`, `ne`, `nin` and `not`, nothing else."""
    for meant in ({"exists": False}, {"ne": "x"}, {"nin": ["x"]}):
        assert admits({"metadata.gone": meant}, ANA)
    for unmet in ({"exists": True}, {"eq": "x"}, {"in": ["x"]}, {"gt": 0}, {"lte": 0}):
        assert not admits({"metadata.gone": unmet}, ANA)
    assert admits({"not": {"metadata.gone": "x"}}, ANA)


@pytest.mark.parametrize("key", KEYS)
def test_any_key_is_only_itself(key: str) -> None:
    """C69: dots, quotes, operators and prototypes in a key are letters like any other."""
    having = replace(ANA, attributes={key: "here"})
    assert admits({f"metadata.{key}": "here"}, having)
    assert not admits({f"metadata.{key}": "here"}, replace(ANA, attributes={"other": "here"}))
    assert not admits({f"metadata.{key}x": "here"}, having)


_NOON = datetime(2024, 2, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "moment",
    [
        _NOON.timestamp(),
        int(_NOON.timestamp()),
        _NOON,
        _NOON.replace(tzinfo=None),
        _NOON.astimezone(timezone(timedelta(hours=8))),
        "2024-02-01T12:00:00Z",
        "2024-02-01T20:00:00+08:00",
        "2024-02-01T05:00:00.000000-07:00",
        " 2024-02-01 12:00 ",
    ],
)
def test_one_instant_in_every_spelling(moment: object) -> None:
    """C06, C86: number, datetime and ISO text of one moment are one bound, inclusive at both ends."""
    at = replace(ANA, event_at=_NOON.timestamp())
    assert admits({"memory_at": {"gte": moment, "lte": moment}}, at)
    assert admits({"memory_at": moment}, at)
    assert not admits({"memory_at": {"gt": moment}}, at)
    assert not admits({"memory_at": {"lt": moment}}, at)
    assert not admits({"memory_at": {"gt": _NOON + timedelta(seconds=1)}}, at)


@pytest.mark.parametrize(
    ("spelling", "named"),
    [
        ("source = 'x'", "filters"),
        ([{"source": "x"}], "filters"),
        (None, "filters"),
        ({"colour": "red"}, "colour"),
        ({"metadata.": "x"}, "metadata."),
        ({"metadata": "x"}, "metadata"),
        ({"user_id": "ben"}, "user_id"),
        ({7: "x"}, "filters"),
        ({"$or": [{"source": "x"}]}, "$or"),
        ({"x') OR 1=1 --": 1}, "OR 1=1"),
        ({"or": []}, "filters.or"),
        ({"and": {"source": "x"}}, "filters.and"),
        ({"not": "x"}, "filters"),
        ({"source": {}}, "filters.source"),
        ({"source": {"like": "x%"}}, "like"),
        ({"source": {"in": "abc"}}, "filters.source.in"),
        ({"source": {"exists": 1}}, "filters.source.exists"),
        ({"source": {"gt": "a"}}, "filters.source.gt"),
        ({"source": 5}, "filters.source"),
        ({"source": None}, "filters.source"),
        ({"tags": ["a", "b"]}, "filters.tags"),
        ({"layer": "l9_dreams"}, "l9_dreams"),
        ({"metadata.n": {"gt": True}}, "filters.metadata.n.gt"),
        ({"metadata.n": {"gt": "5"}}, "filters.metadata.n.gt"),
        ({"metadata.n": math.nan}, "filters.metadata.n"),
        ({"metadata.n": {"lt": math.inf}}, "filters.metadata.n.lt"),
        ({"memory_at": {"gt": "soon"}}, "filters.memory_at.gt"),
        ({"memory_at": {"gt": 1_700_000_000_000}}, "milliseconds"),
        ({"memory_at": {"gt": True}}, "filters.memory_at.gt"),
        ({"expires_at": {"lt": [1]}}, "filters.expires_at.lt"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(spelling: object, named: str) -> None:
    """C06, C10, C69, C86: an error that names the place, never a silent empty answer."""
    with pytest.raises(InvalidArgumentError) as caught:
        parse_filter(spelling)
    assert named in str(caught.value)


def test_nesting_has_a_bound() -> None:
    """A filter deeper than anybody writes is refused before it reaches the recursion limit."""
    spelling: dict[str, object] = {"source": "x"}
    for _ in range(20):
        spelling = {"not": spelling}
    assert admits(spelling, replace(ANA, source="x"))
    for _ in range(5_000):
        spelling = {"not": spelling}
    with pytest.raises(InvalidArgumentError):
        parse_filter(spelling)


def test_every_documented_name_is_understood() -> None:
    """C07: each field takes each operator that suits its kind; an empty filter is everything."""
    assert parse_filter({}) == EVERYTHING
    values: dict[str, Scalar] = {"layer": "l2_fact", "memory_at": 5, "created_at": 5, "expires_at": 5}
    ordered = ("gt", "gte", "lt", "lte")
    for field in (*FIELDS, "metadata.key"):
        takes_order = field in ("memory_at", "created_at", "expires_at", "metadata.key")
        for operator in OPERATORS:
            value: object = values.get(field, 5 if operator in ordered and takes_order else "x")
            operand = {"exists": True, "in": [value], "nin": [value]}.get(operator, value)
            if operator in ordered and not takes_order:
                with pytest.raises(InvalidArgumentError):
                    parse_filter({field: {operator: operand}})
            else:
                assert parse_filter({field: {operator: operand}}) != EVERYTHING


def test_sources_are_compared_as_they_are_stored() -> None:
    """Contract §3: a source is stripped and lower-cased when stored, and so in a filter."""
    assert admits({"source": " Mail "}, replace(ANA, source="mail"))
    assert admits({"source": {"in": ["MAIL"]}}, replace(ANA, source="mail"))
    assert not admits({"session_id": "S1"}, replace(ANA, session_id="s1"))


def test_a_scope_is_never_everybody() -> None:
    """C11: no users, or a blank one, is an error before any store is asked."""
    for user_ids in ((), ("",), ("ana", "  ")):
        with pytest.raises(InvalidArgumentError):
            scoped(user_ids, EVERYTHING)
        with pytest.raises(InvalidArgumentError):
            ScopedFilter(user_ids, EVERYTHING)
    assert scoped(("b", "a", "b"), EVERYTHING) == scoped(("a", "b"), EVERYTHING)


@settings(max_examples=100, deadline=None)
@given(payload=payloads(("ana", "ben", "cem")), tree=filters())
def test_a_scope_admits_its_users_only(payload: Payload, tree: Filter) -> None:
    """C02, law 6: whatever the tree says, another user's payload stays outside."""
    where = scoped(("ana", "ben"), tree)
    assert where.admits(payload) is (payload.user_id != "cem" and evaluate(tree, payload))
    assert not scoped(("dan",), Or((tree, Not(tree)))).admits(payload)


def test_layers_select_exactly() -> None:
    """C10: one layer asked for is one layer admitted."""
    for asked in Layer:
        tree = parse_filter({"layer": asked.value})
        assert [one for one in Layer if evaluate(tree, replace(ANA, layer=one))] == [asked]
    assert one_of("layer", (Layer.L2_FACT,)) == Compare("layer", Op.EQ, Layer.L2_FACT)
    assert one_of("layer", (Layer.L2_FACT, Layer.L6_SCHEMA)).__class__ is Compare
