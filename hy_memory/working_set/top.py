"""Top-K that loses no tie: the best scores, and whatever is as good as the last of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hy_memory.ports import TIE, Ranking
from hy_memory.working_set.arrays import RowArray

NOTHING = Ranking((), np.empty(0, dtype=np.float64), exhausted=True)


def top(scores: npt.NDArray[np.floating], top_k: int) -> RowArray:
    """Return the places of the `top_k` highest `scores` (n,) and their ties within TIE, best first."""
    count = len(scores)
    if top_k <= 0:
        return np.empty(0, dtype=np.int64)
    if count <= top_k:
        return np.argsort(-scores, kind="stable")
    bar = np.partition(scores, count - top_k)[count - top_k]
    best = np.flatnonzero(scores >= bar - scores.dtype.type(TIE))
    return best[np.argsort(-scores[best], kind="stable")]


def merge(rankings: Sequence[Ranking], top_k: int) -> Ranking:
    """Return the best of several users' rankings, each cut at `top_k` with its ties."""
    if len(rankings) == 1:
        return rankings[0]
    scores = np.concatenate([one.scores for one in rankings])
    order = top(scores, top_k)
    ids = [point_id for one in rankings for point_id in one.ids]
    exhausted = len(order) == len(scores) and all(one.exhausted for one in rankings)
    return Ranking(tuple([ids[place] for place in order.tolist()]), scores[order], exhausted)
