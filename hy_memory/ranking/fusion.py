"""One score from a calibrated dense score and a keyword score.

The legs are joined like independent evidence, 1 - score = (1 - d) exp(-s k): a weighted sum on
the scale of -log(1 - score).  Such a sum never falls below the dense score, rises with either
leg, and stays in [0, 1] without clipping.  It looks at one document alone, so that no other
candidate, filter or limit changes a score, and a threshold algorithm over the two ranked lists
finds the exact best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Strength of a query of one term.  A full match is worth k >= 0.2 even in the longest message
# (the floor of `bm25`), and 1 - exp(-3 * 0.2) = 0.45 passes the default `min_score` of 0.4.
_STRENGTH = 3.0
# In a question of many words every document holds a small share of them, so equal shares say
# more.  Exponents from 0.2 to 0.5 measure alike; above, long questions lose what dense knows.
_GROWTH = 0.4


def keyword_strength(terms: int) -> float:
    """Return s, the weight of the keyword score in a query of `terms` distinct terms."""
    return _STRENGTH * max(terms, 1) ** _GROWTH


def fuse(dense: NDArray[np.floating], keyword: NDArray[np.floating], terms: int = 1) -> NDArray[np.float64]:
    """Return the hybrid scores, float64 in [0, 1], of matching arrays `dense` and `keyword`.

    Args:
        dense: Calibrated dense scores d in [0, 1]; 0 where a document was not compared.
        keyword: Keyword scores k in [0, 1], shares of the query's ceiling; 0 where no term matches.
        terms: How many distinct term ids the query has.
    """
    d = np.asarray(dense, dtype=np.float64)
    k = np.asarray(keyword, dtype=np.float64)
    # d + (1 - d) x and not 1 - (1 - d) (1 - x): exactly d where k is 0.
    return d + (1.0 - d) * -np.expm1(-keyword_strength(terms) * k)
