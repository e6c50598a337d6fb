"""The table of repeats: by which digest the words of a record are recognised when they are said again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from sqlalchemy import and_, bindparam, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.errors import RepeatedError
from hy_memory.ledger.database import Database
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.schema import records, repeats
from hy_memory.values.record import Status
from hy_memory.values.write import Entry


class RepeatTable:
    """What is recognised in one database. A digest means a record while it is current and as it was."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def read(self, cursor: DBAPICursor, user_id: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the record that each of the digests means; those that mean none are left out."""
        packed = self._database.pack(keys)
        cursor.execute(self._by_keys.sql, self._by_keys.bind(user_id=user_id, keys=packed))
        return {key: record_id for key, record_id in cursor.fetchall()}

    def insert(self, cursor: DBAPICursor, entries: Sequence[Entry]) -> None:
        """Remember the digests of new records, through the cursor of the transaction that stores them.

        Raises RepeatedError where one of them means a record already.
        """
        new = [(one.record.user_id, one.repeat_key, one.record.id) for one in entries if one.repeat_key]
        if not new:
            return
        for user_id in {one[0] for one in new}:
            if self.read(cursor, user_id, [key or "" for user, key, _ in new if user == user_id]):
                raise RepeatedError
        cursor.executemany(self._upsert.sql, new)

    def copy(self, cursor: DBAPICursor, renamed: Mapping[str, str], target_user: str) -> None:
        """Let the copies of records be recognised as these are."""
        packed = self._database.pack(list(renamed))
        cursor.execute(self._by_records.sql, self._by_records.bind(ids=packed))
        found = [(target_user, key, renamed[record_id]) for key, record_id in cursor.fetchall()]
        if found:
            cursor.executemany(self._upsert.sql, found)

    @cached_property
    def _by_records(self) -> Prepared:
        mine = self._sql.is_among(repeats.c.record_id, "ids")
        return self._sql.prepare(select(repeats.c.repeat_key, repeats.c.record_id).where(mine))

    @cached_property
    def _by_keys(self) -> Prepared:
        joined = repeats.join(records, records.c.id == repeats.c.record_id)
        is_meant = and_(
            repeats.c.user_id == bindparam("user_id"),
            self._sql.is_among(repeats.c.repeat_key, "keys"),
            records.c.status == Status.ACTIVE.value,
            records.c.version == 1,  # one that was changed says something else, or with other words beside it
        )
        found = select(repeats.c.repeat_key, repeats.c.record_id).select_from(joined)
        return self._sql.prepare(found.where(is_meant))

    @cached_property
    def _upsert(self) -> Prepared:
        return self._sql.upsert(repeats)
