"""The writing half of the ledger: what happens to the tables between BEGIN and COMMIT.

Every method keeps three things true together: the rows, the change log, and the tallies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.errors import ConflictError, LedgerError, MemoryNotFoundError
from hy_memory.ledger.database import Database
from hy_memory.ledger.identity import EMBEDDER, from_json, to_json
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import (
    Row,
    outcome_row,
    record_row,
    redacted_answer,
    to_outcome,
    vector_bytes,
    vector_row,
)
from hy_memory.ledger.schema import records
from hy_memory.ledger.statements import REPLACED
from hy_memory.ledger.succession import Succession, Turned
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Status
from hy_memory.values.write import ChangeKind, EmbedderIdentity, Entry, Outcome

_CHUNK = 10_000  # ids in one statement: keeps a parameter below a megabyte


@dataclass(frozen=True, slots=True)
class Transaction:
    """The open transaction: a cursor, and the moment (epoch seconds) that its changes carry."""

    database: Database
    cursor: DBAPICursor
    at: float

    # outcomes

    def outcome(self, user_id: str, request_id: str) -> Outcome | None:
        """Return what a request led to."""
        rows = self._rows(self.database.statements.outcome, user_id=user_id, request_id=request_id)
        return to_outcome(rows[0]) if rows else None

    def keep_outcome(self, outcome: Outcome) -> None:
        """Store what a request led to."""
        self.cursor.execute(self.database.statements.insert_outcome.sql, outcome_row(outcome))

    def forget_outcomes(self, user_ids: Sequence[str]) -> None:
        """Remove what the requests of whole users led to."""
        self._run(self.database.statements.delete_outcomes, user_ids=self.database.pack(user_ids))

    # records

    def insert(self, entries: Sequence[Entry], request_id: str | None) -> None:
        """Store new records, each on top of the chain that it is to continue."""
        sql = self.database.statements
        self._check_dims(entries)
        self._succession.check(entries)
        rows = [record_row(entry.record, entry.record.version, request_id) for entry in entries]
        self.cursor.executemany(sql.insert_record.sql, rows)
        self._keep_vectors(entries)
        added = ChangeKind.ADD.value
        self._log([(e.record.user_id, e.record.id, added, e.record.version, self.at) for e in entries])
        self._tally(Counter((e.record.user_id, e.record.layer.value, e.record.status.value) for e in entries))
        self._turn(self._succession.succeed(entries), ChangeKind.SUPERSEDE)

    def replace(self, entry: Entry, expected_version: int) -> None:
        """Store a record's next version, and the text it had until now."""
        head = self._head(entry, expected_version)
        if head is None:
            raise MemoryNotFoundError(entry.record.id)
        _, version, content, memory_at, created_at, updated_at, *others, _, _ = head
        kept_from, kept_until = max(created_at, updated_at), entry.record.updated_at or self.at
        old = (entry.record.id, version, content, memory_at, kept_from, kept_until, *others)
        self.cursor.execute(self.database.statements.insert_version.sql, old)
        self._store_next(entry, head)

    def rewrite(self, entries: Sequence[Entry]) -> None:
        """Store the next version of records, and forget every text they had; vanished ones are let go."""
        for entry in entries:
            head = self._head(entry, entry.record.version)
            if head is not None:
                self._store_next(entry, head)
        if entries:
            ids = self.database.pack([entry.record.id for entry in entries])
            self._run(self.database.statements.delete_versions, ids=ids)

    def relink(self, entries: Sequence[Entry]) -> None:
        """Store records with other links or attributes and no version of before; each must be there."""
        for entry in entries:
            head = self._head(entry, entry.record.version)
            if head is None:
                raise ConflictError(
                    f"memory {entry.record.id!r} was deleted meanwhile; read again and repeat"
                )
            self._store_next(entry, head)

    def check_version(self, record_id: str, expected: int) -> None:
        """Raise ConflictError where a record is not at the version that somebody read."""
        rows = self._rows(self.database.statements.head, id=record_id)
        if not rows or rows[0][1] != expected:
            raise ConflictError(f"memory {record_id!r} was changed meanwhile; read it again and repeat")

    def _head(self, entry: Entry, expected_version: int) -> Row | None:
        """What is stored now, None where there is no such record of this user."""
        rows = self._rows(self.database.statements.head, id=entry.record.id)
        if not rows or rows[0][0] != entry.record.user_id:
            return None
        if rows[0][1] != expected_version:
            raise ConflictError(
                f"memory {entry.record.id!r} is at version {rows[0][1]}, not {expected_version}: it was"
                " changed meanwhile; read it again and repeat"
            )
        return rows[0]

    def _store_next(self, entry: Entry, head: Row) -> None:
        sql, record = self.database.statements, entry.record
        user_id, version, *_, layer, status = head
        self._check_dims((entry,))
        row = zip(records.columns, record_row(record, version + 1, None), strict=True)
        new = [value for column, value in row if column.name in REPLACED]
        self.cursor.execute(sql.replace_record.sql, (*new, record.id, version))
        if entry.vector is None:
            self._run(sql.delete_vector, id=record.id)
        self._keep_vectors((entry,))
        self._log([(user_id, record.id, ChangeKind.UPDATE.value, version + 1, self.at)])
        before, after = (user_id, layer, status), (user_id, record.layer.value, status)
        if before != after:
            self._tally({before: -1, after: 1})

    def remove(self, ids: Sequence[str]) -> int:
        """Remove records with all their texts; returns how many there were."""
        return sum(self._remove(ids[at : at + _CHUNK]) for at in range(0, len(ids), _CHUNK))

    def _remove(self, ids: Sequence[str]) -> int:
        sql = self.database.statements
        packed = self.database.pack(ids)
        doomed = self._rows(sql.doomed, ids=packed)
        if not doomed:
            return 0
        self._redact_outcomes([row for row in doomed if row[5] is not None])
        self._run(sql.delete_records, ids=packed)
        deleted = ChangeKind.DELETE.value
        self._log([(user_id, id_, deleted, version, self.at) for id_, user_id, _, _, version, *_ in doomed])
        gone = Counter((user_id, layer, status) for _, user_id, layer, status, *_ in doomed)
        self._tally({key: -amount for key, amount in gone.items()})
        self._turn(self._succession.close_gaps(doomed), ChangeKind.RESTORE)
        users = sorted({user_id for user_id, _, _ in gone})
        self._run(sql.drop_tallies, user_ids=self.database.pack(users))
        return len(doomed)

    def _redact_outcomes(self, doomed: Sequence[Row]) -> None:
        """Empty what the outcomes of the requests that made `doomed` quote of their texts."""
        if not doomed:
            return
        sql = self.database.statements
        packed = self.database.pack([row[0] for row in doomed])
        request_of = {row[0]: (row[1], row[5]) for row in doomed}
        texts: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for id_, text in self._rows(sql.texts_of, ids=packed, old_ids=packed):
            texts[request_of[id_]].append(text)
        for (user_id, request_id), gone in texts.items():
            for row in self._rows(sql.outcome, user_id=user_id, request_id=request_id):
                answer = redacted_answer(row, gone)
                if answer is not None:
                    self._run(sql.replace_answer, new_answer=answer, of_user=user_id, of_request=request_id)

    def _keep_vectors(self, entries: Sequence[Entry]) -> None:
        rows = [row for entry in entries if (row := vector_row(entry)) is not None]
        if rows:
            self.cursor.executemany(self.database.statements.upsert_vector.sql, rows)

    # embedders

    def embedder(self) -> EmbedderIdentity | None:
        """Return who is bound."""
        rows = self._rows(self.database.statements.meta, name=EMBEDDER)
        return from_json(rows[0][0]) if rows else None

    def bind_embedder(self, identity: EmbedderIdentity) -> None:
        """Bind `identity`, whoever was bound before."""
        self.cursor.execute(self.database.statements.set_meta.sql, (EMBEDDER, to_json(identity)))

    def reembed(self, identity: EmbedderIdentity, vectors: Iterable[tuple[Sequence[str], FloatArray]]) -> int:
        """Replace every vector; returns how many. A point without a new one fails the whole of it."""
        sql = self.database.statements
        before = self._rows(sql.last_seq)[0][0] or 0
        for ids, rows in vectors:
            if rows.shape != (len(ids), identity.dims):
                raise LedgerError(f"{len(ids)} ids × {identity.dims} dimensions, but an array {rows.shape}")
            self.cursor.executemany(
                sql.replace_vector.sql, [(vector_bytes(row), id_) for id_, row in zip(ids, rows, strict=True)]
            )
            self._run(sql.log_vectors, ids=self.database.pack(ids), at=self.at)
        stale = self._rows(sql.stale_vectors, after=before)
        if stale:
            raise LedgerError(
                f"{len(stale)} memories got no new vector; nothing was changed, give one for each"
            )
        self.bind_embedder(identity)
        return self._rows(sql.count_vectors)[0][0]

    def _check_dims(self, entries: Sequence[Entry]) -> None:
        """Refuse vectors that no search could compare: another process may have changed the embedder."""
        sizes = {len(entry.vector) for entry in entries if entry.vector is not None}
        bound = self.embedder() if sizes else None
        if bound is not None and sizes != {bound.dims}:
            raise LedgerError(
                f"the store's vectors have {bound.dims} dimensions ({bound.name}), these {sorted(sizes)}:"
                " open the store again with its embedder, or re-embed it"
            )

    # what every method ends with

    @property
    def _succession(self) -> Succession:
        return Succession(self.database.statements.links, self.cursor)

    def _turn(self, turned: Sequence[Turned], kind: ChangeKind) -> None:
        """Log and count records that became superseded, or current again."""
        if not turned:
            return
        now, before = Status.ACTIVE.value, Status.SUPERSEDED.value
        if kind is ChangeKind.SUPERSEDE:
            now, before = before, now
        self._log([(one.user_id, one.id, kind.value, one.version, self.at) for one in turned])
        moved = Counter((one.user_id, one.layer, now) for one in turned)
        moved.subtract(Counter((one.user_id, one.layer, before) for one in turned))
        self._tally(moved)

    def _log(self, rows: Sequence[tuple[object, ...]]) -> None:
        self.cursor.executemany(self.database.statements.insert_change.sql, rows)

    def _tally(self, differences: Mapping[tuple[str, str, str], int]) -> None:
        rows = [(*key, difference) for key, difference in sorted(differences.items())]
        self.cursor.executemany(self.database.statements.add_tally.sql, rows)

    def _rows(self, statement: Prepared, **values: object) -> Sequence[Any]:
        self.cursor.execute(statement.sql, statement.bind(**values))
        return self.cursor.fetchall()

    def _run(self, statement: Prepared, **values: object) -> None:
        self.cursor.execute(statement.sql, statement.bind(**values))
