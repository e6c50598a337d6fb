"""SQLite as the ledger's engine: WAL, writers one at a time, readers never waiting.

The driver is told to leave transactions alone (`isolation_level=None`): a single read is a snapshot by
itself, several are put between BEGIN and COMMIT, and a write begins by taking the lock, so that it
can neither read something old nor fail half-way because somebody else was faster.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    PoolProxiedConnection,
    bindparam,
    create_engine,
    func,
    select,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Engine
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from hy_memory.errors import ClosedError, ConfigurationError, LedgerError
from hy_memory.ledger.migrate import bring_up_to_date
from hy_memory.ledger.schema import REVISION
from hy_memory.ledger.statements import Statements

PATIENCE = 30.0
"""Seconds to wait for another process's write: longer than any bulk insert, short enough to be noticed."""
_KEPT_OPEN = 16  # connections that stay open between calls; one thread needs one, two while it writes
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")

_BUSY = f"another process has been writing for {PATIENCE:.0f} s; end it, or try again later"
_ADVICE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; give this user the right to write there",
    sqlite3.SQLITE_PERM: "this user may not open the file; give it the right to read and write there",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check that the folder exists and may be written",
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again, nothing was stored",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; check its health, space and quota",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database; move it away, or name another data folder",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup, or export what `hy-memory doctor` finds",
    sqlite3.SQLITE_CONSTRAINT: "a row like this is stored already, or refers to one that is not",
}


def is_among(column: ColumnElement[Any], name: str, packed: object = None) -> ColumnElement[bool]:
    """Return that `column` is an element of the JSON list bound under `name` (now, or when it runs)."""
    values = bindparam(name, packed, required=packed is None)
    return column.in_(select(func.json_each(values).table_valued("value").c.value))


class SqliteDatabase:
    """One SQLite file, made or brought up to date when it is opened."""

    def __init__(self, file: Path, synchronous: str) -> None:
        if synchronous.upper() not in _SYNCHRONOUS:
            raise ConfigurationError(f"synchronous={synchronous!r}: use one of {', '.join(_SYNCHRONOUS)}")
        self._file = file
        self._synchronous = synchronous.upper()
        self._closed = False
        self._writing = threading.Lock()  # threads queue here; SQLite would let them poll
        self._feeding: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._watching = threading.Lock()
        self._engine = self._make_engine()
        self.statements = Statements(self._engine.dialect, insert, is_among)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with self._translated():
                self._prepare()
                self._watch = self._connect()
                self._look = self._watch.cursor()
        except OSError as error:
            raise LedgerError(f"{file.parent}: the data folder cannot be made: {error}") from error
        except BaseException:
            self._engine.dispose()
            raise

    def _make_engine(self) -> Engine:
        url = URL.create("sqlite", database=str(self._file))
        return create_engine(
            url,
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=_KEPT_OPEN,
            max_overflow=-1,
            pool_use_lifo=True,
            pool_reset_on_return=None,  # every context below ends its own transaction
        )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._file, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA secure_delete = ON")  # a deleted text is overwritten, not only unlinked
        return connection

    def _prepare(self) -> None:
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            _use_wal(cursor)
            revision = _revision(cursor)
        finally:
            connection.close()
        if revision != REVISION:
            self._migrate()

    def _migrate(self) -> None:
        with self._engine.connect() as connection:
            # A migration may rebuild a table, and dropping the old one must not cascade.
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                bring_up_to_date(connection)
                connection.commit()
            finally:
                connection.rollback()
                connection.exec_driver_sql("PRAGMA foreign_keys = ON")

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, DBAPIError, OverflowError, UnicodeEncodeError) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> LedgerError:
        """Return what went wrong in our own words, with what to do where that is known."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", None)
        advice = "" if code is None else _ADVICE.get(code & 0xFF, "")
        return LedgerError(f"{self._file}: {cause}" + (f": {advice}" if advice else ""))

    def _checkout(self) -> PoolProxiedConnection:
        if self._closed:
            raise ClosedError()
        return self._engine.raw_connection()

    @contextmanager
    def read(self) -> Generator[DBAPICursor]:
        """Return a cursor for one statement."""
        with self._translated():
            connection = self._checkout()
            cursor = connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()  # ends the statement, and with it the view of an old state
                connection.close()

    @contextmanager
    def snapshot(self) -> Generator[DBAPICursor]:
        """Return a cursor for several statements."""
        with self._transaction("BEGIN") as cursor:
            yield cursor

    @contextmanager
    def write(self) -> Generator[DBAPICursor]:
        """Return a cursor inside the writing transaction."""
        with self._writing, self._transaction("BEGIN IMMEDIATE") as cursor:
            yield cursor

    @contextmanager
    def _transaction(self, begin: str) -> Generator[DBAPICursor]:
        with self._translated():
            connection = self._checkout()
            cursor = connection.cursor()
            try:
                cursor.execute(begin)
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                with suppress(sqlite3.Error):
                    cursor.close()
                connection.close()

    def pack(self, values: Sequence[str]) -> object:
        """Return `values` as a JSON list, in which SQLite would cut a value short at a NUL: LedgerError."""
        if "\0" in "".join(values):
            raise LedgerError("an id holds a NUL character, which no stored id does")
        return json.dumps(values, ensure_ascii=False)

    def freshness(self) -> int:
        """Return SQLite's own count of other connections' commits; this connection makes none itself."""
        if self._closed:
            raise ClosedError()
        try:  # a search looks eight times: a context manager would cost as much as the look itself
            with self._watching:
                return self._look.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as error:
            raise self._explained(error) from error

    @contextmanager
    def feeding(self, projection: str) -> Generator[None]:
        """Hold a lock file beside the database."""
        from filelock import FileLock  # imports asyncio (60 ms), and most clients feed nothing

        # a digest: the name holds a path, and a file's name has room for 255 bytes
        digest = hashlib.sha256(projection.encode()).hexdigest()[:32]
        lock = FileLock(self._file.with_name(f"feeding-{digest}.lock"))
        with self._feeding[projection]:
            try:
                lock.acquire()
            except OSError as error:
                raise LedgerError(f"{lock.lock_file}: cannot be locked: {error}") from error
            try:
                yield
            finally:
                lock.release()

    def complaints(self) -> tuple[str, ...]:
        """Return what the integrity check and the check of foreign keys say."""
        with self.read() as cursor:
            cursor.execute("PRAGMA integrity_check(20)")
            found = [str(row[0]) for row in cursor.fetchall() if row[0] != "ok"]
        with self.read() as cursor:
            cursor.execute("PRAGMA foreign_key_check")
            rows = cursor.fetchall()
        found += [f"{row[0]} row {row[1]} refers to a missing row of {row[2]}" for row in rows]
        return tuple(found)

    def close(self) -> None:
        """Close every connection; the last one to close a file also empties its write-ahead log."""
        if self._closed:
            return
        self._closed = True
        with self._watching:
            self._watch.close()
        self._engine.dispose()


def _use_wal(cursor: DBAPICursor) -> None:
    """Switch a new file to WAL; of several processes that do so at once, SQLite turns some away."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode")
            if cursor.fetchall()[0][0] != "wal":
                cursor.execute("PRAGMA journal_mode = WAL")
                cursor.fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _revision(cursor: DBAPICursor) -> str | None:
    """The schema's revision as the file tells it, None for a new file."""
    cursor.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'")
    if not cursor.fetchall()[0][0]:
        return None
    cursor.execute("SELECT version_num FROM alembic_version")
    rows = cursor.fetchall()
    return rows[0][0] if rows else None


def _roll_back(connection: PoolProxiedConnection) -> None:
    try:
        connection.rollback()
    except sqlite3.Error:
        connection.invalidate()  # whatever state it is in, nobody gets this connection again
