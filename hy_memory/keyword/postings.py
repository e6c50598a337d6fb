"""Which rows hold a term, and with what weight: an inverted index of immutable segments and a short tail.

New postings go to the tail; a full tail becomes a segment, and segments of like size are merged, so
that each posting is sorted anew only a few times in its life (the log-structured merge of Lucene).
Document frequency is counted from the postings of living rows, so a deletion costs nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hy_memory.values.point import FloatArray, IdArray, TermVector
from hy_memory.working_set.arrays import BoolArray, GrowingArray, RowArray

IndexArray = npt.NDArray[np.int32]

# Postings that are searched by comparing each: about 40 short texts, some 10 µs.
_TAIL = 1_024
# A segment is at least this many times the next one, which bounds their number (6 for a million
# postings) as well as how often a posting is merged.
_RATIO = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Postings sorted by term, then row: those of `terms[i]` are at `starts[i]:starts[i + 1]`."""

    terms: IdArray
    starts: RowArray
    rows: IndexArray
    weights: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Tail:
    """The newest postings in the order they came; shared by versions, each knowing its size."""

    terms: GrowingArray[np.uint32]
    rows: GrowingArray[np.int32]
    weights: GrowingArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The postings of a query's terms in living rows.

    `rows` int (p,), `weights` (p,) and `places` (p,), the term's place in the query; `frequencies`
    (t,) holds each term's number of rows. A row's postings are in the order of its terms.
    """

    rows: npt.NDArray[np.int32]
    weights: FloatArray
    places: npt.NDArray[np.int64]
    frequencies: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """One version of a user's inverted index."""

    segments: tuple[_Segment, ...]
    tail: _Tail
    tail_size: int

    @classmethod
    def build(cls, documents: Sequence[TermVector]) -> Postings:
        """Return the postings of `documents`, which are rows 0, 1, 2 …"""
        terms, rows, weights = _flatten(documents, 0)
        segments = (_segment(terms, rows, weights),) if len(terms) else ()
        return cls(segments, _new_tail(), 0)

    @property
    def nbytes(self) -> int:
        """Bytes of every array."""
        return 12 * self.tail_size + sum(
            one.terms.nbytes + one.starts.nbytes + one.rows.nbytes + one.weights.nbytes
            for one in self.segments
        )

    def append(self, documents: Sequence[TermVector], first_row: int) -> Postings:
        """Return the next version, with `documents` as rows from `first_row` on; for the newest one only."""
        terms, rows, weights = _flatten(documents, first_row)
        size = self.tail_size + len(terms)
        if size <= _TAIL:
            self.tail.terms.extend(terms, len(terms))
            self.tail.rows.extend(rows, len(terms))
            self.tail.weights.extend(weights, len(terms))
            return Postings(self.segments, self.tail, size)
        held = self._tail_arrays()
        newest = _segment(
            np.concatenate([held[0], terms]),
            np.concatenate([held[1], rows]),
            np.concatenate([held[2], weights]),
        )
        segments = [*self.segments]
        while segments and len(segments[-1].rows) < _RATIO * len(newest.rows):
            newest = _merged(segments.pop(), newest)
        return Postings((*segments, newest), _new_tail(), 0)

    def keep(self, kept: RowArray) -> Postings:
        """Return postings of the rows `kept` alone, renumbered: row i is what was `kept[i]`."""
        tail_terms, tail_rows, tail_weights = self._tail_arrays()
        terms = np.concatenate([*(_spread(one) for one in self.segments), tail_terms])
        rows = np.concatenate([*(one.rows for one in self.segments), tail_rows])
        weights = np.concatenate([*(one.weights for one in self.segments), tail_weights])
        moved = np.full(int(max(rows.max(initial=-1), kept.max(initial=-1))) + 1, -1, dtype=np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        rows = moved[rows]
        living = rows >= 0
        if not living.any():
            return Postings((), _new_tail(), 0)
        segment = _segment(terms[living], rows[living], weights[living])
        return Postings((segment,), _new_tail(), 0)

    def matches(self, terms: IdArray, alive: BoolArray | None) -> Matches:
        """Return the postings of `terms` (t,), sorted and unique, in rows that `alive` admits."""
        rows: list[IndexArray] = []
        weights: list[FloatArray] = []
        places: list[int] = []
        lengths: list[int] = []
        for one in self.segments:
            begins = one.starts[one.terms.searchsorted(terms, "left")].tolist()
            ends = one.starts[one.terms.searchsorted(terms, "right")].tolist()
            for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                if begin < end:
                    rows.append(one.rows[begin:end])
                    weights.append(one.weights[begin:end])
                    places.append(place)
                    lengths.append(end - begin)
        spread = np.repeat(np.array(places, dtype=np.int64), lengths)
        if self.tail_size:
            tail_rows, tail_weights, tail_places = self._tail_matches(terms)
            rows.append(tail_rows)
            weights.append(tail_weights)
            spread = np.concatenate([spread, tail_places])
        if not rows:
            return Matches(_NO_ROWS, _NO_WEIGHTS, _NO_PLACES, np.zeros(len(terms), dtype=np.int64))
        all_rows = rows[0] if len(rows) == 1 else np.concatenate(rows)
        all_weights = weights[0] if len(weights) == 1 else np.concatenate(weights)
        if alive is not None:
            living = alive[all_rows]
            all_rows, all_weights, spread = all_rows[living], all_weights[living], spread[living]
        return Matches(all_rows, all_weights, spread, np.bincount(spread, minlength=len(terms)))

    def _tail_matches(self, terms: IdArray) -> tuple[IndexArray, FloatArray, npt.NDArray[np.int64]]:
        held, rows, weights = self._tail_arrays()
        places = terms.searchsorted(held)
        places[places == len(terms)] = 0  # beyond the last: any term that it is not equal to
        hits = np.flatnonzero(terms[places] == held) if len(terms) else _NO_PLACES
        return rows[hits], weights[hits], places[hits]

    def _tail_arrays(self) -> tuple[IdArray, IndexArray, FloatArray]:
        size = self.tail_size
        return self.tail.terms.head(size), self.tail.rows.head(size), self.tail.weights.head(size)


_NO_ROWS = np.empty(0, dtype=np.int32)
_NO_WEIGHTS = np.empty(0, dtype=np.float32)
_NO_PLACES = np.empty(0, dtype=np.int64)


def _new_tail() -> _Tail:
    return _Tail(
        GrowingArray(np.empty(0, dtype=np.uint32)),
        GrowingArray(np.empty(0, dtype=np.int32)),
        GrowingArray(np.empty(0, dtype=np.float32)),
    )


def _flatten(documents: Sequence[TermVector], first_row: int) -> tuple[IdArray, IndexArray, FloatArray]:
    """Return (term, row, weight) of every posting, document by document."""
    if not documents:
        return np.empty(0, dtype=np.uint32), _NO_ROWS, _NO_WEIGHTS
    lengths = [len(one.ids) for one in documents]
    numbers = np.arange(first_row, first_row + len(documents), dtype=np.int32)
    return (
        np.concatenate([one.ids for one in documents], dtype=np.uint32),
        np.repeat(numbers, lengths),
        np.concatenate([one.weights for one in documents], dtype=np.float32),
    )


def _segment(terms: IdArray, rows: IndexArray, weights: FloatArray) -> _Segment:
    """Return the postings sorted by term; those of one term stay in the order they came."""
    # The place beside the term in one 64-bit key: a plain sort of numbers, several times faster
    # than a stable argsort, and the place is the permutation.
    keys = terms.astype(np.uint64) << np.uint64(32)
    keys |= np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    ordered = terms[order]
    firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return _Segment(ordered[firsts], np.append(firsts, len(terms)), rows[order], weights[order])


def _spread(segment: _Segment) -> IdArray:
    """Return the term of every posting."""
    return np.repeat(segment.terms, np.diff(segment.starts))


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    return _segment(
        np.concatenate([_spread(older), _spread(newer)]),
        np.concatenate([older.rows, newer.rows]),
        np.concatenate([older.weights, newer.weights]),
    )
