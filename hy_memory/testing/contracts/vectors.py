"""The contract of a vector leg, as tests. Subclass it and provide the fixture `harness`:

class TestMyBackend(VectorIndexContract):
    @pytest.fixture
    def harness(self, tmp_path):
        return open_harness(open_backend, BackendOptions(dims=self.dims, path=str(tmp_path)))
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import EVERYTHING, Compare, Filter, Not, Op
from hy_memory.ports import TIE
from hy_memory.testing.contracts.harness import Harness, by_id, users
from hy_memory.testing.fakes import make_point, payload_for, unit
from hy_memory.testing.strategies import ODD_IDS, filters, points, vectors
from hy_memory.values.point import FloatArray, Point
from hy_memory.values.record import Layer, Status

DIMS = 8
_FRESH = itertools.count()
EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    # On purpose: examples share a backend, and every backend's class inherits the same tests.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


def fresh_user() -> str:
    """Return a user nobody has used: examples of one test share a backend, and users never meet."""
    return f"user-{next(_FRESH)}"


def owned(found: Sequence[Point], renamed: dict[str, str]) -> list[Point]:
    """Return the points moved to other users, with ids that are unique in the whole backend."""
    return [
        replace(
            one,
            id=f"{renamed[one.payload.user_id]}/{one.id}",
            payload=replace(one.payload, user_id=renamed[one.payload.user_id]),
        )
        for one in found
    ]


def at_angle(degrees: float) -> FloatArray:
    """Return the unit vector at an angle to the first axis, in the plane of the first two."""
    row = np.zeros(DIMS, dtype=np.float32)
    row[0], row[1] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return unit(row)


def exact_scores(found: Sequence[Point], vector: FloatArray, where: ScopedFilter) -> dict[str, float]:
    """Return the cosine of every admitted point: the definition a backend is compared with."""
    return {
        one.id: float(np.dot(one.vector.astype(np.float64), vector.astype(np.float64)))
        for one in found
        if where.admits(one.payload)
    }


class VectorIndexContract:
    """Every law of `VectorIndex`; a backend passes all of it or is not a backend."""

    dims: ClassVar[int] = DIMS
    tolerance: ClassVar[float] = 1e-5
    """How far a score may be from the exact one: float32 arithmetic, no quantisation."""

    query = at_angle(0)

    def check_top(
        self, harness: Harness, found: Sequence[Point], vector: FloatArray, where: ScopedFilter, top_k: int
    ) -> None:
        """Compare one search with brute force: ids, scores, ties at the cut, `exhausted`."""
        exact = exact_scores(found, vector, where)
        ranking = harness.backend.vectors.search(vector, where, top_k)
        scores = by_id(ranking)
        for point_id, score in scores.items():
            assert score == pytest.approx(exact[point_id], abs=self.tolerance)
            assert -1.0 <= score <= 1.0
        best = sorted(exact.values(), reverse=True)
        if len(best) <= top_k:
            assert scores.keys() == exact.keys()
            assert ranking.exhausted or len(best) == top_k
            return
        bar = best[top_k - 1]
        must = {point_id for point_id, score in exact.items() if score > bar - TIE / 2}
        may = {point_id for point_id, score in exact.items() if score > bar - TIE - 2 * self.tolerance}
        assert must <= scores.keys() <= may
        assert not ranking.exhausted or scores.keys() == exact.keys()

    def test_score_is_the_cosine(self, harness: Harness) -> None:
        """C17: identical 1, 60° 0.5, 90° 0, opposite -1, best first."""
        ana = payload_for("ana")
        harness.put([make_point(f"{angle:03}", ana, at_angle(angle)) for angle in (180, 60, 0, 90)])
        ranking = harness.backend.vectors.search(self.query, users("ana"), 10)
        assert ranking.ids == ("000", "060", "090", "180")
        assert ranking.scores == pytest.approx([1.0, 0.5, 0.0, -1.0], abs=1e-3)
        assert ranking.exhausted

    @pytest.mark.parametrize("narrowed", ["by user", "by source", "by status", "by layer"])
    def test_filter_acts_before_top_k(self, harness: Harness, narrowed: str) -> None:
        """C01: 500 better points outside the scope take no place from the 5 inside."""
        ana = payload_for("ana")
        inside, tree = {
            "by user": (payload_for("ben"), EVERYTHING),
            "by source": (replace(ana, source="mail"), Compare("source", Op.EQ, "mail")),
            "by status": (replace(ana, status=Status.SUPERSEDED), Compare("status", Op.EQ, "superseded")),
            "by layer": (
                replace(ana, layer=Layer.L6_SCHEMA),
                Compare("layer", Op.IN, (Layer.L6_SCHEMA, Layer.L7_INTENTION)),
            ),
        }[narrowed]
        where = users(inside.user_id, tree=tree)
        harness.put([make_point(f"out{index}", ana, self.query) for index in range(500)])
        angle = float(np.degrees(np.arccos(0.6)))
        harness.put([make_point(f"in{index}", inside, at_angle(angle)) for index in range(5)])
        scores = by_id(harness.backend.vectors.search(self.query, where, 5))
        assert scores.keys() == {f"in{index}" for index in range(5)}
        assert list(scores.values()) == pytest.approx([0.6] * 5, abs=1e-3)

    def test_fewer_matches_than_asked_for(self, harness: Harness) -> None:
        """C12: two matches for a Top-50 are two results, no placeholders."""
        ana = payload_for("ana")
        harness.put([make_point(f"p{index}", ana, at_angle(index * 10)) for index in range(3)])
        harness.remove(["p1"])
        ranking = harness.backend.vectors.search(self.query, users("ana"), 50)
        assert ranking.ids == ("p0", "p2")
        assert ranking.exhausted

    def test_unknown_user_has_nothing(self, harness: Harness) -> None:
        """C02: a user nobody stored anything for is an empty answer, not an error."""
        harness.put([make_point("p", payload_for("ana"), self.query)])
        ranking = harness.backend.vectors.search(self.query, users("nobody"), 5)
        assert ranking.ids == ()
        assert ranking.scores.shape == (0,)
        assert ranking.exhausted
        assert harness.backend.vectors.count(users("nobody")) == 0

    def test_deleted_points_take_no_place(self, harness: Harness) -> None:
        """C14: after the 15 best of 20 are gone, Top-5 is the 5 that live."""
        ana = payload_for("ana")
        harness.put([make_point(f"p{index:02}", ana, at_angle(index / 10)) for index in range(20)])
        harness.backend.vectors.search(self.query, users("ana"), 5)
        harness.remove([f"p{index:02}" for index in range(15)])
        scores = by_id(harness.backend.vectors.search(self.query, users("ana"), 5))
        assert scores.keys() == {f"p{index:02}" for index in range(15, 20)}
        assert harness.backend.vectors.count(users("ana")) == 5

    def test_delete_then_add_keeps_ids_with_their_vectors(self, harness: Harness) -> None:
        """C77: removing the middle of three and adding one shifts nobody."""
        ana = payload_for("ana")
        harness.put([make_point(f"p{angle}", ana, at_angle(angle)) for angle in (0, 30, 60)])
        harness.remove(["p30"])
        harness.put([make_point("p90", ana, at_angle(90))])
        for angle, expected in ((0, "p0"), (60, "p60"), (90, "p90")):
            ranking = harness.backend.vectors.search(at_angle(angle), users("ana"), 1)
            assert ranking.ids == (expected,)

    @pytest.mark.parametrize("name", ODD_IDS)
    def test_ids_are_text_like_any_other(self, harness: Harness, name: str) -> None:
        """C04, C69: a user, source, session or tag may be any text, and is only ever itself."""
        odd = replace(payload_for(name), source=name, session_id=name, tags=(name,))
        harness.put([make_point("odd", odd, self.query)])
        harness.put([make_point("plain", payload_for("someone-else"), self.query)])
        assert harness.backend.vectors.search(self.query, users(name), 5).ids == ("odd",)
        for field in ("source", "session_id", "tags"):
            here = Compare(field, Op.EQ, name)
            assert harness.backend.vectors.search(self.query, users(name, tree=here), 5).ids == ("odd",)
            assert harness.backend.vectors.search(self.query, users(name, tree=Not(here)), 5).ids == ()
            assert harness.backend.vectors.count(users("someone-else", tree=here)) == 0

    def test_values_keep_their_type(self, harness: Harness) -> None:
        """C07: "1", 1 and true are three values, 1 and 1.0 one; alone, in a list, in `eq` and in `in`."""
        held = {"yes": True, "no": False, "one": 1, "zero": 0, "one.0": 1.0, "text": "1", "word": "true"}
        lists = {f"{name}s": [value, "other"] for name, value in held.items()}
        found = [
            make_point(name, replace(payload_for("ana"), attributes={"key": value}), self.query)
            for name, value in (held | lists).items()
        ]
        harness.put(found)
        for wanted in held.values():
            for node in (
                Compare("metadata.key", Op.EQ, wanted),
                Compare("metadata.key", Op.IN, (wanted, "nothing")),
            ):
                for tree in (node, Not(node)):
                    where = users("ana", tree=tree)
                    scores = by_id(harness.backend.vectors.search(self.query, where, 50))
                    assert scores.keys() == exact_scores(found, self.query, where).keys()

    @EXAMPLES
    @given(found=points(DIMS), tree=filters(), vector=vectors(DIMS), top_k=st.integers(1, 6))
    def test_filter_means_what_the_reference_says(
        self, harness: Harness, found: list[Point], tree: Filter, vector: FloatArray, top_k: int
    ) -> None:
        """C07, C10, C69: any tree over any payloads admits exactly what `ScopedFilter.admits` does."""
        names = {"u1": fresh_user(), "u2": fresh_user()}
        mine = owned(found, names)
        harness.put(mine)
        for asked in ((names["u1"],), tuple(names.values())):
            where = users(*asked, tree=tree)
            everything = by_id(harness.backend.vectors.search(vector, where, len(mine) + 1))
            assert everything.keys() == exact_scores(mine, vector, where).keys()
            assert harness.backend.vectors.count(where) == len(everything)
            self.check_top(harness, mine, vector, where, top_k)
        harness.remove([one.id for one in mine])

    @EXAMPLES
    @given(
        rows=st.lists(st.tuples(st.sampled_from(("u1", "u2")), vectors(DIMS)), max_size=40),
        vector=vectors(DIMS),
        top_k=st.integers(1, 45),
    )
    def test_search_is_brute_force(
        self, harness: Harness, rows: list[tuple[str, FloatArray]], vector: FloatArray, top_k: int
    ) -> None:
        """The best k are exactly the best k, with exact scores."""
        names = {"u1": fresh_user(), "u2": fresh_user()}
        found = [make_point(f"p{place}", payload_for(user), row) for place, (user, row) in enumerate(rows)]
        mine = owned(found, names)
        harness.put(mine)
        self.check_top(harness, mine, vector, users(*names.values()), top_k)
        self.check_top(harness, mine, vector, users(names["u2"]), top_k)
        harness.remove([one.id for one in mine])

    def test_ties_at_the_cut_all_return(self, harness: Harness) -> None:
        """Law 3: the caller breaks ties by id, so it must see all of them; their scores are equal."""
        ana = payload_for("ana")
        tied = np.random.default_rng(5).standard_normal(DIMS).astype(np.float32)
        harness.put([make_point("better", ana, self.query)])
        harness.put([make_point(f"tied{index}", ana, tied) for index in range(9)])
        harness.put([make_point("worse", ana, -self.query)])
        ranking = harness.backend.vectors.search(self.query, users("ana"), 3)
        assert ranking.ids[0] == "better"
        assert set(ranking.ids[1:]) == {f"tied{index}" for index in range(9)}
        assert np.ptp(ranking.scores[1:]) <= TIE / 10
        assert not ranking.exhausted

    def test_near_ties_return_too(self, harness: Harness) -> None:
        """Law 8: what differs by less than TIE is one score, so that rounding decides nothing."""
        ana, millionth = payload_for("ana"), np.degrees(1e-6) / np.sin(np.radians(60))
        harness.put([make_point(f"p{step}", ana, at_angle(60 + step * millionth)) for step in range(6)])
        harness.put([make_point("far", ana, at_angle(61))])
        ranking = harness.backend.vectors.search(self.query, users("ana"), 2)
        assert set(ranking.ids) == {f"p{step}" for step in range(6)}

    def test_score_agrees_with_search(self, harness: Harness) -> None:
        """`score` gives, in the order asked, what `search` gives; NaN for whoever is not admitted."""
        rng = np.random.default_rng(3)
        mail, chat = replace(payload_for("ana"), source="mail"), payload_for("ana")
        harness.put([make_point(f"m{index}", mail, rng.standard_normal(DIMS)) for index in range(20)])
        harness.put([make_point(f"c{index}", chat, rng.standard_normal(DIMS)) for index in range(20)])
        harness.put([make_point("foreign", payload_for("ben"), self.query)])
        harness.put([make_point("gone", mail, self.query)])
        harness.remove(["gone"])
        where = users("ana", tree=Compare("source", Op.EQ, "mail"))
        scores = by_id(harness.backend.vectors.search(self.query, where, 50))
        asked = [*reversed(list(scores)), "c0", "foreign", "gone", "unknown", "o'brien"]
        given_scores = harness.backend.vectors.score(self.query, asked, where)
        assert given_scores.shape == (len(asked),)
        assert given_scores[:20] == pytest.approx(list(reversed(scores.values())), abs=TIE / 10)
        assert np.isnan(given_scores[20:]).all()
        assert harness.backend.vectors.score(self.query, [], where).shape == (0,)

    def test_scores_of_several_users_at_once(self, harness: Harness) -> None:
        """C02: a scope of two users holds both of theirs and nobody else's."""
        for user_id, angle in (("ana", 60), ("ben", 30), ("cem", 0)):
            harness.put([make_point(user_id, payload_for(user_id), at_angle(angle))])
        where = users("ana", "ben", "nobody")
        ranking = harness.backend.vectors.search(self.query, where, 5)
        assert ranking.ids == ("ben", "ana")
        assert harness.backend.vectors.search(self.query, where, 1).ids == ("ben",)
        scores = harness.backend.vectors.score(self.query, ["ana", "cem", "ben"], where)
        assert scores[[0, 2]] == pytest.approx([0.5, np.cos(np.radians(30))], abs=1e-3)
        assert np.isnan(scores[1])

    def test_put_again_replaces(self, harness: Harness) -> None:
        """C63: after an update neither the old vector nor the old fields find the point."""
        ana = payload_for("ana")
        harness.put([make_point("p", replace(ana, source="mail"), at_angle(0))])
        harness.put([make_point("other", ana, at_angle(45))])
        by_id(harness.backend.vectors.search(self.query, users("ana"), 5))
        harness.put([make_point("p", replace(ana, source="chat", status=Status.SUPERSEDED), at_angle(90))])
        scores = by_id(harness.backend.vectors.search(self.query, users("ana"), 5))
        assert scores == pytest.approx({"other": np.cos(np.radians(45)), "p": 0.0}, abs=1e-3)
        assert harness.backend.vectors.count(users("ana", tree=Compare("source", Op.EQ, "mail"))) == 0
        assert harness.backend.vectors.count(users("ana", tree=Compare("source", Op.EQ, "chat"))) == 1
        assert harness.backend.vectors.count(users("ana", tree=Compare("status", Op.EQ, "active"))) == 1

    def test_putting_and_removing_are_idempotent(self, harness: Harness) -> None:
        """A change log may be replayed: the same put or remove again changes nothing."""
        point = make_point("p", payload_for("ana"), self.query)
        harness.put([point])
        harness.put([point])
        assert harness.backend.vectors.count(users("ana")) == 1
        harness.remove(["p", "unknown"])
        harness.remove(["p"])
        assert harness.backend.vectors.search(self.query, users("ana"), 5).ids == ()
        harness.put([point])
        assert harness.backend.vectors.search(self.query, users("ana"), 5).ids == ("p",)

    def test_others_change_nothing(self, harness: Harness) -> None:
        """Law 10: what another user stores or deletes moves none of my scores."""
        rng = np.random.default_rng(8)
        ana, ben = payload_for("ana"), payload_for("ben")
        harness.put([make_point(f"a{index}", ana, rng.standard_normal(DIMS)) for index in range(30)])
        before = by_id(harness.backend.vectors.search(self.query, users("ana"), 10))
        harness.put([make_point(f"b{index}", ben, rng.standard_normal(DIMS)) for index in range(60)])
        assert by_id(harness.backend.vectors.search(self.query, users("ana"), 10)) == before
        harness.remove([f"b{index}" for index in range(40)])
        assert by_id(harness.backend.vectors.search(self.query, users("ana"), 10)) == before

    def test_many_users(self, harness: Harness) -> None:
        """300 users with three points each: everyone sees their own three."""
        angles = (10, 40, 80)
        harness.put(
            [
                make_point(f"u{user}-{angle}", payload_for(f"u{user}"), at_angle(angle))
                for user in range(300)
                for angle in angles
            ]
        )
        for user in range(0, 300, 17):
            ranking = harness.backend.vectors.search(self.query, users(f"u{user}"), 5)
            assert ranking.ids == tuple(f"u{user}-{angle}" for angle in angles)
        everyone = users(*(f"u{user}" for user in range(300)))
        assert harness.backend.vectors.count(everyone) == 900
        assert len(harness.backend.vectors.search(self.query, everyone, 7).ids) == 300

    def test_six_thousand_points_in_one_call(self, harness: Harness) -> None:
        """C50: a large batch is stored whole, whatever the engine's own limit."""
        rng = np.random.default_rng(6)
        rows = rng.standard_normal((6_000, DIMS))
        ana = payload_for("ana")
        found = [make_point(f"p{index:04}", ana, row) for index, row in enumerate(rows)]
        harness.put(found)
        assert harness.backend.vectors.count(users("ana")) == 6_000
        self.check_top(harness, found, self.query, users("ana"), 30)
        harness.remove([one.id for one in found[:5_990]])
        assert harness.backend.vectors.count(users("ana")) == 10
        self.check_top(harness, found[5_990:], self.query, users("ana"), 30)

    def test_many_threads(self, harness: Harness) -> None:
        """C51: eight threads put, search and remove, each for its own user; every count is exact."""

        def live(number: int) -> int:
            user_id = f"t{number}"
            for step in range(12):
                name = f"{user_id}-{step}"
                harness.put([make_point(name, payload_for(user_id), at_angle(step))])
                assert name in harness.backend.vectors.search(self.query, users(user_id), 50).ids
                if step % 3 == 0:
                    harness.remove([name])
                    assert name not in harness.backend.vectors.search(self.query, users(user_id), 50).ids
            return harness.backend.vectors.count(users(user_id))

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(live, range(8))) == [8] * 8

    def test_fed_backends_know_their_ids(self, harness: Harness) -> None:
        """C14: a fed backend lists what it holds, no more after a removal, nothing after `clear`."""
        harness.put([make_point(f"p{index}", payload_for("ana"), self.query) for index in range(5)])
        harness.remove(["p3"])
        fed = harness.backend.fed
        if fed is None:
            assert harness.backend.vectors.count(users("ana")) == 4
            return
        assert sorted(fed.ids()) == ["p0", "p1", "p2", "p4"]
        fed.clear()
        assert list(fed.ids()) == []
        assert harness.backend.vectors.count(users("ana")) == 0
        harness.put([make_point("p9", payload_for("ana"), self.query)])
        assert harness.backend.vectors.search(self.query, users("ana", tree=EVERYTHING), 3).ids == ("p9",)

    def test_survives_reopening(self, harness: Harness) -> None:
        """C14, C45, C77: a persistent backend answers the same after it was closed and opened."""
        if harness.reopen is None:
            pytest.skip("nothing of this backend outlives the process")
        ana = payload_for("ana")
        harness.put([make_point(f"p{angle}", ana, at_angle(angle), {7: 0.5}) for angle in (0, 30, 60, 90)])
        harness.remove(["p30"])
        before = by_id(harness.backend.vectors.search(self.query, users("ana"), 5))
        again = harness.reopen()
        assert by_id(again.backend.vectors.search(self.query, users("ana"), 5)) == pytest.approx(before)
        again.put([make_point("p10", ana, at_angle(10))])
        assert again.backend.vectors.count(users("ana")) == 4
        again.backend.close()
