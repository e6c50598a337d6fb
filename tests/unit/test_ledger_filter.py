"""The compiler of filters to SQL: what it binds, and what it leaves to the reference evaluator.

That its clauses mean what `evaluate` says is tested on both engines by the conformance suite.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from hy_memory.filters.tree import EVERYTHING, And, Compare, Filter, Not, Op, Or, Scalar
from hy_memory.ledger.filter import RECORD_FIELDS, TALLY_FIELDS, split
from hy_memory.ledger.schema import records
from hy_memory.testing.strategies import filters

_TAG = Compare("tags", Op.EQ, "travel")
_SOURCE = Compare("source", Op.EQ, "app")
_LAYER = Compare("layer", Op.IN, ("l2_fact", "l3_summary"))


def _sql(tree: Filter) -> tuple[str, list[object]]:
    query = select(records.c.id).where(*split(tree, RECORD_FIELDS).clauses)
    compiled = query.compile(dialect=sqlite.dialect(), compile_kwargs={"render_postcompile": True})
    return str(compiled), list((compiled.params or {}).values())


def test_what_sql_cannot_say_is_left_over() -> None:
    both = split(And((_SOURCE, _TAG, _LAYER)), RECORD_FIELDS)
    assert len(both.clauses) == 2
    assert both.rest == _TAG
    assert not both.is_exact
    assert split(And((_SOURCE, _LAYER)), RECORD_FIELDS).is_exact


def test_a_choice_with_an_unknown_part_is_left_over_whole() -> None:
    either = Or((_SOURCE, _TAG))
    assert split(either, RECORD_FIELDS).clauses == ()
    assert split(either, RECORD_FIELDS).rest == either
    assert split(Not(either), RECORD_FIELDS).rest == Not(either)


def test_the_empty_filter_is_exact_everywhere() -> None:
    for fields in (RECORD_FIELDS, TALLY_FIELDS):
        assert split(EVERYTHING, fields).is_exact
        assert split(EVERYTHING, fields).clauses == ()


def test_tallies_know_layers_and_states_only() -> None:
    assert split(_LAYER, TALLY_FIELDS).is_exact
    assert not split(_SOURCE, TALLY_FIELDS).is_exact


@given(tree=filters())
def test_values_are_bound_and_never_text(tree: Filter) -> None:
    """C69: two filters that differ in their values alone make the same statement."""

    def emptied(part: Filter) -> Filter:
        if isinstance(part, Compare):
            return part if part.op is Op.EXISTS else Compare(part.field, part.op, _other(part))
        if isinstance(part, Not):
            return Not(emptied(part.part))
        return type(part)(tuple(map(emptied, part.parts)))

    assert _sql(tree)[0] == _sql(emptied(tree))[0]


def _other(part: Compare) -> Scalar | tuple[Scalar, ...]:
    def other(value: Scalar) -> Scalar:
        return "'; --" if isinstance(value, str) else 5.5

    return tuple(map(other, part.value)) if isinstance(part.value, tuple) else other(part.value)


def test_an_injection_is_a_value() -> None:
    """C69: the text of an attack is compared with, nothing else."""
    text, bound = _sql(Compare("source", Op.EQ, "x') OR 1=1 --"))
    assert "OR 1=1" not in text
    assert bound == ["x') OR 1=1 --"]
    attack = Compare("metadata.x') OR 1=1 --", Op.EQ, 1)
    assert split(attack, RECORD_FIELDS).rest == attack


@pytest.mark.parametrize("text", ["nul \0", "cut \ud83d"])
def test_text_that_no_engine_can_bind_is_evaluated(text: str) -> None:
    assert not split(Compare("source", Op.EQ, text), RECORD_FIELDS).is_exact


def test_integers_between_doubles_are_not_rounded() -> None:
    """2**53 + 1 is no double: nothing stored equals it, and comparing with its neighbour would be wrong."""
    assert _sql(Compare("created_at", Op.EQ, 2**53 + 1))[1] == []
    assert not split(Compare("created_at", Op.GT, 2**53 + 1), RECORD_FIELDS).is_exact
    assert not split(Compare("created_at", Op.LT, 10**400), RECORD_FIELDS).is_exact
    assert split(Compare("created_at", Op.GT, 2**60), RECORD_FIELDS).is_exact


def test_a_list_longer_than_an_engine_binds_is_evaluated() -> None:
    long = Compare("source", Op.IN, tuple(str(number) for number in range(50_000)))
    assert split(And((_SOURCE, Not(long))), RECORD_FIELDS).clauses == ()
