"""The contract between writing with a language model and the ledger, which keeps what was not read yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hy_memory.values.write import Pending, Settlement


class ExtractionQueue(Protocol):
    """Raw exchanges that wait for a language model: queued as they are stored, and gone with them."""

    def pending(self, user_id: str | None, due_by: float, limit: int) -> tuple[Pending, ...]:
        """Return what one user's (None: anybody's) exchanges wait that are due, the longest due first."""
        ...

    def claim(self, waiting: Pending, until: float) -> bool:
        """Have an exchange due again at `until` (epoch seconds), so that nobody else reads it meanwhile.

        Returns False where it is gone, or somebody claimed or postponed it since `waiting` was looked up.
        """
        ...

    def postpone(self, record_id: str, error: str, due_at: float) -> None:
        """Note that an attempt failed, and when the next one is due (epoch seconds)."""
        ...

    def extracted(self, record_ids: Sequence[str]) -> None:
        """Take exchanges off the queue; unknown ones are no error."""
        ...

    def settle(self, settlement: Settlement) -> bool:
        """Store what reading an exchange led to and take it off the queue, in one transaction.

        Returns False, with nothing stored, where it is not on the queue any more: somebody else read it, or
        it was deleted. Raises ConflictError, with nothing stored, where it was changed since it was read, or
        a record was that is to change.
        """
        ...
