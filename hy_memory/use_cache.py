"""How a user's memories were used, kept in memory and caught up before each read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from hy_memory.use_source import UseSource
from hy_memory.values.use import Use
from hy_memory.working_set.cache import PerUser

_BYTES_PER_USE = 400
_OVERLAP = 60.0  # seconds: clocks of several machines differ, and what is read twice is the same
_STALE = 1.0  # seconds: engines whose freshness tells of records alone do not tell of uses


class FreshUses(UseSource, Protocol):
    """The ledger, as this cache sees it."""

    def freshness(self) -> int:
        """Return a number that differs whenever a record was changed."""
        ...


class UserUses:
    """What is kept of the use of one user's memories, by id; most have nothing."""

    def __init__(self) -> None:
        self.by_id: dict[str, Use] = {}
        self.until = float("-inf")

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated."""
        return _BYTES_PER_USE * len(self.by_id)


class UseCache:
    """Any user's uses, within a budget of bytes; at most a second behind what other processes learned."""

    def __init__(self, source: FreshUses, memory_budget: int) -> None:
        self._source = source
        self._users = PerUser(self, self._load, self._follow, memory_budget)
        self._changes = 0

    def of(self, user_id: str) -> Mapping[str, Use]:
        """Return what is kept of a user's memories, by id; not to be changed."""
        return self._users.of(user_id).by_id

    def freshness(self) -> int:
        """Return a number that differs when something may have been learned."""
        return hash((self._source.freshness(), int(time.monotonic() / _STALE), self._changes))

    def forget(self) -> None:
        """Let the next read look again: this process just changed something."""
        self._changes += 1

    def close(self) -> None:
        """Let go of everything."""
        self._users.close()

    def _load(self, user_id: str) -> tuple[int, UserUses]:
        return self._follow(user_id, 0, UserUses())

    def _follow(self, user_id: str, seq: int, kept: UserUses) -> tuple[int, UserUses]:
        """Take in what changed; a row is replaced whole, so that readers need no lock."""
        found = self._source.uses_since(user_id, kept.until - _OVERLAP)
        before = len(kept.by_id)
        kept.by_id.update((one.record_id, one) for one in found)
        kept.until = max([kept.until, *(one.changed_at for one in found)])
        return (seq + 1 if len(kept.by_id) != before else seq), kept
