"""Clustering: groups around centres, the same whatever the order of the rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.ranking.clusters import clusters
from hy_memory.values.point import FloatArray


def _rows(angles: list[float]) -> FloatArray:
    return np.array([[np.cos(one), np.sin(one)] for one in angles], dtype=np.float32).reshape(-1, 2)


def test_two_groups_and_a_stranger() -> None:
    rows = _rows([0.0, 0.1, 0.2, 1.5, 1.6, 1.7, 3.0])
    assert clusters(rows, list("abcdefg"), least=0.99, smallest=3) == [[1, 0, 2], [4, 3, 5]]


def test_a_chain_of_neighbours_is_not_one_group() -> None:
    rows = _rows([0.0, 0.3, 0.6, 0.9, 1.2])
    groups = clusters(rows, list("abcde"), least=float(np.cos(0.31)), smallest=3)
    assert groups == [[1, 0, 2]]


def test_nothing_and_too_few() -> None:
    assert clusters(np.empty((0, 2), dtype=np.float32), [], least=0.5, smallest=3) == []
    assert clusters(_rows([0.0, 0.0]), ["a", "b"], least=0.5, smallest=3) == []


@given(st.lists(st.floats(0, 6.28), max_size=30), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_and_members_are_near_their_centre(
    angles: list[float], random: object
) -> None:
    names = [f"n{number:02}" for number in range(len(angles))]
    rows = _rows(angles)
    found = clusters(rows, names, least=0.9, smallest=2)
    shuffled = list(range(len(angles)))
    getattr(random, "shuffle")(shuffled)  # noqa: B009 - Hypothesis' Random is typed as an object
    again = clusters(rows[shuffled], [names[row] for row in shuffled], least=0.9, smallest=2)
    assert [[names[row] for row in group] for group in found] == [
        [names[shuffled[row]] for row in group] for group in again
    ]
    assert len({row for group in found for row in group}) == sum(map(len, found))
    for group in found:
        assert (rows[group] @ rows[group[0]] >= 0.9 - 1e-6).all()
