"""What the ledger asks of an engine: cursors that read, that see one state, that write; and locks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.ledger.statements import Statements


class Database(Protocol):
    """One open store. Every failure of the driver leaves these contexts as a LedgerError."""

    @property
    def statements(self) -> Statements:
        """The statements, compiled for this engine."""
        ...

    def read(self) -> AbstractContextManager[DBAPICursor]:
        """Return a cursor for one statement, which sees the newest committed state."""
        ...

    def snapshot(self) -> AbstractContextManager[DBAPICursor]:
        """Return a cursor whose statements all see the same committed state."""
        ...

    def write(self) -> AbstractContextManager[DBAPICursor]:
        """Return a cursor inside the one writing transaction there is; committed when all went well.

        Sequence numbers are given out in the order of commits: no reader ever sees a number while
        a smaller one is still to come.
        """
        ...

    def pack(self, values: Sequence[str]) -> object:
        """Return `values` as the one parameter that stands for all of them."""
        ...

    def freshness(self) -> int:
        """Return a number that is another one after every commit that changed a record."""
        ...

    def feeding(self, projection: str) -> AbstractContextManager[None]:
        """Hold a lock of this name, among all threads and processes that use the store."""
        ...

    def complaints(self) -> tuple[str, ...]:
        """Return what the engine's own integrity check says, empty when sound."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
