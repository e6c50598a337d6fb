"""No parameter of `search` and no field of an item without its test, on every backend and both readers.

The tables name tests; each is looked up among those that pytest collects, must run for every backend
and reader, and must speak of what it is said to test.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_type_hints

import pytest

from hy_memory import HyMemoryClient
from hy_memory.answers import FoundItem
from tests.contract import test_parameters
from tests.support.stores import EVERYWHERE, READERS

ROOT = Path(__file__).parents[2]
HERE = "tests/contract/test_parameters.py"

_FILTER = "test_a_stricter_filter_only_takes_away"
_WORKING = "test_arguments_of_working_memory_change_no_chat_answer"
PARAMETERS = {
    "query": "test_query_by_place_and_by_name",
    "queries": "test_queries_ask_the_last_of_them",
    "user_ids": "test_user_ids_alone_decide_whose_memories_come",
    **dict.fromkeys(("agent_ids", "session_ids", "include_sources", "exclude_sources"), _FILTER),
    **dict.fromkeys(("created_after", "created_before", "layers", "filters"), _FILTER),
    "limit": "test_a_higher_limit_only_appends",
    "min_score": "test_a_higher_min_score_only_removes",
    "schema_limit": "test_schema_limit_is_a_cap_of_its_own",
    "schema_min_score": "test_schema_min_score_gates_what_no_hit_is_cited_by",
    "intention_limit": "test_intention_limit_switches_proactive_on",
    "reader": "test_reader_adds_keywords_and_nothing_else",
    "scene": "test_scene_and_search_mode_by_name",
    "search_mode": "test_scene_and_search_mode_by_name",
    **dict.fromkeys(("workspace_id", "branch"), _WORKING),
    **dict.fromkeys(("working_fact_min_score", "working_experience_min_score"), _WORKING),
    "query_embedding": "test_query_embedding_is_the_question_to_the_vector_leg",
    "rerank": "test_rerank_false_is_the_order_without_a_model",
    "request_id": "test_request_id_is_echoed_or_made",
    "explain": "test_explain_adds_and_changes_nothing",
}
"""Each parameter of `search`, and its test in tests/contract/test_parameters.py."""
FIELDS = {
    **dict.fromkeys(
        ("memory_id", "content", "score", "layer", "user_id", "agent_id"), "test_every_field_of_an_item"
    ),
    **dict.fromkeys(("session_id", "source", "retrieval_source", "owner"), "test_every_field_of_an_item"),
    **dict.fromkeys(("tags", "memory_at", "gmt_created", "meta"), "test_every_field_of_an_item"),
    "evolution_chain": "test_evolution_chain_of_an_updated_memory",
    "superseded_elsewhere": "test_superseded_elsewhere_and_the_chain_of_a_successor",
    "evidence": "test_explain_adds_and_changes_nothing",
}
"""Each field of an item, and its test there."""
_EPISODES = "tests/episodes/test_episodes.py::test_a_hit_comes_with_its_episode"
ELSEWHERE = {
    "as_of": "tests/contract/test_as_of.py",
    "rerank_score": "tests/rerank/test_stage.py::test_rerank_only_reorders_what_was_confirmed",
    "folded": "tests/buckets/test_fold.py",
    "part_of": "tests/dynamics/test_long_texts.py",
    "position": "tests/dynamics/test_long_texts.py",
    **dict.fromkeys(("episode_id", "capsule_memories", "timeline"), _EPISODES),
}
"""Parameters and fields whose tests need stores or models of their own: a test, or a file of tests."""


@cache
def _collected() -> tuple[str, ...]:
    """Return the ids of the tests in the files that the tables name, as pytest collects them."""
    files = sorted({HERE, *(one.partition("::")[0] for one in ELSEWHERE.values())})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-n", "0", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return tuple(line for line in done.stdout.splitlines() if "::" in line)


def test_every_parameter_has_its_row() -> None:
    taken = set(inspect.signature(HyMemoryClient.search).parameters) - {"self"}
    assert taken == (set(PARAMETERS) | set(ELSEWHERE)) & taken
    assert set(PARAMETERS) <= taken


def test_every_field_has_its_row() -> None:
    fields = set(get_type_hints(FoundItem))
    assert fields == (set(FIELDS) | set(ELSEWHERE)) & fields
    assert set(FIELDS) <= fields


@pytest.mark.parametrize(("subject", "test"), [*PARAMETERS.items(), *FIELDS.items()])
def test_it_runs_on_every_backend_and_reader_and_speaks_of_it(subject: str, test: str) -> None:
    runs = {one.partition("[")[2].rstrip("]") for one in _collected() if one.startswith(f"{HERE}::{test}[")}
    assert runs == {f"{backend}-{reader}" for backend in EVERYWHERE for reader in READERS}
    assert _names(test, subject)


def _names(test: str, subject: str) -> bool:
    """Return whether a test passes an argument, or reads a key, of that name."""
    if test == _FILTER:
        return any(subject in stricter for stricter, _ in test_parameters.STRICTER)
    tree = ast.parse(inspect.getsource(getattr(test_parameters, test)))
    keywords = {one.arg for one in ast.walk(tree) if isinstance(one, ast.keyword)}
    texts = {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)}
    return subject in keywords | texts


@pytest.mark.parametrize(("subject", "where"), ELSEWHERE.items())
def test_what_is_tested_elsewhere_is(subject: str, where: str) -> None:
    assert any(one.startswith(where) for one in _collected()), "name the test that is there now"
    text = (ROOT / where.partition("::")[0]).read_text(encoding="utf-8")
    assert re.search(rf"\b{subject}\b", text)
