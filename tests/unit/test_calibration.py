"""The benchmarks of calibration and significance count what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration import EDGES, THRESHOLDS, Calibration, binned, measure, page, strangers
from benchmarks.retrieval import load
from benchmarks.significance import interval, read_runs, scores
from hy_memory import HyMemoryClient


def _sets(folder: Path) -> tuple[Path, Path]:
    corpus, queries = folder / "s.corpus.jsonl", folder / "s.queries.jsonl"
    documents = [
        {"id": "1", "user_id": "u", "text": "alpha"},
        {"id": "2", "user_id": "u", "text": "zeta."},
        {"id": "3", "user_id": "v", "text": "gamma.."},
    ]
    questions = [
        {"id": "q", "user_id": "u", "text": "alpha", "relevant": ["1"]},
        {"id": "r", "user_id": "v", "text": "alpha", "relevant": ["3"]},
        {"id": "s", "user_id": "u", "text": "alpha", "relevant": []},
    ]
    for path, lines in ((corpus, documents), (queries, questions)):
        path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return corpus, queries


def test_scores_are_counted_where_they_fall() -> None:
    pairs = [(0.0, False), (0.45, True), (0.5, False), (0.99, True), (1.0, True)]
    shown, relevant = binned(pairs)
    assert shown == (1, 0, 1, 1, 0, 0, 0, 2)
    assert relevant == (0, 0, 1, 0, 0, 0, 0, 2)
    assert len(shown) == len(EDGES) - 1


def test_a_stranger_is_another_user_of_the_set() -> None:
    assert strangers(["b", "a", "c", "a"]) == {"a": "b", "b": "c", "c": "a"}
    assert strangers(["a", "a"]) == {}


def test_a_set_is_measured_at_the_default_threshold(client: HyMemoryClient, tmp_path: Path) -> None:
    """By the vectors: u's question meets 1 at score 1 and 2 at 0.5; v's meets 3 at 0, and 1 and 2 of u."""
    corpus, queries = _sets(tmp_path)
    load(client, corpus)
    found = measure(client, "s", queries, "dotted", "legacy")
    assert found.precision == (0.5, 1.0, 1.0, 1.0)
    assert found.recall == (0.5, 0.5, 0.5, 0.5)
    assert sum(found.shown) == 3
    assert sum(found.relevant) == 2
    # asked of v, "alpha" gets nothing; asked of u, its own words
    assert (found.strangers_asked, found.answered) == (2, (0.5, 0.5, 0.5, 0.5))
    assert "| s | dotted | legacy | 0.50 | 0.50 | 0.50 | 1.00 | 0.50 | 0.50 |" in page([found])


def test_an_empty_set_makes_a_page() -> None:
    nothing = (0,) * (len(EDGES) - 1)
    none = (0.0,) * len(THRESHOLDS)
    made = page([Calibration("s", "e", "legacy", nothing, nothing, none, none, none, 0)])
    assert "| s | e | legacy | – | – |" in made
    assert "| 0.00 | 0.00 | – |" in made


def test_an_interval_holds_the_mean_and_leaves_zero_out_where_all_gain() -> None:
    mean, low, high = interval(np.array([0.1] * 30 + [0.2] * 30))
    assert low < mean < high
    assert low > 0.1
    mean, low, high = interval(np.array([0.5, -0.5] * 30))
    assert (mean, low < 0 < high) == (0.0, True)
    assert interval(np.array([0.5, -0.5] * 30)) == (mean, low, high)  # from one seed


def test_runs_are_read_by_set_and_missing_questions_count_as_empty(tmp_path: Path) -> None:
    _, queries = _sets(tmp_path)
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "s.hybrid.jsonl").write_text('{"id": "q", "ranked": ["2", "1"]}\n', encoding="utf-8")
    found = scores(queries, read_runs(runs)["s"])
    assert found.tolist() == [[1.0, pytest.approx(1 / np.log2(3))], [0.0, 0.0]]
    (runs / "s.legacy.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="several runs of s"):
        read_runs(runs)
