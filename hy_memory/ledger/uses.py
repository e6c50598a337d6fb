"""The table of uses: how much records matter by now, read and written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.dynamics.learned import begun_of, learned
from hy_memory.dynamics.salience import DAY, faded
from hy_memory.errors import MemoryNotFoundError
from hy_memory.ledger.database import Database
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import Row, to_mapping
from hy_memory.ledger.schema import records, uses
from hy_memory.values.use import Lesson, Sector, Use


class UseTable:
    """What is kept of the use of one database's records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def read(self, cursor: DBAPICursor, record_ids: Sequence[str]) -> dict[str, Use]:
        """Return what there is of records."""
        rows = self._rows(cursor, self._by_ids, ids=self._database.pack(record_ids))
        return {row[0]: _use(row) for row in rows}

    def changed(self, cursor: DBAPICursor, user_id: str, since: float) -> tuple[Use, ...]:
        """Return what there is of a user's records that changed at `since` (epoch seconds) or later."""
        return tuple(_use(row) for row in self._rows(cursor, self._since, user_id=user_id, since=since))

    def learn(self, cursor: DBAPICursor, lessons: Sequence[Lesson], at: float) -> int:
        """Take lessons in, through the cursor of a writing transaction."""
        told: dict[str, list[Lesson]] = {}
        for one in lessons:
            told.setdefault(one.record_id, []).append(one)
        known = self._known(cursor, list(told))
        self._keep(cursor, [learned(use, told[one]) for one, use in known.items()], at)
        return len(known)

    def pin(self, cursor: DBAPICursor, record_id: str, is_pinned: bool, at: float) -> None:
        """Let a record fade no more from `at` on, or again."""
        known = self._known(cursor, [record_id]).get(record_id)
        if known is None:
            raise MemoryNotFoundError(record_id)
        days = (at - known.salience_at) / DAY
        now = faded(known.salience, days, known.sector, is_pinned=known.is_pinned)
        fresh = replace(known, salience=now, salience_at=max(at, known.salience_at), is_pinned=is_pinned)
        self._keep(cursor, [fresh], at)

    def copy(self, cursor: DBAPICursor, renamed: Mapping[str, str], target_user: str, at: float) -> None:
        """Give copies of records what there is of the use of these."""
        found = self.read(cursor, list(renamed))
        copies = [replace(use, record_id=renamed[one], user_id=target_user) for one, use in found.items()]
        self._keep(cursor, copies, at)

    def _known(self, cursor: DBAPICursor, record_ids: Sequence[str]) -> dict[str, Use]:
        """Return what there is of those of the records that exist, as new where there is nothing yet."""
        found = self.read(cursor, record_ids)
        missing = [one for one in record_ids if one not in found]
        if missing:
            for id_, user_id, content, attributes, created_at in self._rows(
                cursor, self._texts, ids=self._database.pack(missing)
            ):
                sector, begun = begun_of(content, to_mapping(attributes))
                found[id_] = Use(id_, user_id, begun, created_at, begun, sector)
        return found

    def _keep(self, cursor: DBAPICursor, kept: Iterable[Use], at: float) -> None:
        rows = [_row(one, at) for one in kept]
        if rows:
            cursor.executemany(self._upsert.sql, rows)

    def _rows(self, cursor: DBAPICursor, statement: Prepared, **values: object) -> Sequence[Any]:
        cursor.execute(statement.sql, statement.bind(**values))
        return cursor.fetchall()

    @cached_property
    def _by_ids(self) -> Prepared:
        return self._sql.prepare(select(*uses.columns).where(self._sql.is_among(uses.c.record_id, "ids")))

    @cached_property
    def _texts(self) -> Prepared:
        c = records.c
        found = select(c.id, c.user_id, c.content, c.attributes, c.created_at)
        return self._sql.prepare(found.where(self._sql.is_among(c.id, "ids")))

    @cached_property
    def _since(self) -> Prepared:
        mine = and_(uses.c.user_id == bindparam("user_id"), uses.c.changed_at >= bindparam("since"))
        return self._sql.prepare(select(*uses.columns).where(mine))

    @cached_property
    def _upsert(self) -> Prepared:
        return self._sql.upsert(uses)


def _use(row: Row) -> Use:
    record_id, user_id, salience, salience_at, begun, sector, used_at, times, restated, pinned, at = row
    known = (record_id, user_id, salience, salience_at, begun, Sector(sector), used_at, times, restated)
    return Use(*known, bool(pinned), at)


def _row(one: Use, at: float) -> tuple[object, ...]:
    """Return the values of `uses`, in the order of its columns."""
    told = (
        one.record_id,
        one.user_id,
        one.salience,
        one.salience_at,
        one.begun,
        one.sector.value,
        one.used_at,
    )
    return (*told, one.uses, one.restated, int(one.is_pinned), at)
