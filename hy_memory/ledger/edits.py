"""The table of edits: how the coding chain's rows come, are read and are copied."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from sqlalchemy import Select, and_, bindparam, func, insert, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.ledger.database import Database
from hy_memory.ledger.rows import Row, to_json
from hy_memory.ledger.schema import edits
from hy_memory.ledger.statements import Prepared
from hy_memory.values.code import CodeEdit, Ground, Piece, Place

_GONE = b""
"""The content of a file that is not there any more; an empty file's is not empty, it has zlib's frame."""
_NAMES = "seq record_id user_id workspace branch path old_path source turn words pieces at"
_READ = tuple(edits.c[name] for name in _NAMES.split())
_WRITTEN = tuple(column.name for column in edits.columns if column.name != "seq")
"""The columns that a writer fills; the engine numbers the rows."""
_OF_SOURCE = edits.c.source == bindparam("source")
_LAST: Any = func.max(edits.c.seq)
_COPIED = 500  # edits at once


class EditTable:
    """The edits of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def insert(self, cursor: DBAPICursor, rows: Sequence[CodeEdit]) -> None:
        """Store edits in their order, through the cursor of a writing transaction."""
        if rows:
            cursor.executemany(self._insert.sql, [_row(one) for one in rows])

    def read(self, cursor: DBAPICursor, ground: Ground, paths: Sequence[str], limit: int) -> list[CodeEdit]:
        """Return edits by the names that files have, or had before."""
        packed = self._database.pack(sorted(set(paths)))
        values = {**_named(ground), "paths": packed, "limit": limit}
        found: dict[int, Row] = {}
        for statement in (self._by_path, self._by_old_path):
            found.update((row[0], row) for row in self._rows(cursor, statement, values))
        return [_edit(found[seq]) for seq in sorted(found)]

    def of_records(self, cursor: DBAPICursor, record_ids: Sequence[str]) -> list[CodeEdit]:
        """Return edits by the raw turns they were read from."""
        packed = self._database.pack(list(record_ids))
        return [_edit(row) for row in self._rows(cursor, self._by_records, {"ids": packed})]

    def contents(
        self, cursor: DBAPICursor, ground: Ground, source: str, paths: Sequence[str]
    ) -> dict[str, str | None]:
        """Return the files that are known as a whole; the cursor must see one state throughout."""
        values = {**_named(ground), "source": source, "paths": self._database.pack(sorted(set(paths)))}
        newest = {row[0]: row[1] for row in self._rows(cursor, self._newest, values)}
        left = {row[0]: row[1] for row in self._rows(cursor, self._left, values)}
        found: dict[str, str | None] = {}
        for path in paths:
            here, away = newest.get(path, 0), left.get(path, 0)
            if away > here:
                found[path] = None
            elif here:
                content = self._rows(cursor, self._content, {"seq": here})[0][0]
                if content is not None:
                    found[path] = None if content == _GONE else zlib.decompress(content).decode()
        return found

    def count(self, cursor: DBAPICursor, user_id: str) -> int:
        """Return how many edits a user has."""
        return int(self._rows(cursor, self._count, {"user_id": user_id})[0][0])

    def copy(self, cursor: DBAPICursor, source: str, target: str, renamed: Mapping[str, str]) -> None:
        """Give one user the edits of another whose records were copied, in their order."""
        after = 0
        at, owner = _WRITTEN.index("record_id"), _WRITTEN.index("user_id")
        while rows := self._rows(cursor, self._all, {"user_id": source, "after": after, "limit": _COPIED}):
            after = rows[-1][0]
            copies = [list(row[1:]) for row in rows if row[1 + at] in renamed]
            for copy in copies:
                copy[at], copy[owner] = renamed[copy[at]], target
            if copies:
                cursor.executemany(self._insert.sql, [tuple(copy) for copy in copies])

    def _rows(self, cursor: DBAPICursor, statement: Prepared, values: Mapping[str, object]) -> Sequence[Any]:
        cursor.execute(statement.sql, statement.bind(**values))
        return cursor.fetchall()

    @cached_property
    def _insert(self) -> Prepared:
        return self._sql.prepare(insert(edits), list(_WRITTEN))

    @cached_property
    def _by_path(self) -> Prepared:
        return self._sql.prepare(_newest_first(self._here(select(*_READ)).where(self._among("path"))))

    @cached_property
    def _by_old_path(self) -> Prepared:
        return self._sql.prepare(_newest_first(self._here(select(*_READ)).where(self._among("old_path"))))

    @cached_property
    def _by_records(self) -> Prepared:
        mine = self._sql.is_among(edits.c.record_id, "ids")
        return self._sql.prepare(select(*_READ).where(mine).order_by(edits.c.seq))

    @cached_property
    def _newest(self) -> Prepared:
        last = self._here(select(edits.c.path, _LAST)).where(self._among("path"), _OF_SOURCE)
        return self._sql.prepare(last.group_by(edits.c.path))

    @cached_property
    def _left(self) -> Prepared:
        last = self._here(select(edits.c.old_path, _LAST)).where(self._among("old_path"), _OF_SOURCE)
        return self._sql.prepare(last.group_by(edits.c.old_path))

    @cached_property
    def _content(self) -> Prepared:
        return self._sql.prepare(select(edits.c.content).where(edits.c.seq == bindparam("seq")))

    @cached_property
    def _count(self) -> Prepared:
        mine = select(func.count()).select_from(edits).where(edits.c.user_id == bindparam("user_id"))
        return self._sql.prepare(mine)

    @cached_property
    def _all(self) -> Prepared:
        names = ("seq", *_WRITTEN)
        mine = and_(edits.c.user_id == bindparam("user_id"), edits.c.seq > bindparam("after"))
        found = select(*(edits.c[name] for name in names)).where(mine).order_by(edits.c.seq)
        return self._sql.prepare(found.limit(bindparam("limit")))

    def _among(self, column: str) -> Any:
        return self._sql.is_among(edits.c[column], "paths")

    def _here(self, statement: Any) -> Select[Any]:
        names = ("user_id", "workspace", "branch")
        return statement.where(*(edits.c[name] == bindparam(name) for name in names))


def _newest_first(statement: Select[Any]) -> Select[Any]:
    return statement.order_by(edits.c.seq.desc()).limit(bindparam("limit"))


def _named(ground: Ground) -> dict[str, object]:
    return {"user_id": ground.user_id, "workspace": ground.workspace, "branch": ground.branch}


def _row(one: CodeEdit) -> tuple[object, ...]:
    """Return the values of `edits`, in the order of `_WRITTEN`."""
    content = _GONE if one.is_gone else None
    if one.content is not None:
        content = zlib.compress(one.content.encode(), 1)
    ground = one.ground
    return (
        one.record_id,
        ground.user_id,
        ground.workspace,
        ground.branch,
        one.path,
        one.old_path or None,
        one.source,
        one.turn,
        one.words,
        to_json([_listed(piece) for piece in one.pieces]),
        content,
        one.at,
    )


def _edit(row: Row) -> CodeEdit:
    """Return the edit of a row of `_READ`."""
    seq, record_id, user_id, workspace, branch, path, old_path, source, turn, words, pieces, at = row
    return CodeEdit(
        record_id=record_id,
        ground=Ground(user_id, workspace, branch),
        path=path,
        turn=turn,
        words=words,
        pieces=tuple(_piece(one) for one in json.loads(pieces)),
        at=at,
        source=source,
        old_path=old_path or "",
        seq=seq,
    )


def _listed(piece: Piece) -> list[object]:
    return [
        piece.symbol,
        piece.before,
        piece.after,
        int(piece.is_whole),
        piece.line,
        piece.origin,
        piece.target,
    ]


def _piece(listed: Sequence[Any]) -> Piece:
    symbol, before, after, is_whole, line, origin, target = listed
    return Piece(symbol, before, after, bool(is_whole), line, _place(origin), _place(target))


def _place(listed: Any) -> Place | None:
    return cast("Place", tuple(listed)) if listed else None
