"""Calibration and fusion: the laws that hold by construction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.ranking.bm25 import document_terms, idf, keyword_score, query_term_ids, weigh_query
from hy_memory.ranking.calibration import E5, HASHED, IDENTITY, MINILM, Calibration
from hy_memory.ranking.fusion import fuse, keyword_strength

MIN_SCORE = 0.4
UNIT = st.floats(0.0, 1.0)
TERMS = st.integers(1, 400)
CURVES = [IDENTITY, HASHED, E5, MINILM]


def fused(dense: float, keyword: float, terms: int) -> float:
    return float(fuse(np.array([dense]), np.array([keyword]), terms)[0])


@given(UNIT, UNIT, TERMS)
def test_a_score_is_a_score(dense: float, keyword: float, terms: int) -> None:
    """C23: hybrid scores meet the same thresholds as dense ones."""
    assert 0.0 <= fused(dense, keyword, terms) <= 1.0


@given(UNIT, UNIT, TERMS)
def test_keywords_never_lower_a_score(dense: float, keyword: float, terms: int) -> None:
    assert fused(dense, keyword, terms) >= dense


@given(UNIT, TERMS)
def test_without_keywords_the_dense_score_stays_as_it_is(dense: float, terms: int) -> None:
    assert fused(dense, 0.0, terms) == dense


@given(UNIT, UNIT, UNIT, UNIT, TERMS)
def test_fusion_is_monotone_in_both_legs(a: float, b: float, c: float, d: float, terms: int) -> None:
    low = fused(min(a, b), min(c, d), terms)
    assert fused(max(a, b), max(c, d), terms) >= low - 1e-12


@given(UNIT, UNIT, TERMS)
def test_more_words_never_weaken_a_match(dense: float, keyword: float, terms: int) -> None:
    assert fused(dense, keyword, terms + 1) >= fused(dense, keyword, terms) - 1e-12


@given(st.floats(0.2, 1.0), TERMS)
def test_a_full_keyword_match_passes_the_default_threshold(keyword: float, terms: int) -> None:
    """0.2 is the least that a document holding all terms can have."""
    assert fused(0.0, keyword, terms) >= 0.42


def test_an_exact_match_in_both_legs_is_near_one() -> None:
    """C23: not 0.016."""
    assert fused(1.0, 0.6, 3) == pytest.approx(1.0)
    assert fused(0.9, 0.6, 3) > 0.97


@pytest.mark.parametrize("total", [1, 2, 3, 4])
def test_a_rare_name_is_found_without_any_meaning(total: int) -> None:
    """C21: a term in half of two memories still counts; the embedder knows nothing."""
    texts = ["Xylofon-42 is in the cellar", "I like tea", "The bus was late", "Call the bank"][:total]
    vectors = [document_terms(text) for text in texts]
    ids = query_term_ids("Xylofon-42")
    df = [sum(int(one in vector.ids) for vector in vectors) for one in ids]
    query = weigh_query(ids, total, df)
    keyword = np.array([keyword_score(vector, query) for vector in vectors])
    for dense in (np.zeros(total), np.full(total, 0.3)):  # orthogonal, or all alike
        scores = fuse(dense, keyword, len(ids))
        assert int(np.argmax(scores)) == 0
        assert scores[0] >= 0.42
        assert scores[0] > dense[0]
        assert (scores[1:] == dense[1:]).all()


def test_one_stray_word_is_no_match() -> None:
    """C40: five memories, one shares one of four words of a question about something else."""
    weights = idf(5, [1, 0, 0, 0])
    stray = document_terms("my favourite colour is green").weights.max() * weights[0] / weights.sum()
    assert 0.0 < fused(0.05, float(stray), 4) < MIN_SCORE


def test_strength_grows_slower_than_the_query() -> None:
    assert keyword_strength(0) == keyword_strength(1)
    assert keyword_strength(2) > keyword_strength(1)
    assert keyword_strength(100) < 10 * keyword_strength(10)


def test_identity_is_the_cosine_clipped_at_zero() -> None:
    """C17: identical, 60 degrees, right angle, opposite."""
    assert IDENTITY(np.array([1.0, 0.5, 0.0, -1.0])).tolist() == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_curves_are_monotone_and_reach_one(curve: Calibration) -> None:
    scores = curve(np.linspace(-1.2, 1.2, 2_000))
    assert (np.diff(scores) >= 0).all()
    assert scores.min() == 0.0
    assert scores.max() == 1.0
    assert curve.score(1.0) == 1.0


@pytest.mark.parametrize("curve", CURVES[1:], ids=lambda curve: curve.name)
def test_fitted_curves_keep_every_order(curve: Calibration) -> None:
    assert (np.diff(curve(np.linspace(-1.0, 1.0, 2_000))) > 0).all()


def test_a_curve_takes_any_shape_and_nan_stays_nan() -> None:
    assert HASHED(np.zeros((2, 3))).shape == (2, 3)
    assert np.isnan(HASHED(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    ("cosines", "scores"),
    [
        ((0.0,), (0.0,)),
        ((0.0, 1.0), (0.0,)),
        ((1.0, 0.0), (0.0, 1.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, 1.0), (0.0, 2.0)),
    ],
)
def test_what_is_no_curve_is_refused(cosines: tuple[float, ...], scores: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        Calibration("bad", cosines, scores)
