"""docs/reference/parity.md: what Hy-Memory 2.0.6 accepts is accepted here, or is in a table with a reason."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from hy_memory import HyMemoryClient
from hy_memory.settings.describe import environment_table
from hy_memory.settings.legacy_env import is_known_elsewhere

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "parity.md").read_text(encoding="utf-8")
REQUIRED = "required"

_SCOPE = {"agent_id": "default_agent", "session_id": "default_session", "source": "default"}
_WRITTEN = {"metadata": None, "memory_at": None, "request_id": None}
_WHERE = {"agent_ids": None, "session_ids": None, "include_sources": None, "exclude_sources": None}
_NAMESPACE = {"kind": None, "variant": None}
THEIRS: dict[str, dict[str, object]] = {
    "from_config": {"config_dict": REQUIRED, "mode": None, "embedding_service": None},
    "add": {
        "data": REQUIRED,
        "user_id": "",
        **_SCOPE,
        **_WRITTEN,
        "scene": None,
        "workspace_id": None,
        "branch": None,
        "meta": None,
        "embed_override": None,
    },
    "add_extracted": {"contents": REQUIRED, "user_id": "", **_SCOPE, **_WRITTEN},
    "search": {
        "query": None,
        "queries": None,
        "scene": None,
        "search_mode": "default",
        "user_ids": None,
        **_WHERE,
        "limit": 10,
        "min_score": 0.4,
        "working_fact_min_score": None,
        "working_experience_min_score": None,
        "schema_min_score": 0.4,
        "schema_limit": 10,
        "intention_limit": 0,
        "created_after": None,
        "reader": "",
        "workspace_id": None,
        "branch": None,
        "request_id": None,
        "layers": None,
        "embed_override": None,
        "query_embedding": None,
        "rerank": True,
    },
    "get": {"memory_id": REQUIRED, **_NAMESPACE},
    "update": {"memory_id": REQUIRED, "content": REQUIRED, **_NAMESPACE, "task": None},
    "delete": {"memory_id": REQUIRED, **_NAMESPACE},
    "delete_all": {"user_id": "", "agent_ids": None, "session_ids": None},
    "list_memories": {
        "user_id": "",
        "agent_id": None,
        "limit": 100,
        "offset": 0,
        "order": "desc",
        "workspace_id": None,
        "branch": None,
        "user_ids": None,
        **_WHERE,
        "layers": None,
        "statuses": None,
        "with_evolution": False,
        "scene": None,
    },
    "memory_stats": {"user_id": "", "statuses": None},
    "get_user_profile": {"user_id": REQUIRED},
    "get_user_basic_info": {"user_id": ""},
    "clone_user": {"src_user_id": REQUIRED, "dst_user_id": REQUIRED, "agent_id": None},
    "evolve": {"user_id": REQUIRED, "agent_id": "default_agent", "max_batches": None},
    "sweep": {"user_ids": REQUIRED, "agent_ids": None},
    "get_metrics": {"minutes": 5},
    "history": {"memory_id": REQUIRED},
    "get_recent_history": {"user_id": "", "agent_ids": None, "limit": 50},
    "get_write_outcome": {"request_id": REQUIRED},
    "finalize_session": {"user_id": REQUIRED, "agent_id": "default_agent", "session_id": REQUIRED},
    "build_memory_graph": {"user_id": REQUIRED, "agent_id": None, "limit": 10000, "clear_first": False},
    "build_entity_store": {"user_id": REQUIRED, "agent_id": "default_agent", "rebuild": False},
    "close": {},
}
"""The parameters of 2.0.6 and their defaults, verb by verb; their async twins have the same."""
POSITIONAL = {
    "from_config": 1,
    "add": 1,
    "add_extracted": 1,
    "search": 1,
    "get": 1,
    "update": 2,
    "delete": 1,
    "clone_user": 2,
    "evolve": 1,
    "history": 1,
    "get_recent_history": 1,
    "get_write_outcome": 1,
}
"""How many leading arguments their calls commonly give by place."""


def _ours(verb: str) -> dict[str, inspect.Parameter]:
    taken = inspect.signature(getattr(HyMemoryClient, verb)).parameters
    return {name: one for name, one in taken.items() if name != "self"}


def _rows(title: str) -> list[tuple[str, ...]]:
    section = PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


def _code(text: str) -> str:
    return text.strip("` ")


def test_every_verb_is_here_or_in_the_table() -> None:
    listed = {_code(row[0]): row[1] for row in _rows("Verbs of theirs that are not here")}
    assert set(listed) == {verb for verb in THEIRS if not hasattr(HyMemoryClient, verb)}
    assert all(listed.values())
    for verb in set(THEIRS) - set(listed) - {"from_config"}:
        assert hasattr(HyMemoryClient, f"async_{verb}")


def test_every_parameter_is_accepted_or_in_the_table() -> None:
    rows = _rows("Parameters of theirs that are not accepted")
    listed = {(_code(verb), _code(name)): why for verb, name, why in rows}
    missing = {
        (verb, name)
        for verb, parameters in THEIRS.items()
        if hasattr(HyMemoryClient, verb)
        for name in parameters
        if name not in _ours(verb)
    }
    assert set(listed) == missing
    assert all(listed.values())


def test_every_default_is_the_same_or_in_the_table() -> None:
    listed = {
        (_code(verb), _code(name)): (_code(theirs), _code(here))
        for verb, name, theirs, here, _ in _rows("Defaults that differ")
    }
    differing: dict[tuple[str, str], tuple[str, str]] = {}
    for verb, parameters in THEIRS.items():
        ours = _ours(verb) if hasattr(HyMemoryClient, verb) else {}
        for name, theirs in parameters.items():
            if name in ours:
                here: object = (
                    REQUIRED if ours[name].default is inspect.Parameter.empty else ours[name].default
                )
                if here != theirs or isinstance(here, bool) != isinstance(theirs, bool):
                    differing[verb, name] = (_shown(theirs), _shown(here))
    assert listed == differing


def _shown(default: object) -> str:
    return REQUIRED if default == REQUIRED else repr(default)


@pytest.mark.parametrize(("verb", "count"), POSITIONAL.items())
def test_what_they_pass_by_place_has_its_place(verb: str, count: int) -> None:
    by_place = [
        name
        for name, one in _ours(verb).items()
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    assert len(by_place) >= count
    if verb != "from_config":
        assert by_place[:count] == list(THEIRS[verb])[:count]


def test_the_environment_of_the_page_is_read() -> None:
    section = PAGE.split("## Environment\n", 1)[1].split("\n\n", 1)[0]
    named = set(re.findall(r"`([A-Z_]+)`", section))
    prefix = "MEMORY_LOCAL_RERANK_"
    named = {name for name in named if name.startswith(("MEMORY_", "HY_MEMORY_")) and name != prefix} | {
        prefix + name for name in named if not name.startswith(("MEMORY_", "HY_MEMORY_"))
    }
    assert len(named) == 27
    assert named <= set(re.findall(r"`([A-Z_0-9]+)`", environment_table()))
    for ignored in ("MEMORY_QDRANT_URL", "MEMORY_GRAPH_STORE", "HY_MEMORY_READER_BM25_K1", "HCM_BLOCKS"):
        assert is_known_elsewhere(ignored)
