"""Simhash: 64 bits of a text, of which texts that share nearly all their words share nearly all.

M. Charikar, "Similarity Estimation Techniques from Rounding Algorithms" (2002): each feature votes for the
bits of its own hash with its weight, and a bit is set where the votes for it outweigh those against.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from hy_memory.text.likeness import NEGATIONS, canonical_words
from hy_memory.text.tokenize import count_unspaced, stop_terms, tokenize

NEAR = 3
"""Most bits in which near-duplicates differ (memory-dynamics)."""
_BANDS = 4  # one more than bits may differ: of four bands at least one is then the same
_BAND_BITS = 16
_TELLING, _WORD = 2.0, 1.0  # with another number, or a "not" more, a short text is none to look at
_STOP_WORD, _PAIR = 0.2, 0.25  # a stop word more or less is no other text; pairs tell the order
_TIE_BREAK = 0.1 / 255  # weights are up to a tenth larger, by hash: votes of equal weights would often tie
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # an odd number: what breaks ties must favour no bit of the hash


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text of any script, over its canonical terms and their pairs."""
    words = canonical_words(text)
    terms = tokenize(" ".join(words)) or list(words)
    votes = {term: 0.0 for term in terms}
    for term in terms:
        votes[term] += _weight(term)
    for one, next_one in pairwise(terms):
        pair = f"{one} {next_one}"
        votes[pair] = votes.get(pair, 0.0) + _PAIR
    hashes = np.fromiter(map(_hash, votes), dtype=np.uint64, count=len(votes))
    weights = np.fromiter(votes.values(), dtype=np.float64, count=len(votes))
    weights *= 1.0 + (hashes * _MIXER >> np.uint64(56)).astype(np.float64) * _TIE_BREAK
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(len(votes), 64)
    is_set = weights @ (bits * 2.0 - 1.0) > 0
    return int.from_bytes(np.packbits(is_set).tobytes(), "big")


def distance(one: int, other: int) -> int:
    """Return in how many bits two simhashes differ."""
    return (one ^ other).bit_count()


def bands(bits: int) -> tuple[int, ...]:
    """Return four numbers; simhashes that differ in at most `NEAR` bits have at least one in common."""
    width = (1 << _BAND_BITS) - 1
    return tuple(at << _BAND_BITS | (bits >> at * _BAND_BITS) & width for at in range(_BANDS))


def _weight(term: str) -> float:
    if term in NEGATIONS or term[0].isdigit() or term[-1].isdigit():
        return _TELLING
    if term in stop_terms() or (len(term) == 1 and count_unspaced(term)):
        return _STOP_WORD  # nearly every text has the common characters, and pairs tell them apart
    return _WORD


@lru_cache(maxsize=32_768)
def _hash(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
