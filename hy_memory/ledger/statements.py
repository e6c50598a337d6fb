"""Every fixed statement of the ledger, built with SQLAlchemy Core and compiled once for one engine.

They run on the driver's own cursors: compiling ahead keeps SQLAlchemy's execution layer (some 0.1 ms a
statement) out of every search. Statements that insert take the values of `rows` in the schema's order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.engine import Dialect

from hy_memory.ledger.links import Links
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.rows import POINT_COLUMNS, RECORD_COLUMNS
from hy_memory.ledger.schema import (
    changes,
    meta,
    outcomes,
    projections,
    records,
    tallies,
    vectors,
    versions,
)
from hy_memory.values.record import Status
from hy_memory.values.write import ChangeKind

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


class Member(Protocol):
    """Makes "this column is among the values bound under this name": one parameter, however many values."""

    def __call__(self, column: ColumnElement[Any], name: str, packed: object = None) -> ColumnElement[bool]:
        """Return the clause; `packed` are the values, None where they are bound when it runs."""
        ...


InsertOr: TypeAlias = "Callable[[Table], sqlite.Insert] | Callable[[Table], postgresql.Insert]"
"""The engine's own INSERT, which knows ON CONFLICT. (Importing both engines' would cost 30 ms.)"""

_LOGGED = ("user_id", "record_id", "kind", "version", "at")
"""The columns of `changes` that a writer fills; the engine numbers the rows."""
REPLACED = tuple(
    column.name
    for column in records.columns
    if column.name not in ("id", "request_id", "status", "supersedes", "superseded_by")
)
"""The columns of `records` that an update writes, in the schema's order."""


class Statements:
    """The fixed statements for one engine; each is compiled when first used."""

    def __init__(self, dialect: Dialect, insert_or: InsertOr, is_among: Member) -> None:
        self._dialect = dialect
        self._insert_or = insert_or
        self.is_among = is_among

    def prepare(self, statement: ClauseElement, column_keys: list[str] | None = None) -> Prepared:
        """Return `statement` compiled for this engine's driver, which binds by position."""
        compiled = statement.compile(
            dialect=self._dialect, column_keys=column_keys, compile_kwargs={"render_postcompile": True}
        )
        names: list[str] = getattr(compiled, "positiontup", None) or []
        bound: dict[str, object] = {**(compiled.params or {})}
        return Prepared(str(compiled), tuple(names), bound)

    def _insert(self, table: Table) -> Prepared:
        return self.prepare(insert(table), [column.name for column in table.columns])

    def upsert(self, table: Table) -> Prepared:
        """Return the statement that stores a row of `table`, or the new values of one with its key."""
        row = self._insert_or(table)
        written: dict[str, ColumnElement[Any]] = {
            c.name: row.excluded[c.name] for c in table.columns if not c.primary_key
        }
        if table is tallies:  # amounts are told as differences
            written["amount"] = tallies.c.amount + row.excluded["amount"]
        key = [column.name for column in table.primary_key]
        upsert = row.on_conflict_do_update(index_elements=key, set_=written)
        return self.prepare(upsert, [column.name for column in table.columns])

    # records

    @cached_property
    def records_by_ids(self) -> Prepared:
        """Parameters: ids."""
        return self.prepare(select(*RECORD_COLUMNS).where(self.is_among(records.c.id, "ids")))

    @cached_property
    def parts_of(self) -> Prepared:
        """Parameters: ids."""
        c = records.c
        return self.prepare(select(c.id).where(self.is_among(c.part_of, "ids")).order_by(c.position, c.id))

    @cached_property
    def insert_record(self) -> Prepared:
        """A `record_row`."""
        return self._insert(records)

    @cached_property
    def replace_record(self) -> Prepared:
        """A `record_row`'s values of `REPLACED`, then id, then the version it must have."""
        values = {name: bindparam(f"new_{name}") for name in REPLACED}
        current = and_(records.c.id == bindparam("old_id"), records.c.version == bindparam("old_version"))
        return self.prepare(update(records).where(current).values(values))

    @cached_property
    def head(self) -> Prepared:
        """What an update must know of the record it replaces. Parameters: id."""
        c = records.c
        names = "user_id version content memory_at created_at updated_at"
        names += " tags attributes context expires_at layer status"
        columns = [c[name] for name in names.split()]
        return self.prepare(select(*columns).where(c.id == bindparam("id")))

    @cached_property
    def doomed(self) -> Prepared:
        """What a removal must know of the records it removes. Parameters: ids."""
        c = records.c
        columns = (c.id, c.user_id, c.layer, c.status, c.version, c.request_id, c.supersedes, c.superseded_by)
        return self.prepare(select(*columns).where(self.is_among(c.id, "ids")))

    @cached_property
    def delete_records(self) -> Prepared:
        """Vectors and versions go with them (foreign keys). Parameters: ids."""
        return self.prepare(delete(records).where(self.is_among(records.c.id, "ids")))

    @cached_property
    def links(self) -> Links:
        """What writes the links between records."""
        return Links(self.prepare)

    @cached_property
    def insert_version(self) -> Prepared:
        """A row of `versions`."""
        return self._insert(versions)

    @cached_property
    def claims_of_user(self) -> Prepared:
        """The active records that claim anything. Parameters: user_id."""
        c = records.c
        mine = and_(c.user_id == bindparam("user_id"), c.claims.is_not(None))
        columns = (c.id, func.coalesce(c.memory_at, c.created_at), c.claims)
        return self.prepare(select(*columns).where(mine, c.status == Status.ACTIVE.value).order_by(c.id))

    @cached_property
    def versions_of(self) -> Prepared:
        """Parameters: id."""
        return self.prepare(
            select(*versions.columns)
            .where(versions.c.record_id == bindparam("id"))
            .order_by(versions.c.version.desc())
        )

    @cached_property
    def delete_versions(self) -> Prepared:
        """Parameters: ids."""
        return self.prepare(delete(versions).where(self.is_among(versions.c.record_id, "ids")))

    @cached_property
    def texts_of(self) -> Prepared:
        """Every text that records have or had. Parameters: ids, old_ids (the same)."""
        now = select(records.c.id, records.c.content).where(self.is_among(records.c.id, "ids"))
        old = select(versions.c.record_id, versions.c.content)
        return self.prepare(now.union_all(old.where(self.is_among(versions.c.record_id, "old_ids"))))

    # points

    @cached_property
    def upsert_vector(self) -> Prepared:
        """A `vector_row`."""
        return self.upsert(vectors)

    @cached_property
    def delete_vector(self) -> Prepared:
        """Parameters: id."""
        return self.prepare(delete(vectors).where(vectors.c.record_id == bindparam("id")))

    @cached_property
    def points_by_user(self) -> Prepared:
        """Parameters: user_id."""
        return self.prepare(self._points().where(vectors.c.user_id == bindparam("user_id")))

    @cached_property
    def points_by_ids(self) -> Prepared:
        """Parameters: ids."""
        return self.prepare(self._points().where(self.is_among(vectors.c.record_id, "ids")))

    def _points(self) -> Select[Any]:
        joined = vectors.join(records, records.c.id == vectors.c.record_id)
        return select(*POINT_COLUMNS).select_from(joined)

    # the change log

    @cached_property
    def insert_change(self) -> Prepared:
        """The values (user_id, record_id, kind, version, at)."""
        return self.prepare(insert(changes), list(_LOGGED))

    @cached_property
    def last_seq(self) -> Prepared:
        """No parameters; NULL while nothing was ever written."""
        return self.prepare(select(func.max(changes.c.seq)))

    @cached_property
    def changes_of_user(self) -> Prepared:
        """Parameters: user_id, after."""
        c = changes.c
        later = and_(c.user_id == bindparam("user_id"), c.seq > bindparam("after"))
        return self.prepare(select(c.seq, c.record_id, c.kind).where(later).order_by(c.seq))

    @cached_property
    def any_change_of_user(self) -> Prepared:
        """Parameters: user_id, after."""
        c = changes.c
        later = and_(c.user_id == bindparam("user_id"), c.seq > bindparam("after"))
        return self.prepare(select(c.seq).where(later).limit(1))

    @cached_property
    def log(self) -> Prepared:
        """Parameters: after, limit."""
        c = changes.c
        columns = (c.seq, *(c[name] for name in _LOGGED))
        later = select(*columns).where(c.seq > bindparam("after")).order_by(c.seq)
        return self.prepare(later.limit(bindparam("limit")))

    @cached_property
    def history_of_user(self) -> Prepared:
        """Parameters: user_id, limit."""
        return self._history(changes.c.user_id == bindparam("user_id"))

    @cached_property
    def history_of_record(self) -> Prepared:
        """Parameters: record_id, limit."""
        return self._history(changes.c.record_id == bindparam("record_id"))

    @cached_property
    def history_of_both(self) -> Prepared:
        """Parameters: user_id, record_id, limit."""
        return self._history(
            changes.c.user_id == bindparam("user_id"), changes.c.record_id == bindparam("record_id")
        )

    def _history(self, *whose: ColumnElement[bool]) -> Prepared:
        c, later = changes.c, changes.alias("later")
        gone = exists().where(  # an id that was deleted and stored again has two lives with the same versions
            later.c.record_id == c.record_id,
            later.c.seq >= c.seq,
            later.c.kind == ChangeKind.DELETE.value,
        )
        now = and_(records.c.id == c.record_id, records.c.version == c.version, ~gone)
        old = and_(versions.c.record_id == c.record_id, versions.c.version == c.version, ~gone)
        text = func.coalesce(versions.c.content, records.c.content)
        joined = changes.outerjoin(records, now).outerjoin(versions, old)
        found = select(c.seq, *(c[name] for name in _LOGGED), text).select_from(joined)
        found = found.where(*whose, c.kind != ChangeKind.CLOSE.value)
        return self.prepare(found.order_by(c.seq.desc()).limit(bindparam("limit")))

    # counts

    @cached_property
    def add_tally(self) -> Prepared:
        """The values (user_id, layer, status, difference)."""
        return self.upsert(tallies)

    @cached_property
    def drop_tallies(self) -> Prepared:
        """Forget amounts that became 0. Parameters: user_ids."""
        mine = self.is_among(tallies.c.user_id, "user_ids")
        return self.prepare(delete(tallies).where(mine, tallies.c.amount == 0))

    @cached_property
    def counts(self) -> Prepared:
        """Parameters: user_id."""
        c = tallies.c
        mine = select(c.layer, func.sum(c.amount)).where(c.user_id == bindparam("user_id"))
        return self.prepare(mine.group_by(c.layer))

    @cached_property
    def users(self) -> Prepared:
        """No parameters."""
        return self.prepare(select(tallies.c.user_id).where(tallies.c.amount > 0).distinct())

    # outcomes, projections, meta

    @cached_property
    def insert_outcome(self) -> Prepared:
        """An `outcome_row`."""
        return self._insert(outcomes)

    @cached_property
    def outcome(self) -> Prepared:
        """Parameters: user_id, request_id."""
        c = outcomes.c
        one = and_(c.user_id == bindparam("user_id"), c.request_id == bindparam("request_id"))
        return self.prepare(select(*outcomes.columns).where(one))

    @cached_property
    def outcome_of_anybody(self) -> Prepared:
        """Two at most: enough to see that two users chose the same id. Parameters: request_id."""
        c = outcomes.c
        found = select(*outcomes.columns).where(c.request_id == bindparam("request_id"))
        return self.prepare(found.limit(2))

    @cached_property
    def replace_answer(self) -> Prepared:
        """Parameters: new_answer, of_user, of_request."""
        c = outcomes.c
        one = and_(c.user_id == bindparam("of_user"), c.request_id == bindparam("of_request"))
        return self.prepare(update(outcomes).where(one).values(answer=bindparam("new_answer")))

    @cached_property
    def delete_outcomes(self) -> Prepared:
        """Parameters: user_ids."""
        return self.prepare(delete(outcomes).where(self.is_among(outcomes.c.user_id, "user_ids")))

    @cached_property
    def cursor(self) -> Prepared:
        """Parameters: name."""
        return self.prepare(select(projections.c.seq).where(projections.c.name == bindparam("name")))

    @cached_property
    def set_cursor(self) -> Prepared:
        """The values (name, seq)."""
        return self.upsert(projections)

    @cached_property
    def meta(self) -> Prepared:
        """Parameters: name."""
        return self.prepare(select(meta.c.value).where(meta.c.name == bindparam("name")))

    @cached_property
    def set_meta(self) -> Prepared:
        """The values (name, value)."""
        return self.upsert(meta)

    # another embedder

    @cached_property
    def replace_vector(self) -> Prepared:
        """Parameters, by position: vector, id."""
        one = vectors.c.record_id == bindparam("of_record")
        return self.prepare(update(vectors).where(one).values(vector=bindparam("new_vector")))

    @cached_property
    def log_vectors(self) -> Prepared:
        """Log those of `ids` that have a vector as updated. Parameters: ids, at."""
        r = records.c
        kind, at = literal(ChangeKind.REEMBED.value), bindparam("at", type_=changes.c.at.type)
        joined = records.join(vectors, vectors.c.record_id == r.id)
        rows = select(r.user_id, r.id, kind, r.version, at).select_from(joined)
        rows = rows.where(self.is_among(r.id, "ids"))
        return self.prepare(insert(changes).from_select(list(_LOGGED), rows))

    @cached_property
    def stale_vectors(self) -> Prepared:
        """The records with a vector that were not logged after `after`."""
        logged = exists().where(
            changes.c.record_id == vectors.c.record_id, changes.c.seq > bindparam("after")
        )
        return self.prepare(select(vectors.c.record_id).where(~logged))

    @cached_property
    def count_vectors(self) -> Prepared:
        """No parameters."""
        return self.prepare(select(func.count()).select_from(vectors))
