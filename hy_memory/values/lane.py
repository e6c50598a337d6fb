"""Lanes: a user's working and coding memory, each a partition of the store beside their chat memory.

To the ledger and to every index a lane is a user of its own, so that all that keeps users apart (filters,
word statistics, caches, deletes) keeps lanes apart too, and chat memory pays nothing for it.
"""

from __future__ import annotations

from enum import StrEnum

SEPARATOR = "\x1f"
"""Between user and lane; `check.identifier` refuses it, so that no caller's id can name a lane."""

RESERVED = "@"
"""How the keys begin that are ours among a record's attributes in a lane; callers' metadata may not."""

FACT = "@fact"
"""The key under which the record of a session's fact keeps what it is made of."""
LEARNED_FROM = "experiences"
"""And within that, the ids of the experiences that it gave rise to."""


class Lane(StrEnum):
    """The kinds of memory beside chat."""

    WORKING = "working"
    CODING = "coding"


def partition(user_id: str, lane: Lane) -> str:
    """Return the key under which a user's lane is stored."""
    return f"{user_id}{SEPARATOR}{lane}"


def partitions(user_id: str) -> tuple[str, ...]:
    """Return every key under which anything of a user may be stored, chat first."""
    return (user_id, *(partition(user_id, lane) for lane in Lane))


def user_of(key: str) -> str:
    """Return whose a key is."""
    return key.partition(SEPARATOR)[0]


def lane_of(key: str) -> Lane | None:
    """Return the lane a key names, None for chat memory."""
    name = key.partition(SEPARATOR)[2]
    return Lane(name) if name else None
