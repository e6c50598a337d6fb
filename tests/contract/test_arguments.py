"""Every argument's bad values: an InvalidArgumentError that names it, before anything was touched."""

from __future__ import annotations

import inspect
import math
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from tests.support.embedding import DIMS, DottedEmbedding
from tests.support.faulty import Faults
from tests.support.stores import open_client

_ID: tuple[Any, ...] = ("", "  ", "\n", 7, ["u"], b"u", "a\0b", "x\ud83d", "x" * 513)
_IDS: tuple[Any, ...] = ("u", 7, [""], [" "], [7], [None], {"u": 1}, [["u"]], ["x" * 513])
_MOMENT: tuple[Any, ...] = ("yesterday", "", math.nan, math.inf, 1.7e12, True, [], {}, "2024-13-01", b"2024")
_FLAG: tuple[Any, ...] = (None, 1, "yes", [])
_WHOLE: tuple[Any, ...] = (None, 1.5, "3", True, [], math.nan)
_COUNT: tuple[Any, ...] = (*_WHOLE, -1)
_SCORE: tuple[Any, ...] = (None, "0.4", math.nan, math.inf, True, [])
_TEXT: tuple[Any, ...] = ("", "   ", "\n\t", 7, b"x", {})
_FILTERS: tuple[Any, ...] = (
    "tags",
    [],
    7,
    {"user_id": "v"},
    {"unknown": 1},
    {"metadata.": 1},
    {"metadata": {"a": 1}},
    {7: 1},
    {"tags": {}},
    {"tags": {"like": "x"}},
    {"tags": {"eq": ["x"]}},
    {"tags": 7},
    {"tags": {"gt": "x"}},
    {"tags": {"in": "abc"}},
    {"tags": {"exists": 1}},
    {"layer": "l9"},
    {"memory_at": "yesterday"},
    {"metadata.a": None},
    {"metadata.a": math.nan},
    {"metadata.a": {"gt": True}},
    {"and": []},
    {"or": {}},
    {"not": []},
    {"or": [{"tags": "x"}, {"nonsense": 1}]},
)
_ORIGIN: dict[str, tuple[Any, ...]] = {
    "user_id": (None, *_ID),
    "agent_id": (None, *_ID),
    "session_id": (None, *_ID),
    "source": (None, *_ID),
    "metadata": ([], "x", 7, {7: 1}, {"a": math.nan}, {"a": object()}, {"a": b"x"}, {"a": {"b": {1, 2}}}),
    "memory_at": _MOMENT,
    "request_id": _ID,
    "tags": ("travel", 7, [""], [7], [None], {"a": 1}),
    "layer": ("l9", "l0_basic_info", "l1_raw", 7, []),
    "evidence_ids": _IDS,
    "expires_at": _MOMENT,
}
_SCOPE: dict[str, tuple[Any, ...]] = {
    "agent_ids": _IDS,
    "session_ids": _IDS,
    "include_sources": _IDS,
    "exclude_sources": _IDS,
    "created_after": _MOMENT,
    "created_before": _MOMENT,
    "filters": _FILTERS,
    "layers": ("l2_fact", ["l9"], [7], [""], 7),
}
GOOD: dict[str, dict[str, Any]] = {
    "search": {"query": "alpha", "user_ids": ["u"]},
    "add": {"data": "alpha", "user_id": "u"},
    "add_extracted": {"contents": ["alpha"], "user_id": "u"},
    "update": {"memory_id": "m", "content": "beta"},
    "delete": {"memory_id": "m"},
    "delete_all": {"user_id": "u"},
    "clone_user": {"src_user_id": "u", "dst_user_id": "v"},
    "finalize_session": {"user_id": "u", "session_id": "s"},
    "get": {"memory_id": "m"},
    "list_memories": {"user_id": "u"},
    "memory_stats": {"user_id": "u"},
    "history": {"memory_id": "m"},
    "get_recent_history": {"user_id": "u"},
    "get_write_outcome": {"request_id": "r"},
    "doctor": {},
}
BAD: dict[str, dict[str, tuple[Any, ...]]] = {
    "search": {
        **_SCOPE,
        "query": (*_TEXT, None, ["a"]),
        "user_ids": (None, [], (), *_IDS),
        "limit": _COUNT,
        "min_score": _SCORE,
        "schema_limit": _WHOLE,
        "schema_min_score": _SCORE,
        "working_fact_min_score": _SCORE,
        "working_experience_min_score": tuple(one for one in _SCORE if one is not None),
        "as_of": _MOMENT,
        "intention_limit": _WHOLE,
        "reader": (None, 7, []),
        "scene": ("dream", 7, "", []),
        "search_mode": (None, "fast", 7, [], "agentic"),
        "workspace_id": ("w",),
        "branch": ("main",),
        "query_embedding": (
            [1.0],
            [1.0] * (DIMS + 1),
            [[1.0] * DIMS],
            [math.nan] * DIMS,
            [math.inf] * DIMS,
            [0.0] * DIMS,
            ["a"] * DIMS,
            "abc",
            7,
        ),
        "rerank": _FLAG,
        "request_id": _ID,
        "explain": (*_FLAG, "all"),
    },
    "add": {
        **_ORIGIN,
        "data": (
            *_TEXT,
            None,
            [],
            [{}],
            [{"role": "user"}],
            [{"role": "user", "content": " "}],
            [{"role": 7, "content": "x"}],
            [{"content": 7}],
            [{"content": [7]}],
            [7],
            [{"content": "x", "name": 7}],
            [{"content": "x", "timestamp": "later"}],
            [{"content": "x", "metadata": {"a": object()}}],
            [{"role": "assistant", "content": None, "tool_calls": [{}]}],
        ),
        "scene": ("dream", 7, "coding", "all"),
        "workspace_id": ("w",),
        "branch": ("main",),
    },
    "add_extracted": {
        **_ORIGIN,
        "contents": (None, "alpha", [], [""], [7], [{}], [{"content": " "}], [None], {"content": "x"}),
        "embeddings": (
            [],
            [[1.0]],
            [1.0] * DIMS,
            [[1.0] * DIMS] * 2,
            [[math.nan] * DIMS],
            [[0.0] * DIMS],
            "x",
        ),
    },
    "update": {
        "memory_id": (None, *_ID),
        "content": (*_TEXT, None),
        "tags": _ORIGIN["tags"],
        "metadata": _ORIGIN["metadata"],
        "memory_at": _MOMENT,
        "expires_at": _MOMENT,
        "user_id": _ID,
    },
    "delete": {"memory_id": (None, *_ID), "user_id": _ID},
    "delete_all": {"user_id": (None, *_ID), "agent_ids": _IDS, "session_ids": _IDS},
    "clone_user": {"src_user_id": (None, *_ID), "dst_user_id": (None, "u", *_ID)},
    "finalize_session": {"user_id": (None, *_ID), "session_id": (None, *_ID), "agent_id": (None, *_ID)},
    "get": {"memory_id": (None, *_ID), "versions": _FLAG, "user_id": _ID},
    "list_memories": {
        **_SCOPE,
        "user_id": (None, *_ID),
        "limit": _COUNT,
        "offset": _COUNT,
        "order": (None, "up", 7, []),
        "statuses": ("active", ["gone"], [7]),
        "scene": ("dream", 7, "", []),
        "workspace_id": ("w", 7, ""),
        "branch": ("main",),
    },
    "memory_stats": {"user_id": (None, *_ID)},
    "history": {"memory_id": (None, *_ID), "user_id": _ID},
    "get_recent_history": {"user_id": (None, *_ID), "limit": _COUNT},
    "get_write_outcome": {"request_id": (None, *_ID), "user_id": _ID},
    "doctor": {"repair": _FLAG},
}
CALLS = [
    pytest.param(verb, argument, value, id=f"{verb}-{argument}-{at}")
    for verb, arguments in BAD.items()
    for argument, values in arguments.items()
    for at, value in enumerate(values)
]


@pytest.fixture(scope="module")
def embedder() -> DottedEmbedding:
    return DottedEmbedding()


@pytest.fixture(scope="module")
def watched(
    tmp_path_factory: pytest.TempPathFactory, embedder: DottedEmbedding
) -> Generator[tuple[HyMemoryClient, Faults, Path]]:
    with pytest.MonkeyPatch.context() as patch:
        from hy_memory import plugins
        from tests.support import faulty

        faults = Faults()
        patch.setattr(faulty, "factory", faults)
        patch.setitem(plugins.BACKENDS, "faulty", faulty.PATH)
        folder = tmp_path_factory.mktemp("store")
        with open_client("faulty", folder, embedder) as client:
            client.add("alpha", user_id="u")
            yield client, faults, folder


def _rows(folder: Path) -> int:
    connection = sqlite3.connect(folder / "ledger.sqlite3")
    try:
        return connection.execute("SELECT max(seq) FROM changes").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize(("verb", "argument", "value"), CALLS)
def test_a_bad_value_is_refused_by_name_before_anything_is_touched(
    watched: tuple[HyMemoryClient, Faults, Path],
    embedder: DottedEmbedding,
    verb: str,
    argument: str,
    value: object,
) -> None:
    client, faults, folder = watched
    before = (faults.calls, embedder.calls, _rows(folder))
    with pytest.raises(InvalidArgumentError) as caught:
        getattr(client, verb)(**{**GOOD[verb], argument: value})
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument.replace("[", ".").split(".")[0] == argument
    assert (faults.calls, embedder.calls, _rows(folder)) == before


def test_the_table_covers_every_argument_of_every_verb() -> None:
    free = {("search", "queries"), ("add", "query")}  # `queries` has a test of its own
    for verb, arguments in BAD.items():
        taken = set(inspect.signature(getattr(HyMemoryClient, verb)).parameters) - {"self"}
        assert {one for one in taken if (verb, one) not in free} == set(arguments), verb


@pytest.mark.parametrize("verb", sorted(GOOD))
def test_the_good_call_of_the_table_is_good(watched: tuple[HyMemoryClient, Faults, Path], verb: str) -> None:
    client, _, _ = watched
    arguments = dict(GOOD[verb])
    if verb == "update":
        arguments["memory_id"] = client.add("gamma", user_id="u")["memory_id"]
    getattr(client, verb)(**arguments)


def test_required_arguments_are_keywords_and_required(client: HyMemoryClient) -> None:
    """C79: nobody deletes or lists everybody's by leaving something out."""
    loose: Any = client
    for call in (
        lambda: loose.search("alpha"),
        lambda: loose.search("alpha", ["u"]),
        loose.delete_all,
        lambda: loose.delete_all("u"),
        loose.list_memories,
        lambda: loose.add("alpha"),
        lambda: loose.add("alpha", "u"),
    ):
        with pytest.raises(TypeError):
            call()
