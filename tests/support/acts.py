"""What a faulty part does in place of its work: it raises, hangs, or says something that cannot be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tests.support.faulty import Act

FOREVER = 60.0
"""What a hung call would take; no test waits for it."""


def raises(error: BaseException) -> Act:
    def act(call: Callable[[], Any]) -> Any:
        del call
        raise error

    return act


@contextmanager
def hanging() -> Generator[Act]:
    """Yield an act that waits until the block is left."""
    release = threading.Event()

    def act(call: Callable[[], Any]) -> Any:
        release.wait(FOREVER)
        return call()

    try:
        yield act
    finally:
        release.set()


def says(change: Callable[[Any], Any]) -> Act:
    """Return an act that changes the part's real answer."""
    return lambda call: change(call())


def scored(change: Callable[[Any], Any]) -> Act:
    """Return an act that changes the scores of a real ranking."""
    return says(lambda real: replace(real, scores=change(real.scores)))


def listed(*ids: object) -> Act:
    """Return an act that puts `ids` before those of the real ranking, as its best."""
    more = np.full(len(ids), 0.999)

    def change(real: Any) -> Any:
        scores = np.concatenate([more, np.minimum(real.scores, 0.999)])
        return replace(real, ids=(*ids, *real.ids), scores=scores)

    return says(change)


def _with(value: float, at: int) -> Callable[[Any], Any]:
    """Return a change of one score."""

    def change(scores: Any) -> Any:
        changed = np.array(scores, dtype=np.float64)
        changed[at] = value
        return changed

    return change


RANKINGS: dict[str, Act] = {
    "none": says(lambda real: None),
    "a list of pairs": says(lambda real: list(zip(real.ids, real.scores, strict=True))),
    "no ids": says(lambda real: replace(real, ids=None)),
    "ids as a list": says(lambda real: replace(real, ids=list(real.ids))),
    "ids that are no texts": listed(7),
    "ids that no store can hold": listed("\0"),
    "ids that are no Unicode": listed("\ud800"),
    "no scores": says(lambda real: replace(real, scores=None)),
    "scores as a list": says(lambda real: replace(real, scores=real.scores.tolist())),
    "scores as texts": scored(lambda scores: scores.astype(str)),
    "too few scores": scored(lambda scores: scores[:-1]),
    "too many scores": scored(lambda scores: np.append(scores, 0.0)),
    "a table of scores": scored(lambda scores: scores[:, None]),
    "nan first": scored(_with(np.nan, 0)),
    "nan last": scored(_with(np.nan, -1)),
    "all nan": scored(lambda scores: scores * np.nan),
    "infinite": scored(_with(np.inf, 0)),
    "minus infinite": scored(_with(-np.inf, -1)),
    "above 1": scored(lambda scores: scores * 7),
    "below -1": scored(_with(-1.5, -1)),
    "not in order": scored(lambda scores: np.append(scores[:-1] * 0.5, 0.9)),
    "one id twice": says(lambda real: replace(real, ids=(real.ids[0], *real.ids[:-1]))),
    "more to come, never": says(
        lambda real: replace(real, ids=real.ids[:1], scores=real.scores[:1], exhausted=False)
    ),
}
SCORES: dict[str, Act] = {
    "none": says(lambda real: None),
    "a list": says(lambda real: real.tolist()),
    "texts": says(lambda real: real.astype(str)),
    "too few": says(lambda real: real[:-1]),
    "too many": says(lambda real: np.append(real, 0.0)),
    "infinite": says(lambda real: real + np.inf),
    "minus infinite": says(lambda real: real - np.inf),
    "above 1": says(lambda real: real + 7),
    "below -1": says(lambda real: real - 7),
}
VECTORS: dict[str, Act] = {
    "none": says(lambda real: None),
    "text": says(lambda real: "alpha"),
    "nan": says(lambda real: [np.nan, *real[1:]]),
    "infinite": says(lambda real: [np.inf, *real[1:]]),
    "zeros": says(lambda real: [0.0 for _ in real]),
    "too short": says(lambda real: real[:-1]),
    "too long": says(lambda real: [*real, 0.0]),
    "two": says(lambda real: [real, real]),
    "empty": says(lambda real: []),
}
JUDGEMENTS: dict[str, Act] = {
    "none": says(lambda real: None),
    "texts": says(lambda real: ["good" for _ in real]),
    "nan": says(lambda real: [*real[:-1], np.nan]),
    "infinite": says(lambda real: [*real[:-1], np.inf]),
    "above 1": says(lambda real: [one + 7 for one in real]),
    "negative": says(lambda real: [one - 7 for one in real]),
    "too few": says(lambda real: real[:-1]),
    "too many": says(lambda real: [*real, 0.5]),
}
NONSENSE = {
    "embedder": VECTORS,
    "vectors.search": RANKINGS,
    "vectors.score": SCORES,
    "keywords.search": RANKINGS,
    "keywords.score": SCORES,
    "rerank": JUDGEMENTS,
    "schema": RANKINGS,
    "intention": RANKINGS,
}
"""What a plug-in may answer in each place. The ledger is ours: it fails, but makes nothing up."""
