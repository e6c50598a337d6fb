"""From a classifier's outputs to the probability that a text answers a question."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hy_memory.ports import ScoreArray

_NAMES = ("relevant", "entailment", "positive")
"""What models call the label that means "yes": rankers, inference models, models of opinion."""


def relevance_label(names: Mapping[int, str]) -> int:
    """Return which of a model's labels (its `id2label`) means relevant.

    The one named "relevant", "entailment" or "positive", whatever the case, in this order; where no
    label is named so, the last one: label 1 of two, the highest of several grades.
    """
    known = {name.strip().lower(): at for at, name in names.items()}
    return next((known[name] for name in _NAMES if name in known), max(names))


def probabilities(logits: npt.NDArray[np.floating], label: int) -> ScoreArray:
    """Return (n,) in [0, 1] from logits (n, labels): sigmoid of a single one, else softmax at `label`.

    NaN and infinite logits give NaN: nothing that a model did not say becomes a score.
    """
    given = logits.astype(np.float64)
    # one logit is the odds against a second one of 0, and a sigmoid that softmax of two
    pair = np.concatenate([np.zeros_like(given), given], axis=1) if given.shape[1] == 1 else given
    at = 1 if given.shape[1] == 1 else label
    with np.errstate(invalid="ignore"):
        raised = np.exp(pair - pair.max(axis=1, keepdims=True))
        chances = raised[:, at] / raised.sum(axis=1)
    return np.where(np.isfinite(given).all(axis=1), chances, np.nan)
