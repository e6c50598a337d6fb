"""The ledger itself: the port's verbs over whichever engine holds the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from hy_memory.clock import Clock
from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import EVERYTHING
from hy_memory.ledger.checks import logical_problems
from hy_memory.ledger.closings import ClosingWriter
from hy_memory.ledger.database import Database
from hy_memory.ledger.identity import EMBEDDER, from_json
from hy_memory.ledger.moment import entries_at
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import to_change, to_claimed, to_outcome, to_points, to_record, to_version
from hy_memory.ledger.selection import Selection
from hy_memory.ledger.side_tables import SideTables
from hy_memory.ledger.turns import TurnReader
from hy_memory.values.point import Changes, FloatArray, Point
from hy_memory.values.record import Claimed, MemoryRecord, Page, RecordVersion
from hy_memory.values.turn import TurnChanges
from hy_memory.values.write import (
    Change,
    ChangeKind,
    EmbedderIdentity,
    Entry,
    ListQuery,
    Outcome,
)

_BATCH = 2000  # points read at once: some 4 MB; smaller parts cost more steps, larger ones more memory


class SqlLedger(SideTables):
    """`ports.Ledger` over one database, which it closes. Usable from any number of threads."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._sql = database.statements
        self._turns = TurnReader(database)
        self._closings = ClosingWriter(database)

    # writing

    def insert(self, entries: Sequence[Entry], outcome: Outcome | None = None) -> Outcome | None:
        """Store new records, unless the request of `outcome` is answered already."""
        if not entries and outcome is None:
            return None
        with self._writing() as transaction:
            if outcome is not None:
                earlier = transaction.outcome(outcome.user_id, outcome.request_id)
                if earlier is not None:
                    return earlier
                transaction.keep_outcome(outcome)
            if entries:
                transaction.insert(entries, None if outcome is None else outcome.request_id)
                self._edits.insert(transaction.cursor, [edit for one in entries for edit in one.edits])
                waiting = [(one.record.id, one.record.user_id) for one in entries if one.is_pending]
                self._extractions.insert(transaction.cursor, waiting, transaction.at)
                self._repeats.insert(transaction.cursor, entries)
                self._likenesses.insert(transaction.cursor, entries)
        return None

    def replace(self, entry: Entry, expected_version: int) -> None:
        """Store a new version of a record."""
        with self._writing() as transaction:
            transaction.replace(entry, expected_version)

    def delete(self, ids: Sequence[str], rewritten: Sequence[Entry] = ()) -> int:
        """Remove records by id, and their words from `rewritten` ones.

        Raises ConflictError, with nothing removed, when one of `rewritten` is no longer at its version.
        """
        with self._writing() as transaction:
            removed = transaction.remove(list(dict.fromkeys(ids)))
            transaction.rewrite(rewritten)
            return removed

    def delete_all(self, where: ScopedFilter) -> int:
        """Remove the records that `where` admits."""
        with self._writing() as transaction:
            removed = transaction.remove(Selection(self._database, where).ids(transaction.cursor))
            if where.tree == EVERYTHING:
                transaction.forget_outcomes(where.user_ids)
                self._facts.forget(transaction.cursor, where.user_ids)
            self._closings.forget(transaction.cursor, where)
            return removed

    # conversations

    def turns(self, user_id: str, after: int | None = None) -> TurnChanges:
        """Return a user's turns, or what became of them; one statement where nothing did."""
        if after is None:
            return self._turns.everything(user_id)
        return self._turns.after(user_id, after)

    def close_session(self, user_id: str, agent_id: str, session_id: str) -> float | None:
        """Close a session where it has turns; returns when it was."""
        with self._writing() as transaction:
            session = (user_id, agent_id, session_id)
            return self._closings.close(transaction.cursor, session, transaction.at)

    def copy_closings(self, source_user: str, target_user: str) -> None:
        """Give one user the closings of another."""
        with self._writing() as transaction:
            self._closings.copy(transaction.cursor, source_user, target_user)

    # reading

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist."""
        rows = self._rows(self._sql.records_by_ids, ids=self._database.pack(ids))
        return {row[0]: to_record(row) for row in rows}

    def parts(self, record_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the sections of records."""
        rows = self._rows(self._sql.parts_of, ids=self._database.pack(record_ids))
        return tuple(row[0] for row in rows)

    def page(self, where: ScopedFilter, query: ListQuery) -> Page:
        """Return a page of what `where` admits."""
        with self._database.snapshot() as cursor:
            return Selection(self._database, where).page(cursor, query)

    def counts(self, user_id: str) -> dict[str, int]:
        """Return how many records a user has, by layer."""
        rows = self._rows(self._sql.counts, user_id=user_id)
        return {layer: int(amount) for layer, amount in rows if amount}

    def claims(self, user_id: str) -> tuple[Claimed, ...]:
        """Return what a user's active records claim."""
        return tuple(map(to_claimed, self._rows(self._sql.claims_of_user, user_id=user_id)))

    def users(self) -> tuple[str, ...]:
        """Return every user that has records."""
        return tuple(sorted(row[0] for row in self._rows(self._sql.users)))

    def versions(self, memory_id: str) -> tuple[RecordVersion, ...]:
        """Return a record's former texts."""
        return tuple(map(to_version, self._rows(self._sql.versions_of, id=memory_id)))

    def moment(self, user_ids: Sequence[str], at: float) -> tuple[Entry, ...]:
        """Return what could be searched at `at`, read in one snapshot."""
        with self._database.snapshot() as cursor:
            users = dict.fromkeys(user_ids)
            return tuple(
                entry for user_id in users for entry in entries_at(self._database, cursor, user_id, at)
            )

    def history(
        self, *, user_id: str | None = None, memory_id: str | None = None, limit: int
    ) -> tuple[Change, ...]:
        """Return the last changes; raises InvalidArgumentError where neither is named."""
        if user_id is None and memory_id is None:
            raise InvalidArgumentError("user_id", user_id, "name a user or a memory")
        if user_id is None:
            statement = self._sql.history_of_record
        else:
            statement = self._sql.history_of_user if memory_id is None else self._sql.history_of_both
        rows = self._rows(statement, user_id=user_id, record_id=memory_id, limit=limit)
        return tuple(map(to_change, rows))

    def outcome(self, request_id: str, user_id: str | None = None) -> Outcome | None:
        """Return what a request led to; without `user_id` the id must be one user's alone."""
        if user_id is None:
            rows = self._rows(self._sql.outcome_of_anybody, request_id=request_id)
            if len(rows) > 1:
                raise InvalidArgumentError(
                    "request_id", request_id, "several users used this id; give user_id too"
                )
        else:
            rows = self._rows(self._sql.outcome, user_id=user_id, request_id=request_id)
        return to_outcome(rows[0]) if rows else None

    # feeding projections

    def freshness(self) -> int:
        """Return a number that is another one after every commit."""
        return self._database.freshness()

    def points(self, user_id: str) -> Changes:
        """Return every point of a user."""
        parts = list(self.batches(user_id))
        return Changes(parts[0].seq, tuple(point for part in parts for point in part.upserted), ())

    def batches(self, user_id: str) -> Iterator[Changes]:
        """Yield every point of a user, read in one snapshot."""
        with self._database.snapshot() as cursor:
            cursor.execute(self._sql.last_seq.sql)
            seq = cursor.fetchall()[0][0] or 0
            cursor.execute(self._sql.points_by_user.sql, self._sql.points_by_user.bind(user_id=user_id))
            rows = cursor.fetchmany(_BATCH)
            yield Changes(seq, to_points(rows), ())
            while len(rows) == _BATCH:
                rows = cursor.fetchmany(_BATCH)
                yield Changes(seq, to_points(rows), ())

    def changes(self, user_id: str, after: int) -> Changes:
        """Return what became of a user's points; one statement where nothing did."""
        if not self._rows(self._sql.any_change_of_user, user_id=user_id, after=after):
            return Changes(after, (), ())
        with self._database.snapshot() as cursor:
            statement = self._sql.changes_of_user
            cursor.execute(statement.sql, statement.bind(user_id=user_id, after=after))
            rows = cursor.fetchall()
            first: dict[str, str] = {}
            for _, memory_id, kind in rows:
                first.setdefault(memory_id, kind)
            statement = self._sql.points_by_ids
            cursor.execute(statement.sql, statement.bind(ids=self._database.pack(list(first))))
            upserted = to_points(cursor.fetchall())
        here = {point.id for point in upserted}
        # What was added since then and is no point was never one: raw turns, or added and deleted again.
        gone = [id_ for id_, kind in first.items() if id_ not in here and kind != ChangeKind.ADD.value]
        return Changes(rows[-1][0], upserted, tuple(gone))

    def log(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return changes of all users, without texts."""
        return tuple(map(to_change, self._rows(self._sql.log, after=after, limit=limit)))

    def searchable(self, ids: Sequence[str]) -> dict[str, Point]:
        """Return those of `ids` that are points."""
        rows = self._rows(self._sql.points_by_ids, ids=self._database.pack(ids))
        return {point.id: point for point in to_points(rows)}

    def cursor(self, projection: str) -> int:
        """Return how far a projection was fed."""
        rows = self._rows(self._sql.cursor, name=projection)
        return rows[0][0] if rows else 0

    def set_cursor(self, projection: str, seq: int) -> None:
        """Remember how far a projection was fed."""
        with self._database.write() as cursor:
            cursor.execute(self._sql.set_cursor.sql, (projection, seq))

    def feeding(self, projection: str) -> AbstractContextManager[None]:
        """Hold the right to feed a projection."""
        return self._database.feeding(projection)

    # who made the vectors

    def embedder(self) -> EmbedderIdentity | None:
        """Return who is bound."""
        rows = self._rows(self._sql.meta, name=EMBEDDER)
        return from_json(rows[0][0]) if rows else None

    def bind_embedder(self, identity: EmbedderIdentity) -> EmbedderIdentity:
        """Bind `identity` if nobody is; return who is."""
        known = self.embedder()
        if known is not None:
            return known
        with self._writing() as transaction:
            known = transaction.embedder()
            if known is None:
                transaction.bind_embedder(identity)
            return known or identity

    def reembed(self, identity: EmbedderIdentity, vectors: Iterable[tuple[Sequence[str], FloatArray]]) -> int:
        """Replace every vector; reading this ledger while `vectors` is drawn is fine, writing is not."""
        with self._writing() as transaction:
            return transaction.reembed(identity, vectors)

    # upkeep

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong inside."""
        return (*self._database.complaints(), *logical_problems(self._database))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _rows(self, statement: Prepared, **values: object) -> Sequence[Any]:
        with self._database.read() as cursor:
            cursor.execute(statement.sql, statement.bind(**values))
            return cursor.fetchall()
