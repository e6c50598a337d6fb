"""Where callers said that a session ended: rows that cut conversations, and how they come and go."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, insert, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.filters.scope import ScopedFilter
from hy_memory.ledger.database import Database
from hy_memory.ledger.filter import Fields, split
from hy_memory.ledger.schema import closings, records
from hy_memory.ledger.statements import Prepared
from hy_memory.ledger.turns import IS_TURN
from hy_memory.values.write import ChangeKind

_FIELDS: Fields = {name: closings.c[name] for name in ("user_id", "agent_id", "session_id")}
"""What `closings` can be asked for."""


class ClosingWriter:
    """Changes the closings of one database through the cursor of a writing transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def close(self, cursor: DBAPICursor, session: tuple[str, str, str], now: float) -> float | None:
        """Close a session (user, agent, session); returns when it was closed, None where it has no turn.

        A session without a turn since its last closing keeps that one. The moment is never before the
        last turn, whatever this machine's clock says: that turn is what is being closed.
        """
        names = {"user_id": session[0], "agent_id": session[1], "session_id": session[2]}
        last = self._rows(cursor, self._last_turn, names)
        if not last:
            return None
        memory_id, version, created_at = last[0]
        closed_at = self._rows(cursor, self._last_closing, names)[0][0]
        if closed_at is not None and closed_at >= created_at:
            return closed_at
        at = max(now, created_at)
        cursor.execute(self._insert.sql, (*session, at))
        # Told to whoever follows the log, as a change of the memory that ended its episode by this.
        change = (session[0], memory_id, ChangeKind.CLOSE.value, version, at)
        cursor.execute(self._sql.insert_change.sql, change)
        return at

    def copy(self, cursor: DBAPICursor, source_user: str, target_user: str) -> None:
        """Give one user the closings of another beside their own."""
        theirs = self._rows(cursor, self._of_user, {"user_id": source_user})
        mine = {tuple(row) for row in self._rows(cursor, self._of_user, {"user_id": target_user})}
        missing = [(target_user, *row) for row in theirs if tuple(row) not in mine]
        if missing:
            cursor.executemany(self._insert.sql, missing)

    def forget(self, cursor: DBAPICursor, where: ScopedFilter) -> None:
        """Remove the closings of whole users, agents or sessions; a finer filter ends no session."""
        parts = split(where.tree, _FIELDS)
        if parts.is_exact:
            users = self._sql.is_among(closings.c.user_id, "users", self._database.pack(where.user_ids))
            statement = self._sql.prepare(delete(closings).where(users, *parts.clauses))
            cursor.execute(statement.sql, statement.bind())

    def _rows(self, cursor: DBAPICursor, statement: Prepared, names: Mapping[str, str]) -> Any:
        cursor.execute(statement.sql, statement.bind(**names))
        return cursor.fetchall()

    @cached_property
    def _insert(self) -> Prepared:
        return self._sql.prepare(insert(closings), [column.name for column in closings.columns])

    @cached_property
    def _of_user(self) -> Prepared:
        c = closings.c
        columns = (c.agent_id, c.session_id, c.at)
        return self._sql.prepare(select(*columns).where(c.user_id == bindparam("user_id")))

    @cached_property
    def _last_turn(self) -> Prepared:
        c = records.c
        mine = and_(c.user_id == bindparam("user_id"), c.session_id == bindparam("session_id"))
        found = select(c.id, c.version, c.created_at).where(
            mine, c.agent_id == bindparam("agent_id"), IS_TURN
        )
        return self._sql.prepare(found.order_by(c.created_at.desc(), c.id.desc()).limit(1))

    @cached_property
    def _last_closing(self) -> Prepared:
        c = closings.c
        mine = and_(c.user_id == bindparam("user_id"), c.session_id == bindparam("session_id"))
        return self._sql.prepare(select(func.max(c.at)).where(mine, c.agent_id == bindparam("agent_id")))
