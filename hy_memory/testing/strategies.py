"""Hypothesis strategies for what a backend stores and is asked: payloads, filters, points.

Values come from small pools, so that filters meet payloads often, and the pools hold the
spellings that broke other systems: dots, quotes, operators and prototypes as keys, a number
beside its text beside a truth value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from hy_memory.filters.tree import ATTRIBUTE, And, Compare, Filter, Not, Op, Or, Scalar
from hy_memory.testing.fakes import term_vector, unit
from hy_memory.values.point import FloatArray, Payload, Point, TermVector
from hy_memory.values.record import Json, Layer, Status

ODD_IDS = (
    "6f1f2a1e-9f0c-7c4e-8a55-0d1f6a1c2b3d",
    "main",
    "a-b",
    "a.b:c@d",
    "用户一",
    "o'brien",
    'say "hi"',
    "x') OR 1=1 --",
    "50%_*?",
    "C:\\path/to",
    "$or",
    "null",
)
"""Ids that are text like any other, and that filter grammars stumble over."""

KEYS = ("project", "a.b", "a", "it's", 'q"q', "$or", "__proto__", "键", "x') OR 1=1 --", "user_id")
"""Keys of caller metadata."""

_SESSIONS = ("s1", "a.b:c@d", "o'brien")
_TAGS = ("travel", "Travel", "a b", "旅行", "1", "true", "o'brien")
_TEXTS = ("atlas", "Atlas", "1", "true", "", "o'brien", 'q"q', "北京", "a b")
# Within ±2^53, where int64, float64 and JSON numbers of every engine agree.
_NUMBERS = (0, 1, -1, 1.0, 1.5, -2.25, 0.1, 7, 1_000_000, 2**40, 1e-3)
_TIMES = (1_700_000_000.0, 1_700_000_000.5, 1_710_000_000.0, 1_704_067_200.0, -86_400.0, 0.0)


def scalars() -> st.SearchStrategy[Scalar]:
    """Texts, numbers and truth values that are easily confused with each other."""
    return st.one_of(st.sampled_from(_TEXTS), st.sampled_from(_NUMBERS), st.booleans())


def attributes() -> st.SearchStrategy[dict[str, Json]]:
    """Caller metadata: scalars, null, lists (mixed and nested) and objects under awkward keys."""
    listed = st.lists(_flat(), max_size=3)
    nested = st.dictionaries(_keys(), _flat(), max_size=2)
    return st.dictionaries(_keys(), st.one_of(_flat(), _flat(), listed, nested), max_size=4)


def _flat() -> st.SearchStrategy[Json]:
    return st.one_of(scalars(), st.none())


def _keys() -> st.SearchStrategy[str]:
    return st.sampled_from(KEYS)


@st.composite
def payloads(draw: st.DrawFn, user_ids: Sequence[str] = ("u1", "u2")) -> Payload:
    """Payloads of one of `user_ids`; every field varies."""
    return Payload(
        user_id=draw(st.sampled_from(list(user_ids))),
        agent_id=draw(st.sampled_from(("default_agent", "a-b"))),
        session_id=draw(st.sampled_from(_SESSIONS)),
        source=draw(st.sampled_from(ODD_IDS[:6])),
        layer=draw(st.sampled_from(tuple(Layer))),
        event_at=draw(st.sampled_from(_TIMES)),
        created_at=draw(st.sampled_from(_TIMES)),
        tags=tuple(draw(st.lists(st.sampled_from(_TAGS), max_size=3, unique=True))),
        expires_at=draw(st.one_of(st.none(), st.sampled_from(_TIMES))),
        attributes=draw(attributes()),
        status=draw(st.sampled_from(tuple(Status))),
    )


def _text_leaves(field: str, pool: Sequence[str]) -> st.SearchStrategy[Filter]:
    values = st.sampled_from(list(pool))
    return st.one_of(
        values.map(lambda value: Compare(field, Op.EQ, value)),
        st.lists(values, max_size=3).map(lambda several: Compare(field, Op.IN, tuple(several))),
        st.booleans().map(lambda there: Compare(field, Op.EXISTS, there)),
    )


def _number_leaves(field: str, pool: Sequence[float]) -> st.SearchStrategy[Filter]:
    values = st.sampled_from(list(pool))
    ordered = st.sampled_from((Op.GT, Op.GTE, Op.LT, Op.LTE, Op.EQ))
    return st.one_of(
        st.tuples(ordered, values).map(lambda pair: Compare(field, *pair)),
        st.lists(values, max_size=3).map(lambda several: Compare(field, Op.IN, tuple(several))),
        st.booleans().map(lambda there: Compare(field, Op.EXISTS, there)),
    )


def _attribute_leaves() -> st.SearchStrategy[Filter]:
    fields = st.sampled_from(KEYS).map(lambda key: ATTRIBUTE + key)
    ordered = st.sampled_from((Op.GT, Op.GTE, Op.LT, Op.LTE))
    return st.one_of(
        st.tuples(fields, scalars()).map(lambda pair: Compare(pair[0], Op.EQ, pair[1])),
        st.tuples(fields, st.lists(scalars(), max_size=3)).map(
            lambda pair: Compare(pair[0], Op.IN, tuple(pair[1]))
        ),
        st.tuples(fields, ordered, st.sampled_from(_NUMBERS)).map(lambda three: Compare(*three)),
        st.tuples(fields, st.booleans()).map(lambda pair: Compare(pair[0], Op.EXISTS, pair[1])),
    )


def leaves() -> st.SearchStrategy[Filter]:
    """Single comparisons: every operator on every kind of field that the language allows."""
    return st.one_of(
        _text_leaves("agent_id", ("default_agent", "a-b", "other")),
        _text_leaves("session_id", (*_SESSIONS, "other")),
        _text_leaves("source", ODD_IDS),
        _text_leaves("layer", tuple(Layer)),
        _text_leaves("status", tuple(Status)),
        _text_leaves("tags", (*_TAGS, "other")),
        _number_leaves("event_at", _TIMES),
        _number_leaves("created_at", _TIMES),
        _number_leaves("expires_at", _TIMES),
        _attribute_leaves(),
        _attribute_leaves(),
    )


def filters() -> st.SearchStrategy[Filter]:
    """Filter trees up to a few levels deep, empty conjunctions and disjunctions included."""
    return st.recursive(
        leaves(),
        lambda parts: st.one_of(
            st.lists(parts, max_size=3).map(lambda several: And(tuple(several))),
            st.lists(parts, max_size=3).map(lambda several: Or(tuple(several))),
            parts.map(Not),
        ),
        max_leaves=6,
    )


def vectors(dims: int) -> st.SearchStrategy[FloatArray]:
    """Unit vectors (dims,) float32, equal and opposite ones among them."""
    axes = [unit(row) for row in np.concatenate([np.eye(dims), -np.eye(dims)])]

    def random(seed: int) -> FloatArray:
        return unit(np.random.default_rng(seed).standard_normal(dims).astype(np.float32))

    return st.one_of(st.integers(0, 10_000).map(random), st.sampled_from(axes))


def terms(vocabulary: int = 12) -> st.SearchStrategy[TermVector]:
    """Term vectors over a small vocabulary, so that queries and documents meet."""
    ids = st.integers(0, vocabulary - 1).map(lambda one: one * 357_913_941 % (1 << 32))
    weights = st.sampled_from((0.2, 0.25, 0.5, 0.61, 0.75, 1.0))
    return st.dictionaries(ids, weights, max_size=6).map(term_vector)


@st.composite
def points(
    draw: st.DrawFn, dims: int, user_ids: Sequence[str] = ("u1", "u2"), max_size: int = 16
) -> list[Point]:
    """Lists of points with ids of their own, over `user_ids`."""
    size = draw(st.integers(0, max_size))
    return [
        Point(f"p{index}", draw(vectors(dims)), draw(terms()), draw(payloads(user_ids)))
        for index in range(size)
    ]
