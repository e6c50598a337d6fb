"""The contract of a keyword leg, as tests. Subclass it and provide the fixture `harness`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import EVERYTHING, Compare, Filter, Not, Op
from hy_memory.ports import TIE
from hy_memory.ranking.bm25 import idf
from hy_memory.testing.contracts.harness import Harness, by_id, users
from hy_memory.testing.contracts.vectors import DIMS, EXAMPLES, fresh_user, owned
from hy_memory.testing.fakes import make_point, payload_for
from hy_memory.testing.strategies import ODD_IDS, filters, points, terms
from hy_memory.values.point import IdArray, Payload, Point, TermVector


def ids_of(*term_ids: int) -> IdArray:
    """Return a query: distinct term ids, ascending."""
    return np.array(sorted(set(term_ids)), dtype=np.uint32)


def exact_keyword_scores(found: Sequence[Point], query: IdArray, where: ScopedFilter) -> dict[str, float]:
    """Return the score of every admitted point, from the definition: sum of IDF × weight over sum of IDF.

    N and document frequency are of the point's own user, over all of `found`, admitted or not.
    """
    scores: dict[str, float] = {}
    for user_id in where.user_ids:
        mine = [one for one in found if one.payload.user_id == user_id]
        held = [dict(zip(one.terms.ids.tolist(), one.terms.weights.tolist(), strict=True)) for one in mine]
        distinct = sorted(set(query.tolist()))
        frequency = [sum(term in terms_of for terms_of in held) for term in distinct]
        weights = dict(zip(distinct, idf(len(mine), frequency).tolist(), strict=True))
        for one, terms_of in zip(mine, held, strict=True):
            if where.admits(one.payload):
                raw = math.fsum(weight * terms_of.get(term, 0.0) for term, weight in weights.items())
                scores[one.id] = min(1.0, raw / math.fsum(weights.values())) if weights else 0.0
    return scores


class KeywordIndexContract:
    """Every law of `KeywordIndex`."""

    dims: ClassVar[int] = DIMS
    tolerance: ClassVar[float] = 1e-5
    """How far a score may be from the exact one: float32 weights."""

    axis = np.eye(DIMS, dtype=np.float32)[0]

    def point(self, point_id: str, payload: Payload, weights: dict[int, float]) -> Point:
        """Return a point that only keywords can tell apart."""
        return make_point(point_id, payload, self.axis, weights)

    def check_top(
        self, harness: Harness, found: Sequence[Point], query: IdArray, where: ScopedFilter, top_k: int
    ) -> None:
        """Compare one search with the definition: ids, scores, ties at the cut, `exhausted`."""
        exact = {key: one for key, one in exact_keyword_scores(found, query, where).items() if one > 0}
        ranking = harness.keywords.search(query, where, top_k)
        scores = by_id(ranking)
        for point_id, score in scores.items():
            assert score == pytest.approx(exact[point_id], abs=self.tolerance)
            assert 0.0 < score <= 1.0
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

    @EXAMPLES
    @given(found=points(DIMS, max_size=24), query=terms(), tree=filters(), top_k=st.integers(1, 8))
    def test_search_is_the_definition(
        self, harness: Harness, found: list[Point], query: TermVector, tree: Filter, top_k: int
    ) -> None:
        """Exact BM25 for every admitted point, each user with statistics of their own (law 10)."""
        names = {"u1": fresh_user(), "u2": fresh_user()}
        mine = owned(found, names)
        harness.put(mine)
        for where in (
            users(names["u1"]),
            users(*names.values()),
            users(names["u1"], tree=tree),
            users(*names.values(), tree=tree),
        ):
            self.check_top(harness, mine, query.ids, where, top_k)
            exact = exact_keyword_scores(mine, query.ids, where)
            scores = harness.keywords.score(query.ids, [one.id for one in mine], where)
            for one, score in zip(mine, scores.tolist(), strict=True):
                assert score == pytest.approx(exact.get(one.id, math.nan), abs=self.tolerance, nan_ok=True)
        harness.remove([one.id for one in mine])

    @pytest.mark.parametrize("others", [0, 1, 2, 3])
    def test_a_rare_word_counts_in_a_small_population(self, harness: Harness, others: int) -> None:
        """C21: a term in one of 1, 2, 3 or 4 memories scores clearly above 0."""
        ana = payload_for("ana")
        harness.put([self.point("has", ana, {42: 0.75, 7: 0.5})])
        harness.put([self.point(f"not{index}", ana, {7: 0.5}) for index in range(others)])
        scores = by_id(harness.keywords.search(ids_of(42), users("ana"), 5))
        assert scores == pytest.approx({"has": 0.75}, abs=self.tolerance)

    def test_rare_terms_weigh_more(self, harness: Harness) -> None:
        """A document with the rare word beats one with the common word."""
        ana = payload_for("ana")
        harness.put([self.point(f"common{index}", ana, {1: 0.5}) for index in range(9)])
        harness.put([self.point("rare", ana, {2: 0.5})])
        ranking = harness.keywords.search(ids_of(1, 2), users("ana"), 20)
        assert ranking.ids[0] == "rare"
        assert len(ranking.ids) == 10
        assert ranking.exhausted

    def test_term_ids_use_all_32_bits(self, harness: Harness) -> None:
        """Ids at both ends of the range are told apart."""
        ana = payload_for("ana")
        for term in (0, 1, 2**31 - 1, 2**31, 2**32 - 1):
            harness.put([self.point(f"t{term}", ana, {term: 0.5})])
        for term in (0, 1, 2**31 - 1, 2**31, 2**32 - 1):
            assert harness.keywords.search(ids_of(term), users("ana"), 9).ids == (f"t{term}",)

    def test_others_change_nothing(self, harness: Harness) -> None:
        """Law 10: a term that another user writes all the time stays as rare for me as it was."""
        ana, ben = payload_for("ana"), payload_for("ben")
        harness.put([self.point(f"a{index}", ana, {1: 0.5, 10 + index: 0.25}) for index in range(12)])
        query = ids_of(1, 12, 15)
        before = by_id(harness.keywords.search(query, users("ana"), 5))
        harness.put([self.point(f"b{index}", ben, {12: 1.0, 1: 0.5}) for index in range(50)])
        assert by_id(harness.keywords.search(query, users("ana"), 5)) == before
        both = by_id(harness.keywords.search(query, users("ana", "ben"), 100))
        assert {key: both[key] for key in before} == before

    def test_a_filter_changes_no_score(self, harness: Harness) -> None:
        """Law 5: a stricter filter returns a subset, with the scores unchanged."""
        ana = payload_for("ana")
        mail = replace(ana, source="mail")
        harness.put([self.point(f"c{index}", ana, {1: 0.5, 2: 0.25}) for index in range(20)])
        harness.put([self.point(f"m{index}", mail, {1: 0.25, 3: 0.5}) for index in range(4)])
        query = ids_of(1, 2, 3)
        whole = by_id(harness.keywords.search(query, users("ana"), 100))
        tree = Compare("source", Op.EQ, "mail")
        part = by_id(harness.keywords.search(query, users("ana", tree=tree), 100))
        assert part == {key: whole[key] for key in part}
        assert part.keys() == {f"m{index}" for index in range(4)}
        rest = by_id(harness.keywords.search(query, users("ana", tree=Not(tree)), 100))
        assert rest == {key: whole[key] for key in whole if key not in part}

    def test_deleted_points_leave_the_statistics(self, harness: Harness) -> None:
        """C14: after a deletion, scores are as if the points had never been there."""
        ana = payload_for("ana")
        kept = [self.point(f"k{index}", ana, {1: 0.5, 2 + index % 3: 0.75}) for index in range(9)]
        gone = [self.point(f"g{index}", ana, {1: 0.9, 2: 0.9}) for index in range(30)]
        harness.put(gone[:15] + kept + gone[15:])
        harness.keywords.search(ids_of(1, 2), users("ana"), 5)
        harness.remove([one.id for one in gone])
        self.check_top(harness, kept, ids_of(1, 2, 4), users("ana"), 4)
        self.check_top(harness, kept, ids_of(1, 2, 4), users("ana"), 50)

    def test_put_again_replaces_terms(self, harness: Harness) -> None:
        """C63: after an update the old words find nothing and count nowhere."""
        ana = payload_for("ana")
        harness.put([self.point("p", ana, {1: 0.5}), self.point("q", ana, {1: 0.5, 2: 0.5})])
        assert len(harness.keywords.search(ids_of(1), users("ana"), 5).ids) == 2
        again = [self.point("p", ana, {3: 0.5}), self.point("q", ana, {1: 0.5, 2: 0.5})]
        harness.put(again)
        harness.put(again)
        for query in (ids_of(1), ids_of(3), ids_of(1, 2, 3)):
            self.check_top(harness, again, query, users("ana"), 5)

    def test_nothing_to_find(self, harness: Harness) -> None:
        """No terms, unknown terms, an unknown user: empty and exhausted, no error."""
        harness.put([self.point("p", payload_for("ana"), {1: 0.5})])
        for query, user in ((ids_of(), "ana"), (ids_of(99, 98), "ana"), (ids_of(1), "nobody")):
            ranking = harness.keywords.search(query, users(user), 5)
            assert ranking.ids == ()
            assert ranking.scores.shape == (0,)
            assert ranking.exhausted
        assert harness.keywords.score(ids_of(), ["p"], users("ana")).tolist() == [0.0]
        assert harness.keywords.score(ids_of(99), ["p"], users("ana")).tolist() == [0.0]
        assert np.isnan(harness.keywords.score(ids_of(1), ["p"], users("nobody"))).all()

    def test_unknown_terms_weigh_in_the_ceiling(self, harness: Harness) -> None:
        """A question whose words are mostly unknown is not answered with certainty by the one known."""
        ana = payload_for("ana")
        found = [self.point(f"p{index}", ana, {1: 1.0, 2 + index: 0.5}) for index in range(4)]
        harness.put(found)
        self.check_top(harness, found, ids_of(1, 77, 78), users("ana"), 9)
        ranking = harness.keywords.search(ids_of(1, 77, 78), users("ana"), 9)
        assert ranking.scores.max() < 0.5

    @pytest.mark.parametrize("name", ODD_IDS)
    def test_ids_are_text_like_any_other(self, harness: Harness, name: str) -> None:
        """C04: a user or source may be any text."""
        odd = replace(payload_for(name), source=name)
        harness.put([self.point("odd", odd, {5: 0.5}), self.point("x", payload_for("else"), {5: 0.5})])
        tree = Compare("source", Op.EQ, name)
        assert harness.keywords.search(ids_of(5), users(name, tree=tree), 5).ids == ("odd",)
        assert harness.keywords.search(ids_of(5), users(name, tree=Not(tree)), 5).ids == ()

    def test_ties_at_the_cut_all_return(self, harness: Harness) -> None:
        """Law 3: equal scores at the cut are all returned, for the caller to order by id."""
        ana = payload_for("ana")
        harness.put([self.point("better", ana, {1: 1.0})])
        harness.put([self.point(f"tied{index}", ana, {1: 0.5}) for index in range(9)])
        harness.put([self.point("worse", ana, {1: 0.25}), self.point("none", ana, {2: 0.25})])
        ranking = harness.keywords.search(ids_of(1), users("ana", tree=EVERYTHING), 3)
        assert ranking.ids[0] == "better"
        assert set(ranking.ids[1:]) == {f"tied{index}" for index in range(9)}
        assert not ranking.exhausted

    def test_score_takes_any_order_and_unknown_ids(self, harness: Harness) -> None:
        """`score` answers in the order asked, 0 without a match, NaN for whoever is not admitted."""
        ana = payload_for("ana")
        harness.put([self.point("p", ana, {1: 0.5}), self.point("q", ana, {2: 0.5})])
        harness.put([self.point("foreign", payload_for("ben"), {1: 0.5})])
        scores = harness.keywords.score(ids_of(1), ["q", "unknown", "p", "foreign"], users("ana"))
        assert scores == pytest.approx([0.0, math.nan, 0.5, math.nan], abs=self.tolerance, nan_ok=True)
        assert harness.keywords.score(ids_of(1), [], users("ana")).shape == (0,)

    def test_survives_reopening(self, harness: Harness) -> None:
        """C45: a persistent backend scores the same after it was closed and opened."""
        if harness.reopen is None:
            pytest.skip("nothing of this backend outlives the process")
        ana = payload_for("ana")
        found = [self.point(f"p{index}", ana, {1: 0.5, 2 + index: 0.25}) for index in range(6)]
        harness.put(found)
        again = harness.reopen()
        self.check_top(again, found, ids_of(1, 3, 99), users("ana"), 9)
        again.backend.close()
