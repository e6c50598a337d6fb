"""The contract between what learns from use and the ledger, which keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from hy_memory.values.use import Lesson, Use
from hy_memory.values.write import Likeness


class UseSource(Protocol):
    """How memories were used, which say what is said again, and their sections; all go with their record."""

    def repeats(self, user_id: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the id of the user's record that each of `keys` (digests of `Entry`) means, by key.

        A digest means a record while it is current and was never changed; others are left out.
        """
        ...

    def alike(self, user_id: str, likenesses: Sequence[Likeness]) -> tuple[tuple[str, ...], ...]:
        """Return for each of `likenesses` the ids of the user's records that are like it, nearest first.

        Records of the same frame whose simhash differs in at most `text.simhash.NEAR` bits, while they are
        current and were never changed, but for those `seen`. Found by index, however many the user has.
        """
        ...

    def parts(self, record_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of the sections of records, in order; most have none."""
        ...

    def uses(self, record_ids: Sequence[str]) -> dict[str, Use]:
        """Return what is kept of those of the records that have anything."""
        ...

    def uses_since(self, user_id: str, since: float) -> tuple[Use, ...]:
        """Return what is kept of a user's records, where it changed at `since` (epoch seconds) or later."""
        ...

    def learn(self, lessons: Sequence[Lesson]) -> int:
        """Let the salience of records grow by what was learned, in one transaction; returns of how many.

        Records that are gone are passed over. Each lesson counts as often as it says, however many processes
        tell theirs at once.
        """
        ...

    def pin(self, record_id: str, is_pinned: bool) -> None:
        """Let a record fade no more, or again. Raises MemoryNotFoundError where it is gone."""
        ...

    def copy_uses(self, renamed: Mapping[str, str], target_user: str) -> None:
        """Give copies of records, `renamed` by id, what is kept of the use of these, and of their words."""
        ...
