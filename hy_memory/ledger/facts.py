"""The tables of temporal facts: rows that are only ever closed, and what users declared of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from sqlalchemy import Table, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.errors import MemoryNotFoundError
from hy_memory.ledger.database import Database
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import Row
from hy_memory.ledger.schema import fact_aliases, fact_predicates, fact_relations, facts
from hy_memory.values.fact import Fact, FactChange, FactRelation, FactRules

_OF_USER: tuple[Table, ...] = (fact_relations, facts, fact_aliases, fact_predicates)
"""Everything of a user, in the order in which it may be removed."""


class FactTable:
    """The facts of one database's users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def read(self, cursor: DBAPICursor, user_id: str, subject_keys: Sequence[str] | None) -> tuple[Fact, ...]:
        """Return a user's rows, of some subjects or of all."""
        if subject_keys is None:
            rows = self._rows(cursor, self._all, user_id=user_id)
        else:
            packed = self._database.pack(sorted(set(subject_keys)))
            rows = self._rows(cursor, self._of_subjects, user_id=user_id, keys=packed)
        return tuple(Fact(*row) for row in rows)

    def believed(self, cursor: DBAPICursor, user_id: str) -> tuple[Fact, ...]:
        """Return the rows of a user that are not closed."""
        return tuple(Fact(*row) for row in self._rows(cursor, self._believed, user_id=user_id))

    def rules(self, cursor: DBAPICursor, user_id: str) -> FactRules:
        """Return what a user declared."""
        aliases = dict(self._rows(cursor, self._aliases, user_id=user_id))
        declared = self._rows(cursor, self._predicates, user_id=user_id)
        return FactRules(aliases, {name: bool(is_multi) for name, is_multi in declared})

    def apply(self, cursor: DBAPICursor, change: FactChange, at: float) -> None:
        """Close and add rows, through the cursor of a writing transaction."""
        if change.closed:
            packed = self._database.pack(list(change.closed))
            cursor.execute(self._close.sql, self._close.bind(closed_at=at, ids=packed))
        if change.added:
            cursor.executemany(self._insert.sql, [_row(one) for one in change.added])

    def keep_alias(self, cursor: DBAPICursor, user_id: str, alias_key: str, entity_key: str) -> None:
        """Let a name mean an entity."""
        cursor.execute(self._keep_alias.sql, (user_id, alias_key, entity_key))

    def keep_predicate(self, cursor: DBAPICursor, user_id: str, predicate: str, is_multi: bool) -> None:
        """Remember how many values a predicate holds."""
        cursor.execute(self._keep_predicate.sql, (user_id, predicate, int(is_multi)))

    def relate(self, cursor: DBAPICursor, one: FactRelation) -> None:
        """Remember a tie between two facts of one user."""
        known = {row[0] for row in self._rows(cursor, self._ids, user_id=one.user_id)}
        for fact_id in (one.from_id, one.to_id):
            if fact_id not in known:
                raise MemoryNotFoundError(fact_id)
        row = (one.user_id, one.from_id, one.to_id, one.kind, one.recorded_at)
        cursor.execute(self._keep_relation.sql, row)

    def relations(self, cursor: DBAPICursor, user_id: str, fact_id: str) -> tuple[FactRelation, ...]:
        """Return the ties of a fact."""
        rows = self._rows(cursor, self._relations, user_id=user_id, from_id=fact_id, to_id=fact_id)
        return tuple(FactRelation(*row) for row in rows)

    def forget(self, cursor: DBAPICursor, user_ids: Sequence[str]) -> None:
        """Remove everything of whole users."""
        packed = self._database.pack(user_ids)
        for table in _OF_USER:
            mine = self._sql.is_among(table.c.user_id, "users", packed)
            statement = self._sql.prepare(delete(table).where(mine))
            cursor.execute(statement.sql, statement.bind())

    def copy(self, cursor: DBAPICursor, source: str, target: str, renamed: Mapping[str, str]) -> None:
        """Give one user what another has, under ids that end in the new user's name."""

        def own(name: str) -> str:
            return f"{name}@{target}"

        copies = [
            replace(
                one,
                row_id=own(one.row_id),
                fact_id=own(one.fact_id),
                user_id=target,
                memory_id=renamed.get(one.memory_id or ""),
            )
            for one in self.read(cursor, source, None)
        ]
        self.apply(cursor, FactChange(added=tuple(copies)), 0.0)
        rules = self.rules(cursor, source)
        for alias, entity in rules.aliases.items():
            self.keep_alias(cursor, target, alias, entity)
        for predicate, is_multi in rules.multi.items():
            self.keep_predicate(cursor, target, predicate, is_multi)
        for row in self._rows(cursor, self._all_relations, user_id=source):
            one = FactRelation(*row)
            moved = (target, own(one.from_id), own(one.to_id), one.kind, one.recorded_at)
            cursor.execute(self._keep_relation.sql, moved)

    def _rows(self, cursor: DBAPICursor, statement: Prepared, **values: object) -> Sequence[Any]:
        cursor.execute(statement.sql, statement.bind(**values))
        return cursor.fetchall()

    @cached_property
    def _all(self) -> Prepared:
        return self._sql.prepare(_ordered(select(*facts.columns).where(_mine(facts))))

    @cached_property
    def _of_subjects(self) -> Prepared:
        named = self._sql.is_among(facts.c.subject_key, "keys")
        return self._sql.prepare(_ordered(select(*facts.columns).where(_mine(facts), named)))

    @cached_property
    def _believed(self) -> Prepared:
        is_open = facts.c.recorded_to.is_(None)
        return self._sql.prepare(_ordered(select(*facts.columns).where(_mine(facts), is_open)))

    @cached_property
    def _ids(self) -> Prepared:
        return self._sql.prepare(select(facts.c.fact_id).where(_mine(facts)).distinct())

    @cached_property
    def _close(self) -> Prepared:
        these = and_(self._sql.is_among(facts.c.row_id, "ids"), facts.c.recorded_to.is_(None))
        return self._sql.prepare(update(facts).where(these).values({"recorded_to": bindparam("closed_at")}))

    @cached_property
    def _insert(self) -> Prepared:
        return self._sql.prepare(insert(facts), [column.name for column in facts.columns])

    @cached_property
    def _aliases(self) -> Prepared:
        c = fact_aliases.c
        return self._sql.prepare(select(c.alias_key, c.entity_key).where(_mine(fact_aliases)))

    @cached_property
    def _predicates(self) -> Prepared:
        c = fact_predicates.c
        return self._sql.prepare(select(c.predicate, c.is_multi).where(_mine(fact_predicates)))

    @cached_property
    def _keep_alias(self) -> Prepared:
        return self._sql.upsert(fact_aliases)

    @cached_property
    def _keep_predicate(self) -> Prepared:
        return self._sql.upsert(fact_predicates)

    @cached_property
    def _keep_relation(self) -> Prepared:
        return self._sql.upsert(fact_relations)

    @cached_property
    def _relations(self) -> Prepared:
        c = fact_relations.c
        either = or_(c.from_id == bindparam("from_id"), c.to_id == bindparam("to_id"))
        found = select(*fact_relations.columns).where(_mine(fact_relations), either)
        return self._sql.prepare(found.order_by(c.recorded_at, c.from_id, c.to_id, c.kind))

    @cached_property
    def _all_relations(self) -> Prepared:
        return self._sql.prepare(select(*fact_relations.columns).where(_mine(fact_relations)))


def _mine(table: Table) -> Any:
    return table.c.user_id == bindparam("user_id")


def _ordered(statement: Any) -> Any:
    return statement.order_by(facts.c.recorded_from, facts.c.valid_from, facts.c.row_id)


def _row(one: Fact) -> Row:
    """Return the values of `facts`, in the order of its columns, which is that of the fields."""
    return tuple(getattr(one, column.name) for column in facts.columns)
