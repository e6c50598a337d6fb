"""The conversations of the users read last: built at first use, caught up before each read."""

from __future__ import annotations

from typing import Protocol

from hy_memory.conversations.turns import UserTurns
from hy_memory.values.turn import TurnChanges
from hy_memory.working_set.cache import Fresh, PerUser


class TurnSource(Fresh, Protocol):
    """The ledger, as conversations see it."""

    def turns(self, user_id: str, after: int | None = None) -> TurnChanges:
        """Return a user's turns, or what became of them after a sequence number."""
        ...


class HasConversations(Protocol):
    """Whoever can tell any user's conversations, those of now or of an earlier moment."""

    def of(self, user_id: str) -> UserTurns:
        """Return a user's conversations."""
        ...


class Conversations:
    """Any user's conversations. Nothing of them is stored; losing them costs reading them again.

    `gap` (seconds) is the pause that ends an episode, `memory_budget` (bytes) what is kept in all.
    """

    def __init__(self, source: TurnSource, gap: float, memory_budget: int) -> None:
        self._source = source
        self._gap = gap
        self._users = PerUser(source, self._load, self._follow, memory_budget)

    def of(self, user_id: str) -> UserTurns:
        """Return a user's conversations, current with everything committed before the call."""
        return self._users.of(user_id)

    @property
    def gap(self) -> float:
        """The pause (seconds) that ends an episode."""
        return self._gap

    @property
    def nbytes(self) -> int:
        """Bytes of everything kept, estimated."""
        return self._users.nbytes

    def users(self) -> tuple[str, ...]:
        """Return who is kept, the one read longest ago first."""
        return self._users.users()

    def close(self) -> None:
        """Let go of everything."""
        self._users.close()

    def _load(self, user_id: str) -> tuple[int, UserTurns]:
        everything = self._source.turns(user_id)
        return everything.seq, UserTurns.build(everything, self._gap)

    def _follow(self, user_id: str, seq: int, kept: UserTurns) -> tuple[int, UserTurns]:
        changes = self._source.turns(user_id, seq)
        return changes.seq, kept if changes.seq == seq else kept.advance(changes)
