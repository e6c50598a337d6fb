"""The benchmark of what grows: its stores, that every curve has its points, and what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scaling import measure, stores
from benchmarks.scaling.table import growth, page

CURVE = [{"x": 10, "legacy ms": 1.0, "hybrid ms": 2.0}, {"x": 1000, "legacy ms": 1.2, "hybrid ms": 3.0}]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stores, "USER", 20)
    monkeypatch.setattr(stores, "BLOCK", 60)
    return tmp_path


def test_a_user_has_the_same_memories_in_a_store_of_any_size(cache: Path) -> None:
    asked = stores.questions(3, 4)
    found = []
    for size in (60, 100):
        with stores.open_client(stores.store_of(cache, size)) as client:
            search = measure.searching(client)
            answers = [search(one, "hybrid")["memories"]["normal"] for one in asked]
            found.append([[hit["content"] for hit in hits] for hits in answers])
            assert {hit["user_id"] for hit in answers[1]} == {"user1"}
            stats = [client.memory_stats(user_id=stores.user_name(user))["total"] for user in range(5)]
            assert stats == ([20, 20, 20, 0, 0] if size == 60 else [20] * 5)
    assert found[0] == found[1]
    assert len(found[0][0]) == measure.LIMIT
    built = stores.store_of(cache, 60) / ".built"
    assert built.stat().st_mtime_ns == (stores.store_of(cache, 60) / ".built").stat().st_mtime_ns


def test_conditions_are_met_by_everything_and_users_add_up(cache: Path) -> None:
    folder = stores.store_of(cache, 60)
    with stores.open_client(folder) as client:
        (question,) = stores.questions(1, 1)
        plain = measure.searching(client)(question, "legacy")["memories"]["normal"]
        narrow = {"and": [{"metadata.rank": {"gte": -1}}, {"metadata.rank": {"gte": 0}}]}
        same = measure.searching(client, filters=narrow)(question, "legacy")["memories"]["normal"]
        assert [hit["memory_id"] for hit in same] == [hit["memory_id"] for hit in plain]
        for points, xs in (
            (measure.by_users_asked(client, (1, 2), 3), [1, 2]),
            (measure.by_filters(client, (0, 1), 3), [0, 1]),
            (measure.by_threads(client, (1, 2), 4), [1, 2]),
        ):
            assert [one["x"] for one in points] == xs
            assert all(one["hybrid ms"] > 0 for one in points)


def test_users_of_several_sizes_and_calls_of_several_sizes(cache: Path) -> None:
    points = measure.by_user(cache, (5, 70), 2)
    assert [one["x"] for one in points] == [5, 70]
    calls = measure.ingest(cache, (1, 4), 8)
    assert [one["x"] for one in calls] == [1, 4]


def test_growth_beyond_what_was_promised_is_told() -> None:
    assert growth(CURVE, "hybrid") == 1.5
    about = {"date": "", "cpu": "", "cores": 2, "python": "", "seed": 7, "questions": 1}
    shown = page({"about": about, "load": {"store": 0.5}, "curves": {"store": CURVE}})
    assert "From 10 to 1,000 memories at the same size of user: `legacy` 1.20× (reached)" in shown
    assert "`hybrid` 1.50× (**missed**); promised ≤ 1.3×" in shown
    assert "Threads" not in shown
