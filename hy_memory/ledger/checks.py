"""What can be wrong in a ledger whose engine is sound: rows that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ClauseElement, Select, and_, exists, func, or_, select

from hy_memory.ledger.database import Database
from hy_memory.ledger.identity import EMBEDDER, from_json
from hy_memory.ledger.schema import changes, meta, records, tallies, vectors, versions
from hy_memory.values.record import UNSEARCHED_LAYERS, Status

_NAMED = 5  # ids that a message shows: enough to look into, short enough to read


def logical_problems(database: Database) -> tuple[str, ...]:
    """Return one sentence for each kind of contradiction, seen in one snapshot."""
    with database.snapshot() as cursor:

        def rows(statement: ClauseElement) -> Sequence[Any]:
            prepared = database.statements.prepare(statement)
            cursor.execute(prepared.sql, prepared.bind())
            return cursor.fetchall()

        found = [_sentence(what, rows(query)) for what, query in _QUERIES.items()]
        bound = rows(select(meta.c.value).where(meta.c.name == EMBEDDER))
        if bound:
            size = 4 * from_json(bound[0][0]).dims
            wrong = select(vectors.c.record_id).where(func.length(vectors.c.vector) != size)
            found.append(_sentence("vectors of another length than the embedder's", rows(wrong)))
        told = {tuple(key): int(amount) for *key, amount in rows(select(*tallies.columns)) if amount}
        key = (records.c.user_id, records.c.layer, records.c.status)
        counted = {tuple(key): number for *key, number in rows(select(*key, func.count()).group_by(*key))}
        wrong_users = sorted({key[:1] for key, _ in told.items() ^ counted.items()})
        found.append(_sentence("users with wrong tallies", wrong_users))
    return tuple(sentence for sentence in found if sentence)


def _sentence(what: str, rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    shown = ", ".join(repr(row[0]) for row in rows[:_NAMED])
    return f"{len(rows)} {what}: {shown}" + (" …" if len(rows) > _NAMED else "")


_NO_RECORD = ~exists().where(records.c.id == vectors.c.record_id)
_NO_OWNER = ~exists().where(records.c.id == versions.c.record_id)
_NO_VECTOR = ~exists().where(vectors.c.record_id == records.c.id)
_SEARCHED = records.c.layer.not_in([layer.value for layer in UNSEARCHED_LAYERS])
_OTHER_USER = and_(records.c.id == vectors.c.record_id, records.c.user_id != vectors.c.user_id)
_newer, _older = records.alias("newer"), records.alias("older")
_SUCCESSOR = exists().where(
    _newer.c.id == records.c.superseded_by,
    _newer.c.supersedes == records.c.id,
    _newer.c.user_id == records.c.user_id,
)
_PREDECESSOR = exists().where(
    _older.c.id == records.c.supersedes,
    _older.c.superseded_by == records.c.id,
    _older.c.user_id == records.c.user_id,
)
_IS_SUPERSEDED = records.c.status == Status.SUPERSEDED.value
_LOGGED = exists().where(changes.c.record_id == records.c.id)

_QUERIES: dict[str, Select[Any]] = {
    "vectors without a record": select(vectors.c.record_id).where(_NO_RECORD),
    "vectors filed under another user than their record": select(vectors.c.record_id).where(
        exists().where(_OTHER_USER)
    ),
    "versions without a record": select(versions.c.record_id).where(_NO_OWNER).distinct(),
    "searchable memories without a vector": select(records.c.id).where(_SEARCHED, _NO_VECTOR),
    "superseded memories without the one that took their place": select(records.c.id).where(
        or_(_IS_SUPERSEDED, records.c.superseded_by.is_not(None)), ~and_(_IS_SUPERSEDED, _SUCCESSOR)
    ),
    "memories without the one whose place they took": select(records.c.id).where(
        records.c.supersedes.is_not(None), ~_PREDECESSOR
    ),
    "memories that the change log does not know": select(records.c.id).where(~_LOGGED),
}
