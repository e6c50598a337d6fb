"""The wall behind every index: whatever passes is a ranking, however wrong its backend is.

Scores decide what is found, so one NaN, one 7.0 or one list out of order would quietly spoil an
answer. Of ids it is enough that they can be ids: the ledger confirms each one, and whose it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from hy_memory.errors import BackendError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ports import TIE, KeywordIndex, Ranking, ScoreArray, VectorIndex
from hy_memory.values.point import FloatArray, IdArray

# Engines that keep vectors in half precision leave [-1, 1] by as much; beyond it is another measure.
_SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class CheckedVectors:
    """A vector leg whose answers are rankings of cosines; `name` is its backend's."""

    inner: VectorIndex
    name: str

    def search(self, vector: FloatArray, where: ScopedFilter, top_k: int) -> Ranking:
        """See `VectorIndex`; raises BackendError where the answer is no ranking."""
        return _ranking(
            self.inner.search(vector, where, top_k), top_k, -1.0, f"vector index of {self.name!r}"
        )

    def score(self, vector: FloatArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """See `VectorIndex`; raises BackendError where the answer is no array of cosines."""
        return _scores(self.inner.score(vector, ids, where), ids, -1.0, f"vector index of {self.name!r}")

    def count(self, where: ScopedFilter) -> int:
        """See `VectorIndex`."""
        return self.inner.count(where)


@dataclass(frozen=True, slots=True)
class CheckedKeywords:
    """A keyword leg whose answers are rankings of scores in [0, 1]."""

    inner: KeywordIndex
    name: str

    def search(self, terms: IdArray, where: ScopedFilter, top_k: int) -> Ranking:
        """See `KeywordIndex`; raises BackendError where the answer is no ranking."""
        return _ranking(self.inner.search(terms, where, top_k), top_k, 0.0, f"keyword index of {self.name!r}")

    def score(self, terms: IdArray, ids: Sequence[str], where: ScopedFilter) -> ScoreArray:
        """See `KeywordIndex`; raises BackendError where the answer is no array of scores."""
        return _scores(self.inner.score(terms, ids, where), ids, 0.0, f"keyword index of {self.name!r}")


def _ranking(answer: object, top_k: int, least: float, index: str) -> Ranking:
    """Return `answer` if it is a ranking; raise a BackendError that names `index` and what is wrong."""
    if not isinstance(answer, Ranking):
        raise _nonsense(index, f"{type(answer).__name__} instead of a Ranking")
    ids, count = answer.ids, len(answer.ids) if _is_ids(answer.ids) else -1
    if not _is_floats(answer.scores, count):
        raise _nonsense(index, "something else than a tuple of ids and as many scores")
    if not count:
        return answer
    if len(set(ids)) < count:
        raise _nonsense(index, "an id that it lists twice")
    scores = answer.scores
    # Of a list in order the ends tell the range. A NaN satisfies none of these.
    if not (scores.item(0) <= 1 + _SLACK and scores.item(-1) >= least - _SLACK):
        raise _nonsense(index, f"scores outside [{least:g}, 1]")
    if not (_holds(scores[1:] <= scores[:-1]) or _holds(scores[1:] <= scores[:-1] + TIE)):
        raise _nonsense(index, "scores that are NaN or not in order, best first")
    if count < top_k and not answer.exhausted:
        raise _nonsense(index, f"{count} ids where {top_k} were asked for, and says that there are more")
    return answer


def _scores(answer: object, ids: Sequence[str], least: float, index: str) -> ScoreArray:
    """Return `answer` if it holds a score, or NaN, for each of `ids`; else raise a BackendError."""
    if not _is_floats(answer, len(ids)):
        raise _nonsense(index, f"something else than scores of {len(ids)} ids")
    scores = cast("ScoreArray", answer)
    if np.count_nonzero((scores > 1 + _SLACK) | (scores < least - _SLACK)):
        raise _nonsense(index, f"scores outside [{least:g}, 1]")
    return scores


def _is_ids(value: object) -> bool:
    """Return whether `value` is a tuple of texts that a ledger can be asked for."""
    if not isinstance(value, tuple):
        return False
    try:  # all at once: a tenth of the time that looking at each one takes
        joined = "".join(cast("tuple[str, ...]", value))
        return "\0" not in joined and (joined.isascii() or bool(joined.encode()))
    except (TypeError, UnicodeEncodeError):
        return False


def _holds(mask: npt.NDArray[np.bool_]) -> bool:
    """Return whether all of `mask` is true; for a short one in half the time of `all`."""
    return np.count_nonzero(mask) == len(mask)


def _is_floats(value: object, count: int) -> bool:
    """Return whether `value` is an array of `count` floating-point numbers."""
    return isinstance(value, np.ndarray) and value.shape == (count,) and value.dtype.kind == "f"


def _nonsense(index: str, what: str) -> BackendError:
    return BackendError(f"the {index} answered with {what}; the search goes on without it")
