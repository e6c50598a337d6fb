"""One session's turns in their order, and where its episodes begin."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from hy_memory.values.turn import Turn

Key: TypeAlias = tuple[int, float, float, str]
"""A turn's place: how many closings came before it, when it happened, when it was stored, its id."""


@dataclass(frozen=True, slots=True)
class Seam:
    """What stands left and right of a place, and which of the three neighbouring pairs are one episode."""

    left: str | None
    right: str | None
    joins_left: bool
    joins_right: bool
    spans: bool
    """Whether left and right are one episode while nothing stands between them."""


@dataclass(slots=True, eq=False)
class Session:
    """The turns of one agent's session, in order. `gap` is in seconds; one writer at a time.

    `turns` stand at the places of their `keys`. `starts` are the first turns of the episodes: it grows at
    its end and is replaced whole for every other change, so that readers may search it without a lock.
    """

    gap: float
    closings: tuple[float, ...] = ()
    newest: float = float("-inf")
    """The latest time of storing there ever was: closings after it move no turn."""
    keys: list[Key] = field(default_factory=list[Key])
    turns: list[Turn] = field(default_factory=list[Turn])
    starts: list[Key] = field(default_factory=list[Key])

    def key(self, turn: Turn) -> Key:
        """Return the place of `turn`. What was stored until a closing, inclusive, stands before it."""
        era = bisect_left(self.closings, turn.created_at) if self.closings else 0
        return era, turn.event_at, turn.created_at, turn.id

    def fill(self, turns: Iterable[Turn]) -> list[bool]:
        """Take `turns`, one at least, into an empty session.

        Returns for each of `keys` whether it continues the episode of the one before.
        """
        placed = sorted([(self.key(turn), turn) for turn in turns])
        keys = [key for key, _ in placed]
        self.newest = max(key[2] for key in keys)
        joined = [False]
        joined += [self._is_one(before, key) for before, key in pairwise(keys)]
        self.keys, self.turns = keys, [turn for _, turn in placed]
        self.starts = [key for key, joins in zip(keys, joined, strict=True) if not joins]
        return joined

    def insert(self, turn: Turn) -> Seam:
        """Put a turn into its place and return what it stands between."""
        key, keys = self.key(turn), self.keys
        self.newest = max(self.newest, turn.created_at)
        place = bisect_left(keys, key)
        seam = self._seam(place, key, keys[place] if place < len(keys) else None)
        keys.insert(place, key)
        self.turns.insert(place, turn)
        if not seam.joins_left:
            self._begin(key)
        if seam.joins_right and not seam.spans:
            self._join(keys[place + 1])
        return seam

    def remove(self, turn: Turn) -> Seam:
        """Take a turn out of its place and return what it stood between."""
        key, keys = self.key(turn), self.keys
        place = bisect_left(keys, key)
        del keys[place], self.turns[place]
        seam = self._seam(place, key, keys[place] if place < len(keys) else None)
        if not seam.joins_left:
            self._join(key)
        if seam.joins_right and not seam.spans:
            self._begin(keys[place])
        return seam

    def first(self, turn: Turn) -> str:
        """Return the id of the first turn of the episode that `turn` is in; needs no lock."""
        starts = self.starts
        return starts[max(0, bisect_right(starts, self.key(turn)) - 1)][3]

    def number(self, turn: Turn) -> int:
        """Return which episode `turn` is in, from 0."""
        return bisect_right(self.starts, self.key(turn)) - 1

    def episode(self, number: int) -> tuple[str, ...]:
        """Return the ids of an episode, in order; nobody may write meanwhile."""
        begin = bisect_left(self.keys, self.starts[number])
        later = self.starts[number + 1 : number + 2]
        end = bisect_left(self.keys, later[0]) if later else len(self.keys)
        return tuple(key[3] for key in self.keys[begin:end])

    def near(self, turn: Turn, most: int) -> tuple[list[Turn], int, bool]:
        """Return at most `most` turns of one episode around `turn`, as many on each side where there are.

        With them comes where among them `turn` stands, and whether they are known to be all of the episode.
        Nobody may write meanwhile.
        """
        keys, key, starts = self.keys, self.key(turn), self.starts
        number, at = bisect_right(starts, key), bisect_left(keys, key)
        # what could be shown; the episode's ends are looked for there alone, among keys read anyway
        low, high = max(0, at - most + 1), at + most
        around = keys[low:high]
        begin = bisect_left(around, starts[number - 1])
        end = bisect_left(around, starts[number]) if number < len(starts) else len(around)
        first = max(begin, min(at - low - most // 2, end - most))
        last = min(first + most, end)
        is_whole = first == begin and last == end and (around[begin] == starts[number - 1])
        is_whole = is_whole and (end < len(around) or high >= len(keys))
        return self.turns[low + first : low + last], at - low - first, is_whole

    def last_before(self, closing: float) -> int:
        """Return the number of the last episode that was closed by `closing`, -1 for none."""
        era = bisect_left(self.closings, closing)
        return bisect_left(self.starts, (era + 1,)) - 1

    def _seam(self, place: int, key: Key, right: Key | None) -> Seam:
        left = self.keys[place - 1] if place else None
        joins_left = left is not None and self._is_one(left, key)
        joins_right = right is not None and self._is_one(key, right)
        spans = left is not None and right is not None and self._is_one(left, right)
        return Seam(left and left[3], right and right[3], joins_left, joins_right, spans)

    def _is_one(self, left: Key, right: Key) -> bool:
        """Whether two turns that follow each other are of one episode."""
        return left[0] == right[0] and right[1] - left[1] <= self.gap

    def _begin(self, key: Key) -> None:
        if not self.starts or self.starts[-1] < key:
            self.starts.append(key)
        else:
            starts = self.starts.copy()
            insort(starts, key)
            self.starts = starts

    def _join(self, key: Key) -> None:
        starts = self.starts.copy()
        del starts[bisect_left(starts, key)]
        self.starts = starts
