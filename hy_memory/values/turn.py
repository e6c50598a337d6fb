"""What a conversation is made of: memories as moments in a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hy_memory.values.record import Layer, Status

KEPT = 1000
"""Characters of the longest text that a turn brings along: a message, not a document."""


class Turn(NamedTuple):
    """A searchable memory of the normal layers. Times are UTC epoch seconds; `asks`: its text holds a "?".

    `speaker` is the folded name or role of who says it, `size` the length of its text in UTF-8 bytes.
    `content` is None for a text longer than KEPT.

    A tuple rather than a dataclass: a user's are read a hundred thousand at once, and a tuple is made in
    a quarter of the time.
    """

    id: str
    agent_id: str
    session_id: str
    source: str
    layer: Layer
    expires_at: float | None
    event_at: float
    created_at: float
    asks: bool
    speaker: str
    size: int
    content: str | None
    owner: str
    memory_at: float | None

    @property
    def status(self) -> Status:
        """What every turn is."""
        return Status.ACTIVE


KIND_FIELDS = frozenset({"agent_id", "session_id", "source", "layer", "expires_at", "status"})
"""What many turns have in common: two of one kind are told apart by nothing but id, time and words."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a session's episodes: what was stored until `at` (inclusive) belongs to earlier ones."""

    agent_id: str
    session_id: str
    at: float


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """What became of one user's turns after some `seq`; `closings` are all there are, in order."""

    seq: int
    turns: tuple[Turn, ...]
    removed: tuple[str, ...]
    closings: tuple[Closing, ...]
