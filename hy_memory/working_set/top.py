"""Top-K that loses no tie: the best scores, and whatever is as good as the last of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hy_memory.ports import TIE, Ranking
from hy_memory.working_set.arrays import RowArray

_BLOCKS = 8  # for each place: more find a higher bar, and cost more to look through
_DEPTH = 8  # scores of a block: with fewer, the blocks' best are too many to save anything
NOTHING = Ranking((), np.empty(0, dtype=np.float64), exhausted=True)


def top(scores: npt.NDArray[np.floating], top_k: int) -> RowArray:
    """Return the places of the `top_k` highest `scores` (n,) and their ties within TIE, best first."""
    count = len(scores)
    if top_k <= 0:
        return np.empty(0, dtype=np.int64)
    if count <= top_k:
        return np.argsort(-scores, kind="stable")
    least = _reached_by(scores, top_k)
    able = scores if least is None else scores[scores >= least]
    bar = np.partition(able, len(able) - top_k)[len(able) - top_k]
    best = np.flatnonzero(scores >= bar - scores.dtype.type(TIE))
    return best[np.argsort(-scores[best], kind="stable")]


def _reached_by(scores: npt.NDArray[np.floating], top_k: int) -> np.floating | None:
    """Return a score that at least `top_k` of `scores` (n,) reach and few others do; None for short ones.

    Cut into more blocks than `top_k`, as many of them as that have a best score that is no lower: looking
    for it among the blocks' best costs a quarter of looking among all.
    """
    blocks = _BLOCKS * top_k
    size = len(scores) // blocks
    if size < _DEPTH:
        return None
    best = scores[: blocks * size].reshape(size, blocks).max(axis=0)
    return np.partition(best, blocks - top_k)[blocks - top_k]


def merge(rankings: Sequence[Ranking], top_k: int) -> Ranking:
    """Return the best of several users' rankings, each cut at `top_k` with its ties."""
    if len(rankings) == 1:
        return rankings[0]
    scores = np.concatenate([one.scores for one in rankings])
    order = top(scores, top_k)
    ids = [point_id for one in rankings for point_id in one.ids]
    exhausted = len(order) == len(scores) and all(one.exhausted for one in rankings)
    return Ranking(tuple([ids[place] for place in order.tolist()]), scores[order], exhausted)
