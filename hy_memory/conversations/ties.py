"""Ties: from which turns a turn may borrow evidence, to which it may lend, and whom it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hy_memory.conversations.turns import Place, Ties, UserTurns
from hy_memory.ranking.neighbours import ANSWER, GOES_ON, TAKEN_UP, closeness

UNTIED = Ties((), (), "", is_answered=False)


def ties(memory_id: str, users: Sequence[UserTurns]) -> Ties:
    """Return the ties of a memory among the turns of `users`; UNTIED for what is no turn of any of them.

    What was worked out is kept until the user's turns change.
    """
    for user in users:
        known = user.ties
        found = known.get(memory_id)
        if found is None:
            place = user.place(memory_id)
            found = known[memory_id] = UNTIED if place is None else _ties(place, user)
        if found is not UNTIED:
            return found
    return UNTIED


def _ties(place: Place, user: UserTurns) -> Ties:
    around = [near for near in (place.previous, place.next) if near is not None]
    others = [near for near in around if _speaker(near, user) not in (None, place.turn.speaker)]
    return Ties(
        lenders=tuple(_lenders(place, user)),
        borrowers=tuple(_borrowers(place, user)),
        speaker=place.turn.speaker,
        is_answered=bool(others),
    )


def _lenders(place: Place, user: UserTurns) -> Iterator[tuple[str, float]]:
    turn, before, after = place.turn, _place(place.previous, user), _place(place.next, user)
    if before is not None and before.turn.speaker != turn.speaker:
        if before.turn.asks:
            yield before.turn.id, ANSWER * closeness(turn.size, before.turn.size)
        earlier = _place(before.previous, user)
        if earlier is not None and earlier.turn.speaker == turn.speaker:
            yield earlier.turn.id, GOES_ON * closeness(turn.size, earlier.turn.size)
    if after is not None and after.turn.speaker != turn.speaker and not turn.asks:
        yield after.turn.id, TAKEN_UP * closeness(turn.size, after.turn.size)


def _borrowers(place: Place, user: UserTurns) -> Iterator[str]:
    """Yield the turns of which this one is a lender: the one before, and the two behind."""
    behind = _place(place.next, user)
    for near in (place.previous, place.next, behind.next if behind is not None else None):
        there = _place(near, user)
        if there is not None and any(lender == place.turn.id for lender, _ in _lenders(there, user)):
            yield there.turn.id


def _place(memory_id: str | None, user: UserTurns) -> Place | None:
    return None if memory_id is None else user.place(memory_id)


def _speaker(memory_id: str, user: UserTurns) -> str | None:
    place = user.place(memory_id)
    return None if place is None else place.turn.speaker
