"""Hypothesis strategies for what callers pass to `add` and `search`, and what their filters mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from hypothesis import strategies as st

from tests.support.embedding import POOL, text
from tests.support.oracle import Memory

Arguments = dict[str, Any]

WORDS = ("alpha", "beta", "gamma", "running", "GOALS.md", "备份数据", "chat-send", "v2.0.6", "the", "tea")
SOURCES = ("default", "app", "o'brien", "mixed")
SESSIONS = ("default_session", "a.b:c@d", "用户一")
AGENTS = ("default_agent", "a-b")
TAGS = ("travel", "Travel", "旅行", "1")
LAYERS = ("l2_fact", "l3_summary", "l4_identity", "l5_knowledge", "l6_schema", "l7_intention")
PAST, FUTURE = 1_000_000_000.0, 4_000_000_000.0
_MOMENTS = (1_704_844_800.0, 1_710_028_800.5, 0.0, -86_400.0)
_KEYS = ("project", "a.b", "$or", "__proto__", "x') OR 1=1 --", "caption")
_VALUES: tuple[Any, ...] = ("atlas", "1", 1, 1.5, True, False, -2)


def places() -> st.SearchStrategy[int]:
    """Which vector of POOL a text has."""
    return st.integers(0, len(POOL) - 1)


def texts() -> st.SearchStrategy[str]:
    """Short texts over a small vocabulary, so that words meet, with a vector each."""
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
    return st.builds(text, words, places())


@st.composite
def drafts(draw: st.DrawFn) -> Arguments:
    """Arguments of `add` but for the user."""
    given_at = draw(st.one_of(st.none(), st.sampled_from(_MOMENTS)))
    values = st.one_of(st.sampled_from(_VALUES), st.lists(st.sampled_from(_VALUES), max_size=2))
    metadata: Arguments = draw(st.dictionaries(st.sampled_from(_KEYS[:-1]), values, max_size=2))
    if draw(st.booleans()):
        metadata["caption"] = draw(st.sampled_from(WORDS))
    return {
        "data": draw(texts()),
        "agent_id": draw(st.sampled_from(AGENTS)),
        "session_id": draw(st.sampled_from(SESSIONS)),
        "source": draw(st.sampled_from(SOURCES)),
        "layer": draw(st.sampled_from((None, None, *LAYERS))),
        "tags": draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True)),
        "metadata": metadata,
        "memory_at": given_at,
        "expires_at": draw(st.sampled_from((None, None, None, PAST, FUTURE))),
    }


def memory_of(draft: Mapping[str, Any], memory_id: str, user_id: str) -> Memory:
    """Return what the oracle keeps of an `add` with `draft`."""
    return Memory(
        memory_id,
        user_id,
        draft["data"],
        0.0,
        draft["agent_id"],
        draft["session_id"],
        draft["source"],
        draft["layer"] or "l2_fact",
        tuple(draft["tags"]),
        draft["metadata"],
        draft["memory_at"],
        draft["expires_at"],
    )


@st.composite
def scopes(draw: st.DrawFn) -> Arguments:
    """The filtering arguments of `search`, each there or not."""
    several = {
        "agent_ids": st.lists(st.sampled_from(AGENTS), max_size=2),
        "session_ids": st.lists(st.sampled_from((*SESSIONS, "other")), max_size=2),
        "include_sources": st.lists(st.sampled_from((*SOURCES, "APP")), max_size=2),
        "exclude_sources": st.lists(st.sampled_from(SOURCES), max_size=1),
        "created_after": st.sampled_from((PAST, *_MOMENTS)),
        "created_before": st.sampled_from((FUTURE, *_MOMENTS)),
        "layers": st.lists(st.sampled_from((*LAYERS, "l1_raw")), max_size=3),
        "filters": spelled_filters(),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(several)), max_size=2, unique=True))
    return {name: draw(several[name]) for name in chosen}


def spelled_filters() -> st.SearchStrategy[Arguments]:
    """Filters as callers spell them, every operator and kind of field."""
    return st.recursive(
        _leaves(),
        lambda parts: st.one_of(
            st.lists(parts, min_size=1, max_size=2).map(lambda several: {"and": several}),
            st.lists(parts, min_size=1, max_size=2).map(lambda several: {"or": several}),
            parts.map(lambda part: {"not": part}),
        ),
        max_leaves=4,
    )


def _leaves() -> st.SearchStrategy[Arguments]:
    fields: tuple[tuple[str, tuple[Any, ...]], ...] = (
        ("tags", TAGS),
        ("layer", LAYERS),
        ("source", SOURCES),
        ("session_id", SESSIONS),
        ("agent_id", AGENTS),
        *((f"metadata.{key}", _VALUES) for key in _KEYS),
    )
    plain = st.sampled_from(fields).flatmap(lambda field: _conditions(field[0], st.sampled_from(field[1])))
    numbers = st.sampled_from([one for one in _VALUES if not isinstance(one, str | bool)])
    ordered = _ordered(st.sampled_from([f"metadata.{key}" for key in _KEYS]), numbers)
    times = _ordered(
        st.sampled_from(("memory_at", "created_at", "expires_at")), st.sampled_from((PAST, FUTURE, *_MOMENTS))
    )
    return st.one_of(plain, plain, ordered, times)


def _conditions(field: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Arguments]:
    return st.one_of(
        values,
        st.tuples(st.sampled_from(("eq", "ne", "contains")), values).map(lambda pair: {pair[0]: pair[1]}),
        st.tuples(st.sampled_from(("in", "nin")), st.lists(values, max_size=2)).map(
            lambda pair: {pair[0]: pair[1]}
        ),
        st.booleans().map(lambda there: {"exists": there}),
    ).map(lambda condition: {field: condition})


def _ordered(fields: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Arguments]:
    operators = st.sampled_from(("gt", "gte", "lt", "lte"))
    return st.tuples(fields, operators, values).map(lambda three: {three[0]: {three[1]: three[2]}})


def admits(arguments: Mapping[str, Any]) -> Callable[[Memory], bool]:
    """Return which memories the filtering arguments of a search let through."""

    def every(memory: Memory) -> bool:
        return all(_ARGUMENTS[name](value, memory) for name, value in arguments.items()) and _sources(
            arguments, memory
        )

    return every


def admitted_sources(arguments: Mapping[str, Any]) -> Callable[[Memory], bool] | None:
    """Return what the source filter of a search admits, None where it has none."""
    if not arguments.get("include_sources") and not arguments.get("exclude_sources"):
        return None
    return lambda memory: _sources(arguments, memory)


def _listed(field: str) -> Callable[[Any, Memory], bool]:
    return lambda value, memory: not value or getattr(memory, field) in value


def _sources(arguments: Mapping[str, Any], memory: Memory) -> bool:
    allowed = [one.lower() for one in arguments.get("include_sources") or ()]
    denied = arguments.get("exclude_sources") or ()
    if not allowed and not denied:
        return True
    if memory.source == "mixed" and "mixed" not in allowed:
        return False
    return memory.source not in denied and (not allowed or memory.source in allowed)


def matches(spelled: Mapping[str, Any], memory: Memory) -> bool:
    """Return whether `memory` satisfies a filter, read straight from its spelling."""
    return all(_clause(key, value, memory) for key, value in spelled.items())


def _clause(key: str, value: Any, memory: Memory) -> bool:
    if key == "and":
        return all(matches(part, memory) for part in value)
    if key == "or":
        return any(matches(part, memory) for part in value)
    if key == "not":
        return not matches(value, memory)
    held = _held(key, memory)
    if not isinstance(value, Mapping):
        return _compare("eq", held, value)
    conditions = cast("Mapping[str, Any]", value)
    return all(_compare(operator, held, operand) for operator, operand in conditions.items())


def _held(key: str, memory: Memory) -> list[Any]:
    if key.startswith("metadata."):
        value: Any = memory.metadata.get(key.removeprefix("metadata."))
    else:
        value = getattr(memory, "event_at" if key == "memory_at" else key)
    several: list[Any] = list(cast("list[Any]", value)) if isinstance(value, list | tuple) else [value]
    return [one for one in several if isinstance(one, str | int | float)]


def _compare(operator: str, held: list[Any], operand: Any) -> bool:
    if operator == "exists":
        return bool(held) == operand
    if operator in ("ne", "nin"):
        return not _compare("eq" if operator == "ne" else "in", held, operand)
    if operator == "in":
        return any(_compare("eq", held, one) for one in operand)
    if operator in ("eq", "contains"):
        return any(isinstance(one, bool) == isinstance(operand, bool) and one == operand for one in held)
    numbers = [one for one in held if not isinstance(one, str | bool)]
    return any(_ORDERED[operator](one, operand) for one in numbers)


_ORDERED: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
}

_ARGUMENTS: dict[str, Callable[[Any, Memory], bool]] = {
    "agent_ids": _listed("agent_id"),
    "session_ids": _listed("session_id"),
    "layers": _listed("layer"),
    "include_sources": lambda _value, _memory: True,  # together, in `_sources`
    "exclude_sources": lambda _value, _memory: True,
    "created_after": lambda value, memory: memory.event_at >= value,
    "created_before": lambda value, memory: memory.event_at <= value,
    "filters": matches,
}
