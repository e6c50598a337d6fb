"""Monotone curves from an embedder's cosines to scores in [0, 1] that mean the same for all.

A cosine of 0.8 is chance with one model and certainty with another.  An embedder may declare
the curve fitted to it; without one the score is the cosine itself, clipped at 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Calibration:
    """A non-decreasing, piecewise linear curve through (`cosines`, `scores`), flat outside."""

    name: str
    cosines: tuple[float, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a curve that is not one."""
        if len(self.cosines) != len(self.scores) or len(self.cosines) < 2:
            raise ValueError("a calibration needs two points or more, each with its score")
        if any(b <= a for a, b in zip(self.cosines, self.cosines[1:], strict=False)):
            raise ValueError("a calibration's cosines must rise")
        if any(b < a for a, b in zip(self.scores, self.scores[1:], strict=False)):
            raise ValueError("a calibration's scores must not fall")
        if self.scores[0] < 0.0 or self.scores[-1] > 1.0:
            raise ValueError("a calibration's scores must lie in [0, 1]")

    def __call__(self, cosine: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the scores, float64 in [0, 1], of cosines of any shape."""
        return np.interp(np.asarray(cosine, dtype=np.float64), self.cosines, self.scores)

    def score(self, cosine: float) -> float:
        """Return the score of one cosine."""
        return float(np.interp(cosine, self.cosines, self.scores))


# A caller's own embedder: the score is the cosine, clipped at 0.
IDENTITY = Calibration("identity", (0.0, 1.0), (0.0, 1.0))

# The fitted curves rise everywhere, so that they never change the order of cosines.  Each puts
# the default `min_score`, 0.4, where it separates labelled (question, evidence) pairs from
# questions paired with other people's texts; the rates are in docs/concepts/ranking.md.
HASHED = Calibration("hashed", (-1.0, 0.0, 0.22, 0.7, 1.0), (0.0, 0.2, 0.4, 0.6, 1.0))
MINILM = Calibration("minilm", (-1.0, 0.0, 0.3, 0.5, 1.0), (0.0, 0.05, 0.4, 0.7, 1.0))
# The model's vectors after `e5.frame`: raw ones depend on language more than on subject.
E5 = Calibration("e5", (-1.0, 0.0, 0.25, 0.5, 1.0), (0.0, 0.05, 0.4, 0.75, 1.0))
