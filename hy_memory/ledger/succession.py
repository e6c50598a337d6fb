"""Chains of records: who took whose place. A chain is one line, and both of its ends are records.

Runs inside the one writing transaction there is, so that what it reads cannot change under it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.errors import InvalidArgumentError, LedgerError, MemoryNotFoundError
from hy_memory.ledger.links import Links
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import Row
from hy_memory.values.record import Layer, Status
from hy_memory.values.write import Entry


@dataclass(frozen=True, slots=True)
class Turned:
    """A record whose status became another one."""

    user_id: str
    id: str
    layer: str
    version: int


@dataclass(frozen=True, slots=True)
class Succession:
    """The links, through the cursor of an open transaction."""

    links: Links
    cursor: DBAPICursor

    def check(self, entries: Sequence[Entry]) -> None:
        """Refuse to supersede what is unknown, another user's, or raw; before any of `entries` is stored."""
        for entry in entries:
            if entry.supersedes is None:
                continue
            user_id, layer, *_ = self._member(entry.supersedes)
            if user_id != entry.record.user_id:
                raise MemoryNotFoundError(entry.supersedes)
            if Layer.L1_RAW in (layer, entry.record.layer):
                raise InvalidArgumentError(
                    "supersedes",
                    entry.supersedes,
                    "a raw turn is kept as it was said: name a memory made of it",
                )

    def succeed(self, entries: Sequence[Entry]) -> tuple[Turned, ...]:
        """Put stored entries on top of the chains they name; returns who was at their heads until then."""
        superseded: list[Turned] = []
        for entry in entries:
            if entry.supersedes is not None:
                head = self._head(entry.supersedes)
                superseded += self._turn(head, entry.record.id)
                self._run(self.links.set_predecessor, new_predecessor=head, of_record=entry.record.id)
        return tuple(superseded)

    def close_gaps(self, doomed: Sequence[Row]) -> tuple[Turned, ...]:
        """Link the neighbours of records that go; returns those that are current again.

        `doomed` are rows that begin with the id and end with predecessor and successor.
        """
        gone = {row[0]: (row[-2], row[-1]) for row in doomed}
        restored: list[Turned] = []
        for memory_id, (older, above) in gone.items():
            if above in gone or (above is None and older is None):
                continue  # the uppermost of neighbours that go together speaks for all of them
            below = _first_kept(memory_id, gone)
            if above is not None:
                self._run(self.links.set_predecessor, new_predecessor=below, of_record=above)
            if below is not None:
                restored += self._turn(below, above)
        return tuple(restored)

    def _head(self, memory_id: str) -> str:
        seen = {memory_id}
        while (newer := self._member(memory_id)[-1]) is not None:
            if newer in seen:
                raise LedgerError(
                    f"the chain of memory {memory_id!r} has no end: `hy-memory doctor` has more"
                )
            seen.add(newer)
            memory_id = newer
        return memory_id

    def _turn(self, memory_id: str, successor: str | None) -> tuple[Turned, ...]:
        """Set a record's successor, and the status that follows; returns the record if that was another."""
        status = Status.ACTIVE if successor is None else Status.SUPERSEDED
        self._run(self.links.member, id=memory_id)
        found = self.cursor.fetchall()  # none where a damaged link leads nowhere
        self._run(
            self.links.set_successor,
            new_status=status.value,
            new_successor=successor,
            of_record=memory_id,
        )
        return tuple(
            Turned(user_id, memory_id, layer, version)
            for user_id, layer, version, before, _ in found
            if before != status.value
        )

    def _member(self, memory_id: str) -> Sequence[Any]:
        self._run(self.links.member, id=memory_id)
        rows = self.cursor.fetchall()
        if not rows:
            raise MemoryNotFoundError(memory_id)
        return rows[0]

    def _run(self, statement: Prepared, **values: object) -> None:
        self.cursor.execute(statement.sql, statement.bind(**values))


def _first_kept(memory_id: str, gone: Mapping[str, tuple[str | None, str | None]]) -> str | None:
    """Return the next older member of a record's chain that is not among those `gone`."""
    below: str | None = memory_id
    for _ in gone:  # a damaged chain may be a ring
        if below is None or below not in gone:
            break
        below = gone[below][0]
    return below
