"""One order from what a search knows of a memory and what a model says that reads its text.

Both count on one scale: evidence, -log(1 - score), on the one side and the log-odds of the model's judgement
on the other. What neighbours and the rest say beside the legs counts double: a model that reads a text alone
judges "At Luigi's, last Tuesday" by its words, and would undo what the turn before said for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hy_memory.ranking.fusion import evidence_of

_SUPPORT = 2.0
_SUREST = 1e-6  # judgements are taken as no surer than this, so that their log-odds are finite


def blend(
    own: NDArray[np.floating], support: NDArray[np.floating], judgement: NDArray[np.floating], weight: float
) -> NDArray[np.float64]:
    """Return (n,) in [0, 1] to order by: rising in all three; the judgement itself where `weight` is 1.

    Args:
        own: Scores (n,) in [0, 1] from the legs alone.
        support: Evidence (n,), at least 0, of what speaks for a memory beside the legs.
        judgement: What the model says, (n,) in [0, 1].
        weight: Its share, in [0, 1].
    """
    judged = np.asarray(judgement, dtype=np.float64)
    if weight >= 1.0:
        return judged
    sure = np.clip(judged, _SUREST, 1 - _SUREST)
    odds = np.log(sure) - np.log1p(-sure)
    known = evidence_of(own) + _SUPPORT * np.asarray(support, dtype=np.float64)
    return 1 / (1 + np.exp(-(weight * odds + (1 - weight) * known)))
