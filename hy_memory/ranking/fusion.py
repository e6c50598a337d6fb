"""One score from a calibrated dense score and a keyword score.

The two are joined like independent evidence: 1 - score = (1 - d) (1 - g(k)).  A sum of weights
in the scale of -log(1 - score), it never falls below the dense score, rises with either leg
and stays in [0, 1] without clipping, so that two good matches never tie at the top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fuse(dense: NDArray[np.floating], keyword: NDArray[np.floating], terms: int = 1) -> NDArray[np.float64]:
    """Return the hybrid scores, float64 in [0, 1], of matching arrays `dense` and `keyword`.

    Args:
        dense: Calibrated dense scores in [0, 1].
        keyword: Keyword scores k in [0, 1], shares of the query's ceiling.
        terms: How many distinct terms the query has.
    """
    d = np.asarray(dense, dtype=np.float64)
    k = np.asarray(keyword, dtype=np.float64)
    return 1.0 - (1.0 - d) * (1.0 - np.minimum(k * 2.6, 0.52 + 0.1 * k))
