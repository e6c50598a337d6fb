"""One score from a calibrated dense score and a keyword score.

The legs are joined like independent evidence: 1 - score = (1 - d) exp(-e), where e is the
evidence of the keywords.  On the scale of -log(1 - score) this is a sum.  It never falls below
the dense score, rises with either leg, and stays in [0, 1] without clipping.  It looks at one
document alone, so that no other candidate, filter or limit changes a score, and a threshold
algorithm over the two ranked lists finds the exact best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hy_memory.ranking.calibration import Calibration

# Strength of a query of one term.  A full match has k >= 0.2 even in the longest message (the
# floor of `bm25`): u = 1.1, evidence 0.58, score 0.44, which passes the default `min_score` 0.4.
_STRENGTH = 5.5
# In a question of many words every document holds a small share of them, so equal shares say
# more.  With powers below 0.3 keywords say too little in long questions, above 0.45 they drown
# what dense knows.
_GROWTH = 1 / 3


def keyword_strength(terms: int) -> float:
    """Return how much a keyword score says in a query of `terms` distinct terms."""
    return _STRENGTH * max(terms, 1) ** _GROWTH


# The most that a vector alone can prove. Vectors of equal texts are equal, but so are those of an
# embedder that knows nothing; the last step of the grid of scores lets the words decide between them.
DENSE_CEILING = 0.99999


def dense_scores(cosines: NDArray[np.floating], calibration: Calibration) -> NDArray[np.float64]:
    """Return the calibrated scores of `cosines`, float64 in [0, DENSE_CEILING], of their shape."""
    return np.minimum(calibration(cosines), DENSE_CEILING)


def fuse(dense: NDArray[np.floating], keyword: NDArray[np.floating], terms: int = 1) -> NDArray[np.float64]:
    """Return the hybrid scores, float64 in [0, 1], of matching arrays `dense` and `keyword`.

    Args:
        dense: Calibrated dense scores d in [0, 1]; 0 where a document was not compared.
        keyword: Keyword scores k in [0, 1], shares of the query's ceiling; 0 where no term matches.
        terms: How many distinct term ids the query has.
    """
    d = np.asarray(dense, dtype=np.float64)
    u = np.asarray(keyword, dtype=np.float64) * keyword_strength(terms)
    # Quadratic at first: one stray word in common is next to no evidence.  A straight sum ranks
    # alike, and lets half again as many unrelated texts past the default `min_score`.
    evidence = u * u / (1.0 + u)
    # d + (1 - d) x and not 1 - (1 - d) (1 - x): exactly d where k is 0.
    return d + (1.0 - d) * -np.expm1(-evidence)


def evidence_of(score: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return -log(1 - score), the scale on which evidence adds up; what no evidence proves is left out.

    A score of 1 counts as DENSE_CEILING, so that the result is finite.
    """
    return -np.log1p(-np.minimum(np.asarray(score, dtype=np.float64), DENSE_CEILING))


def as_score(evidence: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return the score in [0, 1) that `evidence` alone would give: the inverse of `evidence_of`."""
    return -np.expm1(-np.asarray(evidence, dtype=np.float64))


def raised(
    score: NDArray[np.floating] | float, evidence: NDArray[np.floating] | float
) -> NDArray[np.float64]:
    """Return scores with further evidence, at least 0: never below `score`, and exactly it without any."""
    own = np.asarray(score, dtype=np.float64)
    return own + (1.0 - own) * as_score(evidence)
