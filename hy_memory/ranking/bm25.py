"""Keyword weights in the manner of BM25, as pure functions of one document and one user.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
three changes so that a document's weights can be computed once, stored, and be the same on
every backend:

- length is measured against a fixed pivot and not against the corpus average;
- the penalty of length grows with its square: next to none among chat turns, strong among
  long messages (`b` near 0 for the first and near 1 for the second, in one smooth rule);
- a floor under every weight (the idea of BM25+, Lv & Zhai 2011), so that a long document that
  holds all terms of a query still scores as a match.

IDF is Lucene's, which is never negative, counted over one user's whole population.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hy_memory.text.tokenize import query_tokens, tokenize
from hy_memory.values.point import TermVector

# Saturation of term frequency in a text of no length; 0.3 ranks alike, 0.9 long work chats worse.
_SATURATION = 0.5
# Terms at which length costs as much as 1 occurrence of a term.  100 terms are some hundred
# English words, or fifty Chinese characters (each gives a character and a pair).
_PIVOT_LENGTH = 100.0
# Weight of a term that is there at all.  It keeps a full match in the longest message apart from
# a stray word in a short one.  By keywords alone 0.15 ranks long work chats .015 better, 0.3 .08 worse.
_FLOOR = 0.2


def term_id(token: str) -> int:
    """Return the unsigned 32-bit id of a term: CRC-32 of its UTF-8 bytes."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class KeywordQuery:
    """A query's terms weighed for one user.

    `ids` uint32 (t,), sorted and unique; `idf` float64 (t,); `ceiling` the raw score that no
    document exceeds, that is the sum of `idf`.
    """

    ids: NDArray[np.uint32]
    idf: NDArray[np.float64]
    ceiling: float


def saturation(length: int) -> float:
    """Return how many occurrences are worth half the full weight in a text of `length` terms.

    This is BM25's k1 (1 - b + b length / average), with a square and a fixed pivot.
    """
    return _SATURATION + (length / _PIVOT_LENGTH) * (length / _PIVOT_LENGTH)


def document_terms(text: str, context: str = "") -> TermVector:
    """Return the term weights of a document, a function of these two strings alone.

    Args:
        text: What is stored.
        context: Keyword-only words about it: the speaker's name (a person's, not a role), the
            day as "7 May 2023", a picture's caption, a place.  They count like the text's own.
    """
    tokens = tokenize(text)
    if context:
        tokens += tokenize(context)
    counts: dict[int, int] = {}
    for token, count in Counter(tokens).items():
        key = term_id(token)
        counts[key] = counts.get(key, 0) + count
    ids = np.fromiter(counts, dtype=np.uint32, count=len(counts))
    frequency = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
    order = np.argsort(ids)
    weights = np.maximum(_FLOOR, frequency / (frequency + saturation(len(tokens))))
    return TermVector(ids[order], weights[order].astype(np.float32))


def query_term_ids(text: str) -> NDArray[np.uint32]:
    """Return the distinct term ids of a query, uint32 (t,), sorted."""
    return np.array(sorted({term_id(token) for token in query_tokens(text)}), dtype=np.uint32)


def idf(total: int, df: NDArray[np.integer] | Sequence[int]) -> NDArray[np.float64]:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), Lucene's IDF, float64 of df's shape; > 0.

    `total` (N) and `df` are counted over one user's whole population, never over a filter's:
    a stricter filter must not change scores, and nobody else's data may.
    """
    counts = np.asarray(df, dtype=np.float64)
    return np.log1p((total - counts + 0.5) / (counts + 0.5))


def weigh_query(ids: NDArray[np.uint32], total: int, df: NDArray[np.integer] | Sequence[int]) -> KeywordQuery:
    """Return the query of terms `ids` (sorted, unique), each found in `df` of `total` documents.

    Terms the user never wrote count in the ceiling like the rarest: a question about something
    unknown must not be answered with certainty by the few words that happen to be known.
    """
    weights = idf(total, df)
    return KeywordQuery(ids, weights, math.fsum(weights.tolist()))


def keyword_scores(raw: NDArray[np.floating], query: KeywordQuery) -> NDArray[np.float64]:
    """Return raw sums of idf times weight as shares k of the query's ceiling, in [0, 1]."""
    if query.ceiling <= 0.0:
        return np.zeros(np.shape(raw), dtype=np.float64)
    return np.clip(np.asarray(raw, dtype=np.float64) / query.ceiling, 0.0, 1.0)


def keyword_score(document: TermVector, query: KeywordQuery) -> float:
    """Return k in [0, 1] of one document: the reference that every backend must agree with."""
    _, left, right = np.intersect1d(document.ids, query.ids, assume_unique=True, return_indices=True)
    raw = math.fsum((document.weights[left].astype(np.float64) * query.idf[right]).tolist())
    return float(keyword_scores(np.array([raw]), query)[0])
