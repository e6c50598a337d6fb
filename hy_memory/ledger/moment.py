"""What could be searched of some users at an earlier moment, from heads, versions and successors.

Of a record, the newest text recorded by then counts; a head that came later is rewound to it. What
was deleted since is not known any more: its text is gone, and that is the point of deleting.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.ledger.database import Database
from hy_memory.ledger.rows import RECORD_COLUMNS, Row, to_record, to_terms, to_vector, to_version
from hy_memory.ledger.schema import records, vectors, versions
from hy_memory.values.record import MemoryRecord, RecordVersion, Status
from hy_memory.values.write import Entry

_WIDTH = len(RECORD_COLUMNS)


def entries_at(database: Database, cursor: DBAPICursor, user_id: str, at: float) -> list[Entry]:
    """Return a user's records as they were at `at`; the cursor must see one state throughout."""

    def rows(statement: Select[Any]) -> Sequence[Row]:
        prepared = database.statements.prepare(statement)
        cursor.execute(prepared.sql, prepared.bind())
        return cursor.fetchall()

    former: defaultdict[str, list[RecordVersion]] = defaultdict(list)
    for row in rows(_former(user_id, at)):
        former[row[0]].append(to_version(row))
    heads = rows(_heads(user_id, at))
    pause = gc.isenabled()  # as in `rows.to_points`: many new objects, none of them garbage
    gc.disable()
    try:
        found = [_entry(row, former.get(row[0], ()), at) for row in heads]
    finally:
        if pause:
            gc.enable()
    return [entry for entry in found if entry is not None]


def _heads(user_id: str, at: float) -> Select[Any]:
    """Every point there is of what was recorded by then, and when it was superseded."""
    successors = records.alias("successors")
    joined = records.join(vectors, vectors.c.record_id == records.c.id).outerjoin(
        successors, successors.c.id == records.c.superseded_by
    )
    columns = (vectors.c.vector, vectors.c.term_ids, vectors.c.term_weights, successors.c.created_at)
    found = select(*RECORD_COLUMNS, *columns).select_from(joined)
    return found.where(records.c.user_id == user_id, records.c.created_at <= at)


def _former(user_id: str, at: float) -> Select[Any]:
    """The former texts of the records whose head may be of a later moment, oldest first."""
    joined = versions.join(records, records.c.id == versions.c.record_id)
    later = or_(versions.c.replaced_at > at, records.c.updated_at > at)
    mine = (records.c.user_id == user_id, records.c.created_at <= at, records.c.version > 1)
    return select(*versions.columns).select_from(joined).where(*mine, later).order_by(versions.c.version)


def _entry(row: Row, former: Sequence[RecordVersion], at: float) -> Entry | None:
    """Return a record as it was, None where it is not known what it then said."""
    head = to_record(row)
    record = _as_it_was(head, former, at)
    if record is None:
        return None
    superseded_at = row[_WIDTH + 3]
    if superseded_at is not None and superseded_at > at:
        record = replace(record, status=Status.ACTIVE, superseded_by=None)
    if record.content != head.content:
        return Entry(record)
    terms = to_terms(*row[_WIDTH + 1 : _WIDTH + 3]) if record.context == head.context else None
    return Entry(record, to_vector(row[_WIDTH]), terms)


def _as_it_was(head: MemoryRecord, former: Sequence[RecordVersion], at: float) -> MemoryRecord | None:
    if former:
        head_since = former[-1].replaced_at
    else:  # never updated, or its former texts were forgotten
        head_since = head.created_at if head.version == 1 else max(head.created_at, head.updated_at)
    if head_since <= at:
        return head
    known = [one for one in former if one.recorded_at <= at]
    return _rewound(head, known[-1]) if known else None


def _rewound(head: MemoryRecord, version: RecordVersion) -> MemoryRecord:
    record = replace(
        head,
        content=version.content,
        memory_at=version.memory_at,
        updated_at=version.recorded_at,
        version=version.version,
        claims=(),
    )
    if version.tags is None or version.attributes is None or version.context is None:
        return record  # of a time when versions kept their text alone: the rest is as it is now
    return replace(
        record,
        tags=version.tags,
        attributes=version.attributes,
        context=version.context,
        expires_at=version.expires_at,
    )
