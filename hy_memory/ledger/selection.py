"""The records that a scoped filter admits: their number, a page of them, their ids.

SQL decides what it can say exactly; what is left is evaluated on the payloads of those rows, in the
order of the page, so that a filter means the same whichever half decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.filters.evaluate import predicate
from hy_memory.filters.scope import ScopedFilter
from hy_memory.ledger.database import Database
from hy_memory.ledger.filter import RECORD_FIELDS, TALLY_FIELDS, Fields, split
from hy_memory.ledger.rows import PAYLOAD_COLUMNS, RECORD_COLUMNS, to_payload, to_record
from hy_memory.ledger.schema import records, tallies
from hy_memory.values.record import Page
from hy_memory.values.write import ListQuery


class Selection:
    """One scoped filter, ready to be asked through a cursor of `database`."""

    def __init__(self, database: Database, where: ScopedFilter) -> None:
        self._database = database
        self._where = where
        self._split = split(where.tree, RECORD_FIELDS)

    def page(self, cursor: DBAPICursor, query: ListQuery) -> Page:
        """Return one page; the cursor must see one state throughout."""
        if self._split.is_exact:
            columns = select(*RECORD_COLUMNS).where(*self._clauses())
            ordered = _in_order(columns, ascending=query.ascending)
            rows = self._rows(cursor, ordered.limit(query.limit).offset(query.offset))
            return Page(tuple(map(to_record, rows)), self._total(cursor))
        ids = self._evaluated(cursor, ascending=query.ascending)
        wanted = ids[query.offset : query.offset + query.limit]
        statement = self._database.statements.records_by_ids
        cursor.execute(statement.sql, statement.bind(ids=self._database.pack(wanted)))
        found = {row[0]: to_record(row) for row in cursor.fetchall()}
        return Page(tuple(found[id_] for id_ in wanted), len(ids))

    def ids(self, cursor: DBAPICursor) -> Sequence[str]:
        """Return the ids of all of them."""
        if not self._split.is_exact:
            return self._evaluated(cursor, ascending=True)
        return [row[0] for row in self._rows(cursor, select(records.c.id).where(*self._clauses()))]

    def _total(self, cursor: DBAPICursor) -> int:
        by_tally = split(self._where.tree, TALLY_FIELDS)
        if by_tally.is_exact:  # costs the same however much the user has
            amount = select(func.sum(tallies.c.amount)).where(self._scope(TALLY_FIELDS), *by_tally.clauses)
            return int(self._rows(cursor, amount)[0][0] or 0)
        number = select(func.count()).select_from(records).where(*self._clauses())
        return self._rows(cursor, number)[0][0]

    def _evaluated(self, cursor: DBAPICursor, *, ascending: bool) -> list[str]:
        admits = predicate(self._split.rest)
        payloads = _in_order(select(*PAYLOAD_COLUMNS).where(*self._clauses()), ascending=ascending)
        return [row[0] for row in self._rows(cursor, payloads) if admits(to_payload(row))]

    def _clauses(self) -> tuple[ColumnElement[bool], ...]:
        return (self._scope(RECORD_FIELDS), *self._split.clauses)

    def _scope(self, fields: Fields) -> ColumnElement[bool]:
        column, users = fields["user_id"], self._where.user_ids
        if len(users) == 1:  # an equation lets the engine read the index in the order of the page
            return column == users[0]
        return self._database.statements.is_among(column, "users", self._database.pack(users))

    def _rows(self, cursor: DBAPICursor, statement: Select[Any]) -> Sequence[Any]:
        prepared = self._database.statements.prepare(statement)
        cursor.execute(prepared.sql, prepared.bind())
        return cursor.fetchall()


def _in_order(statement: Select[Any], *, ascending: bool) -> Select[Any]:
    order = (records.c.created_at, records.c.id)
    return statement.order_by(*(order if ascending else [column.desc() for column in order]))
