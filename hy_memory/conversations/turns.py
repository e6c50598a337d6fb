"""One user's conversations: every turn tied to its neighbours, each session cut into episodes.

The ties are values in one dictionary, each replaced whole; so a reader needs no lock and an add costs
the same however long its session is. A reader that asks while an add is taken in may see the state
before it or after it.
"""

from __future__ import annotations

import gc
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from sys import getsizeof
from typing import NamedTuple, Self, TypeAlias

from hy_memory.conversations.session import Session
from hy_memory.values.turn import Closing, Turn, TurnChanges

# Python's share of a turn without its text: its id, two tuples, four numbers, a key of four, entries in lists
# and a dict.
_BYTES_PER_TURN = 610
MOST_NEAR = 20
"""Turns of a window: enough to see where in an afternoon a memory stands, short enough for every hit."""
_MOST_WINDOWS = 1024  # remembered at once, a kilobyte or two each
_FEW = 64  # changes that are always taken in one by one

_Name: TypeAlias = tuple[str, str]
"""Agent and session."""


class Place(NamedTuple):
    """Where a turn stands in its episode: the ids before and after it, and whether the one before asks."""

    previous: str | None
    next: str | None
    previous_asks: bool
    turn: Turn


class Ties(NamedTuple):
    """Of one turn: `lenders` with the share of what each says, `borrowers`, and who speaks.

    `is_answered` says that one of the turns around is somebody else's.
    """

    lenders: tuple[tuple[str, float], ...]
    borrowers: tuple[str, ...]
    speaker: str
    is_answered: bool


class Window(NamedTuple):
    """The turns of an episode nearest to one of them, in order; which comes first in the whole of it.

    `kinds` are a turn of each kind among them (see `values.turn.KIND_FIELDS`), `place` where the one stands.
    """

    turns: tuple[Turn, ...]
    first: str
    kinds: tuple[Turn, ...]
    place: int


class UserTurns:
    """The turns of one user. Episodes end after a pause of more than `gap` seconds, or at a closing."""

    def __init__(self, turns: Iterable[Turn], closings: Sequence[Closing], gap: float) -> None:
        self._gap = gap
        self._closings = closings
        self._closed = _by_session(closings)
        self._places: dict[str, Place] = {}
        self._sessions: dict[_Name, Session] = {}
        self._text_bytes = 0
        self._windows: dict[str, Window] = {}
        self._speaking: Counter[str] = Counter()
        self.speakers: frozenset[str] = frozenset()
        """Who says the turns (folded names and roles); replaced whole, as readers need no lock."""
        self.ties: dict[str, Ties] = {}
        """What `ties` worked out, by memory id; another, empty one after every change."""
        self._lock = threading.Lock()  # of the few who read a whole episode, and of the one writer
        pause = gc.isenabled()
        gc.disable()  # see `ledger.turns`: none of these many objects is garbage
        try:
            self._fill(turns)
        finally:
            if pause:
                gc.enable()

    @classmethod
    def build(cls, changes: TurnChanges, gap: float) -> Self:
        """Return the conversations of everything a user has."""
        return cls(changes.turns, changes.closings, gap)

    @property
    def is_dialogue(self) -> bool:
        """Whether more than one speaks: without that no turn answers another."""
        return len(self.speakers) > 1

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated."""
        return _BYTES_PER_TURN * len(self._places) + self._text_bytes

    # one turn

    def place(self, memory_id: str) -> Place | None:
        """Return where a memory stands, None for one that is no turn of this user."""
        return self._places.get(memory_id)

    def asks(self, memory_id: str) -> bool:
        """Return whether a memory's text holds a question mark."""
        place = self._places.get(memory_id)
        return place is not None and place.turn.asks

    def window(self, memory_id: str) -> Window | None:
        """Return the turns of an episode nearest to a memory, None for one that stands alone or is no turn.

        Kept until the next change: most searches of a conversation ask for the same ones.
        """
        windows = self._windows  # whoever takes in a change puts a new dictionary in its place
        known = windows.get(memory_id)
        if known is not None:
            return known
        with self._lock:
            place = self._places.get(memory_id)
            if place is None:
                return None
            session = self._sessions[place.turn.agent_id, place.turn.session_id]
            near, at, is_whole = session.near(place.turn, MOST_NEAR)
            first = session.first(place.turn)
        if len(near) < 2:
            return None
        turns = tuple(near)
        window = Window(turns, first, _kinds(turns), at)
        if len(windows) >= _MOST_WINDOWS:
            windows.clear()
        if is_whole:  # its other turns have the same
            windows.update((turn.id, window._replace(place=there)) for there, turn in enumerate(turns))
        windows[memory_id] = window
        return window

    # many turns

    def episode(self, memory_id: str) -> tuple[str, ...]:
        """Return every memory of the same episode, in order; empty for one that is no turn."""
        with self._lock:
            place = self._places.get(memory_id)
            if place is None:
                return ()
            session = self._sessions[place.turn.agent_id, place.turn.session_id]
            return session.episode(session.number(place.turn))

    def closed_by(self, closing: Closing) -> tuple[tuple[str, ...], int]:
        """Return the last episode that a closing ended, in order, and how many its session has."""
        with self._lock:
            session = self._sessions.get((closing.agent_id, closing.session_id))
            number = -1 if session is None else session.last_before(closing.at)
            if session is None or number < 0:
                return (), 0 if session is None else len(session.starts)
            return session.episode(number), len(session.starts)

    # following the ledger

    def advance(self, changes: TurnChanges) -> UserTurns:
        """Take in what became of the user's turns; called by one thread at a time.

        Returns itself, or new conversations where nearly everything would move.
        """
        size = len(changes.turns) + len(changes.removed)
        if size > max(_FEW, len(self._places) // 4) or self._moves(changes.closings):
            return self._rebuilt(changes)
        with self._lock:
            for memory_id in changes.removed:
                self._remove(memory_id)
            for turn in changes.turns:
                self._put(turn)
            self._windows = {}
            self.ties = {}  # whoever works something out of the state before keeps it in the old one
        return self

    def _rebuilt(self, changes: TurnChanges) -> UserTurns:
        turns = {one: place.turn for one, place in self._places.items()}
        for memory_id in changes.removed:
            turns.pop(memory_id, None)
        turns.update((turn.id, turn) for turn in changes.turns)
        return UserTurns(turns.values(), changes.closings, self._gap)

    def _moves(self, closings: Sequence[Closing]) -> bool:
        """Take in closings; return whether they would move turns that are here already."""
        if closings == self._closings:
            return False
        closed = _by_session(closings)
        changed = [name for name in {**closed, **self._closed} if closed.get(name) != self._closed.get(name)]
        for name in changed:
            session, old, new = self._sessions.get(name), self._closed.get(name, ()), closed.get(name, ())
            if session is not None and (new[: len(old)] != old or new[len(old)] < session.newest):
                return True
        for name in changed:
            if name in self._sessions:
                self._sessions[name].closings = closed.get(name, ())
        self._closings, self._closed = closings, closed
        return False

    def _fill(self, turns: Iterable[Turn]) -> None:
        sessions: defaultdict[_Name, list[Turn]] = defaultdict(list)
        for turn in turns:
            sessions[turn[1:3]].append(turn)
            self._speaking[turn.speaker] += 1
            self._text_bytes += _text_bytes(turn)
        self.speakers = frozenset(self._speaking)
        for name, of_session in sessions.items():
            session = self._sessions[name] = self._new_session(name)
            joined = session.fill(of_session)
            self._tie_all(session.turns, joined)

    def _tie_all(self, turns: Sequence[Turn], joined: Sequence[bool]) -> None:
        """Give every turn of one session its place; `joined` says which continue the one before."""
        places, previous, asks = self._places, None, False
        for turn, after, goes_on in zip(turns, (*turns[1:], None), (*joined[1:], False), strict=True):
            following = after.id if after is not None and goes_on else None
            places[turn.id] = Place(previous, following, asks, turn)
            previous, asks = (turn.id, turn.asks) if goes_on else (None, False)

    def _put(self, turn: Turn) -> None:
        known = self._places.get(turn.id)
        if known is not None:
            if known.turn == turn:
                return
            self._remove(turn.id)
        self._count(turn.speaker, 1)
        self._text_bytes += _text_bytes(turn)
        name = turn.agent_id, turn.session_id
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = self._new_session(name)
        seam = session.insert(turn)
        left = seam.left if seam.joins_left else None
        right = seam.right if seam.joins_right else None
        self._places[turn.id] = Place(left, right, left is not None and self.asks(left), turn)
        if left is not None:
            self._places[left] = self._places[left]._replace(next=turn.id)
        if right is not None:
            self._places[right] = self._places[right]._replace(previous=turn.id, previous_asks=turn.asks)

    def _remove(self, memory_id: str) -> None:
        place = self._places.get(memory_id)
        if place is None:
            return
        turn = place.turn
        self._count(turn.speaker, -1)
        self._text_bytes -= _text_bytes(turn)
        name = turn.agent_id, turn.session_id
        session = self._sessions[name]
        seam = session.remove(turn)
        if not session.keys:
            del self._sessions[name]
        left = seam.left if seam.spans else None
        if seam.joins_left and seam.left is not None:
            following = seam.right if seam.spans else None
            self._places[seam.left] = self._places[seam.left]._replace(next=following)
        if seam.joins_right and seam.right is not None:
            asks = left is not None and self.asks(left)
            tied = self._places[seam.right]._replace(previous=left, previous_asks=asks)
            self._places[seam.right] = tied
        del self._places[memory_id]

    def _count(self, speaker: str, difference: int) -> None:
        """Note that a speaker says more, or less; one who says nothing is none."""
        before = self._speaking[speaker]
        self._speaking[speaker] = before + difference
        if before == 0 or before + difference == 0:
            self.speakers = frozenset(one for one, turns in self._speaking.items() if turns > 0)

    def _new_session(self, name: _Name) -> Session:
        return Session(self._gap, self._closed.get(name, ()))


def _text_bytes(turn: Turn) -> int:
    return 0 if turn.content is None else getsizeof(turn.content)


def _kinds(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return a turn of each kind among those of one session."""
    # a layer by its identity: there is one object of each, and hashing it calls Python code
    return tuple({(one.source, id(one.layer), one.expires_at): one for one in turns}.values())


def _by_session(closings: Iterable[Closing]) -> dict[_Name, tuple[float, ...]]:
    """Return when each session was closed, in order."""
    found: defaultdict[_Name, list[float]] = defaultdict(list)
    for one in closings:
        found[one.agent_id, one.session_id].append(one.at)
    return {name: tuple(sorted(moments)) for name, moments in found.items()}
