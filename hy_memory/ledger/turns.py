"""A user's turns as the tables hold them: what was said when in which session, without vectors."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, or_, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.conversations.turn import turn_of
from hy_memory.ledger.database import Database
from hy_memory.ledger.schema import closings, records
from hy_memory.ledger.statements import Prepared
from hy_memory.values.record import NORMAL_LAYERS, Status
from hy_memory.values.turn import Closing, Turn, TurnChanges
from hy_memory.values.write import ChangeKind

_LAYERS = {layer.value: layer for layer in NORMAL_LAYERS}
_MANY = 1000  # turns from which on a pause of the collector is worth two calls (see `rows.to_points`)

IS_TURN = and_(
    records.c.status == Status.ACTIVE.value,
    or_(*(records.c.layer == layer.value for layer in NORMAL_LAYERS)),
    records.c.part_of.is_(None),
)
"""The records that are turns: nobody says the sections of a text one by one."""


class TurnReader:
    """Reads turns through cursors of one database; each statement is compiled when first used."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def everything(self, user_id: str) -> TurnChanges:
        """Return every turn of a user."""
        with self._database.snapshot() as cursor:
            cursor.execute(self._sql.last_seq.sql)
            seq = cursor.fetchall()[0][0] or 0
            turns = _to_turns(_fetch(cursor, self._of_user, user_id=user_id))
            return TurnChanges(seq, turns, (), self._closings(cursor, user_id))

    def after(self, user_id: str, after: int) -> TurnChanges:
        """Return what became of a user's turns after a sequence number."""
        with self._database.snapshot() as cursor:
            rows = _fetch(cursor, self._sql.changes_of_user, user_id=user_id, after=after)
            first: dict[str, str] = {}
            for _, memory_id, kind in rows:
                first.setdefault(memory_id, kind)
            packed = self._database.pack(list(first))
            found = _fetch(cursor, self._by_ids, ids=packed) if first else ()
            turns = _to_turns([row[:-1] for row in found if row[-1] == user_id])
            here = {turn.id for turn in turns}
            # As in `SqlLedger.changes`: what was added since then and is no turn was never one.
            gone = [one for one, kind in first.items() if one not in here and kind != ChangeKind.ADD.value]
            seq = rows[-1][0] if rows else after
            return TurnChanges(seq, turns, tuple(gone), self._closings(cursor, user_id))

    def _closings(self, cursor: DBAPICursor, user_id: str) -> tuple[Closing, ...]:
        return tuple(Closing(*row) for row in _fetch(cursor, self._closings_of_user, user_id=user_id))

    @cached_property
    def _of_user(self) -> Prepared:
        return self._sql.prepare(_turns().where(records.c.user_id == bindparam("user_id")))

    @cached_property
    def _by_ids(self) -> Prepared:
        # Not narrowed to the user: SQLite would walk all of theirs instead of finding the few ids.
        by_ids = _turns().add_columns(records.c.user_id)
        return self._sql.prepare(by_ids.where(self._sql.is_among(records.c.id, "ids")))

    @cached_property
    def _closings_of_user(self) -> Prepared:
        c = closings.c
        mine = select(c.agent_id, c.session_id, c.at).where(c.user_id == bindparam("user_id"))
        return self._sql.prepare(mine.order_by(c.agent_id, c.session_id, c.at))


def _turns() -> Select[Any]:
    """Turns, as `_to_turn` takes them."""
    c = records.c
    kind = (c.agent_id, c.session_id, c.source, c.layer, c.expires_at)
    columns: list[ColumnElement[Any]] = [c.id, *kind, c.created_at, c.memory_at, c.content, c.owner]
    return select(*columns).where(IS_TURN)


def _fetch(cursor: DBAPICursor, statement: Prepared, **values: object) -> Sequence[Any]:
    cursor.execute(statement.sql, statement.bind(**values))
    return cursor.fetchall()


def _to_turns(rows: Sequence[Any]) -> tuple[Turn, ...]:
    pause = len(rows) > _MANY and gc.isenabled()
    if pause:
        gc.disable()
    try:
        return tuple([_to_turn(*row) for row in rows])
    finally:
        if pause:
            gc.enable()


def _to_turn(id_: str, agent: str, session: str, source: str, layer: str, *more: Any) -> Turn:
    expires_at, created_at, memory_at, content, owner = more
    kind = agent, session, source, _LAYERS[layer], expires_at
    return turn_of(id_, kind, (created_at, memory_at), (content, owner))
