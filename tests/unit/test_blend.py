"""One order from score and judgement: its laws."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.ranking.blend import blend

UNIT = st.floats(0, 1)
SUPPORT = st.floats(0, 20)


def one(own: float, support: float, judgement: float, weight: float) -> float:
    (made,) = blend(np.array([own]), np.array([support]), np.array([judgement]), weight).tolist()
    return made


@given(own=UNIT, support=SUPPORT, judgement=UNIT, weight=st.floats(0.01, 1))
def test_it_stays_a_share(own: float, support: float, judgement: float, weight: float) -> None:
    assert 0 <= one(own, support, judgement, weight) <= 1


@given(own=UNIT, support=SUPPORT, judgement=UNIT)
def test_alone_the_judgement_is_what_it_was(own: float, support: float, judgement: float) -> None:
    assert one(own, support, judgement, 1.0) == judgement


@given(low=UNIT, high=UNIT, other=UNIT, support=SUPPORT, weight=st.floats(0.01, 1))
def test_more_of_any_never_lowers_it(
    low: float, high: float, other: float, support: float, weight: float
) -> None:
    low, high = sorted((low, high))
    assert one(low, support, other, weight) <= one(high, support, other, weight)
    assert one(other, support, low, weight) <= one(other, support, high, weight)
    assert one(other, support + low, other, weight) <= one(other, support + high, other, weight)


def test_equal_shares_weigh_evidence_against_odds() -> None:
    """A score of 1 - 1/e is evidence 1, a judgement of e / (1 + e) odds 1: both ways to the same place."""
    sure, judged = 1 - np.exp(-1.0), 1 / (1 + np.exp(-1.0))
    assert np.isclose(one(sure, 0.0, 0.5, 0.5), one(0.0, 0.0, judged, 0.5))
    assert np.isclose(one(0.0, 0.5, 0.5, 0.5), one(sure, 0.0, 0.5, 0.5)), "support counts double"
