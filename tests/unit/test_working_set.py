"""Working sets: columns mean what filters mean, versions never change, users come and go whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory.errors import LedgerError
from hy_memory.filters.evaluate import evaluate
from hy_memory.filters.tree import EVERYTHING, Compare, Filter, Op
from hy_memory.keyword.index import UserPostings
from hy_memory.keyword.postings import Postings
from hy_memory.keyword.statistics import TermStatistics
from hy_memory.testing.fakes import ListSource, make_point, payload_for, term_vector
from hy_memory.testing.strategies import filters, payloads
from hy_memory.values.point import Changes, IdArray, Payload, Point, TermVector
from hy_memory.working_set.cache import WorkingSets
from hy_memory.working_set.rows import Rows
from hy_memory.working_set.top import top

ANA = payload_for("ana")


def plain(point_id: str, payload: Payload = ANA, *terms: int) -> Point:
    return make_point(point_id, payload, [1.0, 0.0], dict.fromkeys(terms, 0.5))


def live_ids(rows: Rows, tree: Filter = EVERYTHING) -> set[str]:
    mask = rows.admitted(tree)
    places = range(rows.size) if mask is None else np.flatnonzero(mask).tolist()
    return {rows.ids[row] for row in places}


@settings(max_examples=100, deadline=None)
@given(
    found=st.lists(payloads(("ana",)), max_size=12),
    later=st.lists(payloads(("ana",)), max_size=6),
    tree=filters(),
)
def test_columns_mean_what_evaluate_says(found: list[Payload], later: list[Payload], tree: Filter) -> None:
    """C07, C69: a mask is the reference meaning row by row, before and after rows were added."""
    points = [plain(f"p{row}", payload) for row, payload in enumerate(found)]
    added = [plain(f"q{row}", payload) for row, payload in enumerate(later)]
    rows = Rows.build(points)
    expected = {one.id for one in points if evaluate(tree, one.payload)}
    assert live_ids(rows, tree) == expected
    newer = rows.advance(Changes(1, tuple(added), ())).rows
    assert live_ids(newer, tree) == expected | {one.id for one in added if evaluate(tree, one.payload)}
    assert live_ids(rows, tree) == expected


@settings(deadline=None)
@given(value=st.sampled_from(("ana", "ben", 1, True)), op=st.sampled_from((Op.EQ, Op.IN, Op.EXISTS)))
def test_the_user_is_a_field_too(value: str | int | bool, op: Op) -> None:
    """A tree may name the user, which is no column because all rows share it."""
    operand = {Op.EQ: value, Op.IN: (value, "cem"), Op.EXISTS: value is True}[op]
    node = Compare("user_id", op, operand)
    assert live_ids(Rows.build([plain("p")]), node) == ({"p"} if evaluate(node, ANA) else set())


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.dictionaries(st.integers(0, 9), st.sampled_from(("mail", "chat")), max_size=4),
            st.sets(st.integers(0, 9), max_size=4),
        ),
        max_size=8,
    )
)
def test_versions_never_change(steps: list[tuple[dict[int, str], set[int]]]) -> None:
    """A reader who holds a version sees the same points in it, however many changes follow."""
    rows = Rows.build([])
    now: dict[str, str] = {}
    versions: list[tuple[Rows, dict[str, str]]] = [(rows, {})]
    for put, remove in steps:
        upserted = tuple(plain(f"p{one}", replace(ANA, source=source)) for one, source in put.items())
        gone = tuple(f"p{one}" for one in sorted(remove - put.keys()))
        rows = rows.advance(Changes(1, upserted, gone)).rows
        now = {key: value for key, value in now.items() if key not in gone}
        now |= {f"p{one}": source for one, source in put.items()}
        versions.append((rows, now))
    for version, expected in versions:
        assert version.count == len(expected)
        assert live_ids(version) == expected.keys()
        mail = {key for key, source in expected.items() if source == "mail"}
        assert live_ids(version, Compare("source", Op.EQ, "mail")) == mail
    everyone = [f"p{one}" for one in range(10)]
    found = dict(zip(everyone, rows.find(everyone).tolist(), strict=True))
    assert {key for key, row in found.items() if row >= 0} == now.keys()
    assert all(rows.ids[row] == key for key, row in found.items() if row >= 0)


def test_an_older_version_finds_the_row_it_knew() -> None:
    """An update between looking and finding does not hide the point from the older reader."""
    older = Rows.build([plain("p"), plain("q")])
    newer = older.advance(Changes(1, (plain("p"),), ())).rows
    newest = newer.advance(Changes(2, (plain("p"), plain("r")), ())).rows
    assert older.find(["p", "q", "r"]).tolist() == [0, 1, -1]
    assert newer.find(["p", "q", "r"]).tolist() == [2, 1, -1]
    assert newest.find(["p", "q", "r"]).tolist() == [3, 1, 4]


def test_the_dead_are_moved_out() -> None:
    """C14: rows, columns and postings shrink after many deletions, and the living keep their places."""
    points = [plain(f"p{row}", replace(ANA, source=f"s{row % 3}"), row, 7_000) for row in range(1_200)]
    older = UserPostings.build(points)
    newer = older.advance(Changes(1, (), tuple(f"p{row}" for row in range(0, 900))))
    newer = newer.advance(Changes(2, (plain("late", ANA, 901, 7_000),), ("p900",)))
    assert newer.rows.size < 400
    assert newer.nbytes < older.nbytes / 2
    assert live_ids(newer.rows) == {f"p{row}" for row in range(901, 1_200)} | {"late"}
    assert live_ids(newer.rows, Compare("source", Op.EQ, "s2")) == {f"p{row}" for row in range(902, 1_200, 3)}
    matches = newer.postings.matches(np.array([5, 901, 7_000], dtype=np.uint32), newer.rows.alive)
    assert matches.frequencies.tolist() == [0, 2, 300]
    assert {newer.rows.ids[row] for row in matches.rows[matches.places == 1]} == {"p901", "late"}
    assert len(live_ids(older.rows)) == 1_200


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(1, 60), max_size=12))
def test_postings_hold_every_term_of_every_row(seed: int, sizes: list[int]) -> None:
    """Tail, segments and merges together give each row's weights, and each version keeps its own."""
    rng = np.random.default_rng(seed)

    def document() -> TermVector:
        ids = np.unique(rng.integers(0, 200, 40)).astype(np.uint32)
        return term_vector({int(one): float(rng.integers(1, 5)) / 4 for one in ids})

    documents: list[TermVector] = []
    postings = Postings.build([])
    versions = [(postings, 0)]
    for size in sizes:
        added = [document() for _ in range(size)]
        postings = postings.append(added, len(documents))
        documents += added
        versions.append((postings, len(documents)))
    query = np.array([3, 50, 199, 4_000], dtype=np.uint32)
    for version, count in versions:
        matches = version.matches(query, None)
        found = {
            (row, int(query[place]), weight)
            for row, place, weight in zip(
                matches.rows.tolist(), matches.places.tolist(), matches.weights.tolist(), strict=True
            )
        }
        assert found == _postings_of(documents[:count], query)
        assert matches.frequencies.sum() == len(found) == len(matches.rows)


def test_segments_stay_few() -> None:
    """C56: single adds are merged as they come, so that a search never visits many segments."""
    postings = Postings.build([])
    most = 0
    for row in range(1_500):
        postings = postings.append([term_vector({row * 7 + place: 0.5 for place in range(20)})], row)
        most = max(most, len(postings.segments))
    assert sum(len(one.rows) for one in postings.segments) + postings.tail_size == 30_000
    assert most <= 5


def _postings_of(documents: Sequence[TermVector], query: IdArray) -> set[tuple[int, int, float]]:
    return {
        (row, term, weight)
        for row, one in enumerate(documents)
        for term, weight in zip(one.ids.tolist(), one.weights.tolist(), strict=True)
        if term in query
    }


def test_statistics_follow_the_ledger() -> None:
    """N and document frequency count what is searchable now, of one user."""
    source = ListSource([plain(f"p{row}", ANA, 1, 2 + row % 2) for row in range(4)])
    source.put([plain("b", payload_for("ben"), 1)])
    statistics = TermStatistics(source, 1 << 20)
    asked = np.array([1, 2, 3, 9], dtype=np.uint32)
    total, frequencies = statistics.totals("ana", asked)
    assert (total, frequencies.tolist()) == (4, [4, 2, 2, 0])
    source.remove(["p0"])
    source.put([plain("p1", ANA, 9)])
    total, frequencies = statistics.totals("ana", asked)
    assert (total, frequencies.tolist()) == (3, [2, 1, 1, 1])
    total, frequencies = statistics.totals("nobody", asked)
    assert (total, frequencies.tolist()) == (0, [0, 0, 0, 0])


@given(
    scores=st.lists(st.integers(-3, 3), max_size=20),
    top_k=st.integers(0, 25),
)
def test_top_loses_no_tie(scores: list[int], top_k: int) -> None:
    """Law 3: everything as good as the last of the best is among them, best first."""
    values = np.array(scores, dtype=np.float64)
    best = values[top(values, top_k)].tolist()
    ordered = sorted(scores, reverse=True)
    bar = ordered[min(top_k, len(ordered)) - 1] if top_k and ordered else 4
    assert best == [score for score in ordered if score >= bar]


@dataclass
class _Asked:
    """A source that counts what it is asked, and fails when told to."""

    inner: ListSource
    points_calls: int = 0
    changes_calls: int = 0
    fails: bool = False

    def freshness(self) -> int:
        return self.inner.freshness()

    def points(self, user_id: str) -> Changes:
        self.points_calls += 1
        if self.fails:
            raise LedgerError("told to fail")
        return self.inner.points(user_id)

    def batches(self, user_id: str) -> Iterator[Changes]:
        yield self.points(user_id)

    def changes(self, user_id: str, after: int) -> Changes:
        self.changes_calls += 1
        if self.fails:
            raise LedgerError("told to fail")
        return self.inner.changes(user_id, after)


def test_built_once_then_caught_up() -> None:
    """The ledger is asked for everything once, for changes only when something was committed."""
    source = _Asked(ListSource([plain("p")]))
    sets = WorkingSets(source, UserPostings.build, 1 << 30)
    first = sets.of("ana")
    assert sets.of("ana") is first
    assert (source.points_calls, source.changes_calls) == (1, 0)
    source.inner.put([plain("b", payload_for("ben"))])
    assert sets.of("ana") is first, "another user's write makes no new version"
    assert (source.points_calls, source.changes_calls) == (1, 1)
    source.inner.put([plain("q")])
    assert live_ids(sets.of("ana").rows) == {"p", "q"}
    assert (source.points_calls, source.changes_calls) == (1, 2)


def test_whole_users_leave_when_the_budget_is_spent() -> None:
    """The user read longest ago goes first, and is built again when asked for."""
    many = [plain(f"{name}{row}", payload_for(name), row) for name in "abc" for row in range(200)]
    source = _Asked(ListSource(many))
    one_user = WorkingSets(source, UserPostings.build, 1 << 30)
    one_user.of("a")
    source.points_calls = 0
    sets = WorkingSets(source, UserPostings.build, int(one_user.nbytes * 2.5))
    for name in ("a", "b", "a", "c"):
        assert len(live_ids(sets.of(name).rows)) == 200
    assert sets.users() == ("a", "c")
    assert sets.nbytes <= one_user.nbytes * 2.5
    sets.of("b")
    assert source.points_calls == 4
    assert sets.users() == ("c", "b")


def test_a_user_larger_than_the_budget_is_served() -> None:
    """C12: a small budget makes searches slower, never wrong."""
    source = ListSource([plain(f"p{row}") for row in range(500)] + [plain("b", payload_for("ben"))])
    sets = WorkingSets(source, UserPostings.build, 1)
    assert len(live_ids(sets.of("ana").rows)) == 500
    assert live_ids(sets.of("ben").rows) == {"b"}
    assert sets.users() == ("ben",)
    sets.close()
    assert sets.users() == ()
    assert len(live_ids(sets.of("ana").rows)) == 500


def test_a_failing_ledger_leaves_nothing_wrong_behind() -> None:
    """C61: the error reaches the caller, and the next read is right."""
    source = _Asked(ListSource([plain("p")]), fails=True)
    sets = WorkingSets(source, UserPostings.build, 1 << 30)
    with pytest.raises(LedgerError):
        sets.of("ana")
    source.fails = False
    assert live_ids(sets.of("ana").rows) == {"p"}
    source.inner.put([plain("q")])
    source.fails = True
    with pytest.raises(LedgerError):
        sets.of("ana")
    source.fails = False
    assert live_ids(sets.of("ana").rows) == {"p", "q"}


def test_what_is_written_while_reading_is_seen_next_time() -> None:
    """C51: a commit between the reading of changes and their application is not lost."""

    class Busy(_Asked):
        def changes(self, user_id: str, after: int) -> Changes:
            answer = super().changes(user_id, after)
            if self.changes_calls == 1:
                self.inner.put([plain("late")])
            return answer

    source = Busy(ListSource([plain("p")]))
    sets = WorkingSets(source, UserPostings.build, 1 << 30)
    sets.of("ana")
    source.inner.put([plain("q")])
    assert live_ids(sets.of("ana").rows) == {"p", "q"}
    assert live_ids(sets.of("ana").rows) == {"p", "q", "late"}


def test_one_builder_a_user_and_users_do_not_wait_for_each_other() -> None:
    """C51: sixteen first readers of one user make one build; another user is served meanwhile."""
    started, go_on = threading.Event(), threading.Event()

    class Slow(_Asked):
        def points(self, user_id: str) -> Changes:
            if user_id == "ana":
                started.set()
                assert go_on.wait(10)
            return super().points(user_id)

    source = Slow(ListSource([plain("p"), plain("b", payload_for("ben"))]))
    sets = WorkingSets(source, UserPostings.build, 1 << 30)
    seen: list[UserPostings] = []
    readers = [threading.Thread(target=lambda: seen.append(sets.of("ana"))) for _ in range(16)]
    for reader in readers:
        reader.start()
    assert started.wait(10)
    assert live_ids(sets.of("ben").rows) == {"b"}
    go_on.set()
    for reader in readers:
        reader.join(10)
    assert len(seen) == 16
    assert all(one is seen[0] for one in seen)
    assert source.points_calls == 2
