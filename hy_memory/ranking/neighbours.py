"""What the turns around a memory say for it, and what its speaker and its time do.

In a conversation the words of a question are in one turn and its answer in the next, which alone
says little ("At Luigi's, last Tuesday"). So a turn lends evidence to the turns it belongs with. All
of it is on the scale -log(1 - score), where `fusion` adds, and all of it rests on what a score says
*beyond* the default `min_score`: what is itself unrelated lends nothing.

The forms and constants were chosen on five labelled sets of chats and notes, one setting for all
(docs/concepts/ranking.md). Symmetric smoothing, session scores and shared entities did not help.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hy_memory.ranking.fusion import evidence_of

ANSWER = 0.8
"""Share that a question lends to the next turn, of another speaker: 0.6 to 1.2 rank alike."""
TAKEN_UP = 0.4
"""Share that a turn gets from the next one, of another speaker, unless it asks itself: 0.2 to 0.6 alike."""
GOES_ON = 0.2
"""Share that a turn gets from the same speaker's turn before another's between them; above it long work
chats lose."""
LENT = ANSWER + TAKEN_UP + GOES_ON
"""The most that a turn can get of what its neighbours say."""

_THRESHOLD = float(evidence_of(0.4))  # the default `min_score`: where "related" begins in all calibrations
# A long turn speaks of many things, and so is seldom about its neighbour's: without this, long work
# chats lose .08 nDCG. In UTF-8 bytes of both turns, which count a Chinese character like a short word.
_LONG = 600.0
# What is itself unrelated is not carried past the threshold by its neighbours: full loans from 0.4 on.
_RAMP_FROM, _RAMP_TO = 0.3, 0.4


def beyond(score: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return what `score` says beyond 0.4: 0 up to there, at most 11; NaN (out of scope) says nothing."""
    return np.maximum(np.nan_to_num(evidence_of(score), nan=0.0) - _THRESHOLD, 0.0)


def openness(score: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return in [0, 1] how much a memory of this `score` may borrow: none up to 0.3, all from 0.4 on."""
    return np.clip((np.asarray(score, dtype=np.float64) - _RAMP_FROM) / (_RAMP_TO - _RAMP_FROM), 0.0, 1.0)


def closeness(size: int, other: int) -> float:
    """Return in (0, 1] how surely two neighbours of these sizes (UTF-8 bytes) speak of one thing."""
    return 1.0 / (1.0 + math.pow((size + other) / _LONG, 2))
