"""The table of exchanges that wait for a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import and_, bindparam, delete, insert, select, update
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.ledger.database import Database
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.schema import extractions
from hy_memory.values.write import Pending

_READ = tuple(extractions.c[name] for name in ("record_id", "user_id", "attempts", "error", "due_at"))


class ExtractionTable:
    """What waits in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def insert(self, cursor: DBAPICursor, waiting: Sequence[tuple[str, str]], now: float) -> None:
        """Queue records (id, user), through the cursor of the transaction that stores them."""
        if waiting:
            rows = [(record_id, user_id, 0, "", now) for record_id, user_id in waiting]
            cursor.executemany(self._insert.sql, rows)

    def read(
        self, cursor: DBAPICursor, user_id: str | None, due_by: float, limit: int
    ) -> tuple[Pending, ...]:
        """Return what is due."""
        values: dict[str, object] = {"due_by": due_by, "limit": limit}
        statement = self._due
        if user_id is not None:
            statement, values["user_id"] = self._due_of_user, user_id
        return tuple(Pending(*row) for row in self._rows(cursor, statement, values))

    def claim(self, cursor: DBAPICursor, waiting: Pending, until: float) -> bool:
        """Have an exchange due later, if it is as it was looked up."""
        values = {"the_id": waiting.record_id, "the_due_at": until, "due_before": waiting.due_at}
        cursor.execute(self._claim.sql, self._claim.bind(**values))
        return bool(cursor.rowcount)

    def postpone(self, cursor: DBAPICursor, record_id: str, error: str, due_at: float) -> None:
        """Count a failed attempt."""
        values = {"the_id": record_id, "the_error": error, "the_due_at": due_at}
        cursor.execute(self._postpone.sql, self._postpone.bind(**values))

    def remove(self, cursor: DBAPICursor, record_ids: Sequence[str]) -> int:
        """Take records off the queue; returns how many were on it."""
        packed = self._database.pack(list(record_ids))
        cursor.execute(self._remove.sql, self._remove.bind(ids=packed))
        return int(cursor.rowcount)

    def _rows(self, cursor: DBAPICursor, statement: Prepared, values: Mapping[str, object]) -> Sequence[Any]:
        cursor.execute(statement.sql, statement.bind(**values))
        return cursor.fetchall()

    @cached_property
    def _insert(self) -> Prepared:
        return self._sql.prepare(insert(extractions), [column.name for column in extractions.columns])

    @cached_property
    def _due(self) -> Prepared:
        return self._sql.prepare(self._waiting(extractions.c.due_at <= bindparam("due_by")))

    @cached_property
    def _due_of_user(self) -> Prepared:
        mine = extractions.c.user_id == bindparam("user_id")
        return self._sql.prepare(self._waiting(and_(mine, extractions.c.due_at <= bindparam("due_by"))))

    @cached_property
    def _claim(self) -> Prepared:
        c = extractions.c
        as_seen = and_(c.record_id == bindparam("the_id"), c.due_at == bindparam("due_before"))
        return self._sql.prepare(
            update(extractions).where(as_seen).values({"due_at": bindparam("the_due_at")})
        )

    @cached_property
    def _postpone(self) -> Prepared:
        c = extractions.c
        values = {
            "attempts": c.attempts + 1,
            "error": bindparam("the_error"),
            "due_at": bindparam("the_due_at"),
        }
        return self._sql.prepare(update(extractions).where(c.record_id == bindparam("the_id")).values(values))

    @cached_property
    def _remove(self) -> Prepared:
        return self._sql.prepare(
            delete(extractions).where(self._sql.is_among(extractions.c.record_id, "ids"))
        )

    def _waiting(self, which: Any) -> Any:
        order = (extractions.c.due_at, extractions.c.record_id)
        return select(*_READ).where(which).order_by(*order).limit(bindparam("limit"))
