"""PostgreSQL as the ledger's engine: many machines, one change log in commit order.

Sequence numbers are drawn inside transactions, so without care number 7 could be committed before 6 and
a reader that has seen 7 would never look for 6 again. Every write therefore takes one advisory lock
before it draws a number, and the server gives the lock back after the commit can be seen.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import psycopg
from sqlalchemy import (
    ARRAY,
    URL,
    ColumnElement,
    PoolProxiedConnection,
    Text,
    any_,
    bindparam,
    create_engine,
    event,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Engine
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError

from hy_memory.errors import ClosedError, LedgerError
from hy_memory.ledger.migrate import bring_up_to_date
from hy_memory.ledger.schema import REVISION
from hy_memory.ledger.statements import Statements

SCHEMA = "hy_memory"
"""The schema that holds the tables, so that a database can be shared with other applications."""
_PATIENCE = "30s"  # for another process's write: longer than any bulk insert, short enough to be noticed
_KEPT_OPEN = 16  # connections that stay open between calls; one thread needs one

_ADVICE = {
    "08": "the connection was lost; the next call opens a new one",
    "22": "PostgreSQL cannot hold such a value",
    "23": "a row like this is stored already, or refers to one that is not",
    "28": "check user and password in the ledger's URL",
    "3D": "create the database, or name another one in the ledger's URL",
    "42": "the user may not use or create the schema; grant it CREATE on the database",
    "53": "the server is out of disk, memory or connections; nothing was stored",
    "55": f"another process has been writing for {_PATIENCE}; end it, or try again later",
    "57": "the server is stopping; try again when it is up",
}
"""What to do, by class of SQLSTATE."""


def is_among(column: ColumnElement[Any], name: str, packed: object = None) -> ColumnElement[bool]:
    """Return that `column` is an element of the array bound under `name` (now, or when it runs)."""
    return column == any_(bindparam(name, packed, type_=ARRAY(Text), required=packed is None))


def _lock_key(name: str) -> int:
    """The 64-bit key of an advisory lock."""
    return int.from_bytes(blake2b(f"{SCHEMA}.{name}".encode(), digest_size=8).digest(), "big", signed=True)


class PostgresDatabase:
    """One PostgreSQL database, its schema made or brought up to date when it is opened.

    Feeding holds a lock of the session: a pooler in between must pool sessions, not transactions.
    """

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql+psycopg")
        self._closed = False
        self._writing = threading.Lock()  # threads queue here, each with no connection of its own
        self._feeding: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._write_key = _lock_key("write")
        self._engine = self._make_engine()
        self.statements = Statements(self._engine.dialect, insert, is_among)
        try:
            with self._translated():
                self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def _make_engine(self) -> Engine:
        engine = create_engine(
            self._url,
            paramstyle="format",
            isolation_level="AUTOCOMMIT",  # a single read needs no BEGIN; the contexts below say theirs
            pool_size=_KEPT_OPEN,
            max_overflow=-1,
            pool_use_lifo=True,
            pool_reset_on_return=None,
        )
        event.listen(engine, "connect", _set_up)
        return engine

    def _prepare(self) -> None:
        with self._engine.connect() as connection:
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
            if encoding != "UTF8":
                raise LedgerError(f"{self._name()}: a database in {encoding}; create it with UTF8")
            table = f"{SCHEMA}.alembic_version"
            if connection.exec_driver_sql("SELECT to_regclass(%s)", (table,)).scalar_one() is not None:
                revision = connection.exec_driver_sql(f"SELECT version_num FROM {table}").scalar_one_or_none()
                if revision == REVISION:
                    return
            connection.exec_driver_sql("BEGIN")
            try:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (self._write_key,))
                connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                bring_up_to_date(connection)
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise

    def _name(self) -> str:
        return self._url.set(drivername="postgresql").render_as_string(hide_password=True)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (psycopg.Error, DBAPIError, OverflowError, UnicodeEncodeError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            state = getattr(cause, "sqlstate", None)
            lost = state is None and isinstance(cause, psycopg.OperationalError)
            advice = _ADVICE.get("08" if lost else (state or "")[:2], "")
            said = str(cause).strip()
            raise LedgerError(f"{self._name()}: {said}" + (f": {advice}" if advice else "")) from error

    @contextmanager
    def _checkout(self) -> Generator[PoolProxiedConnection]:
        if self._closed:
            raise ClosedError()
        with self._translated():
            connection = self._engine.raw_connection()
            try:
                yield connection
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                if connection.is_valid and _is_lost(connection):
                    connection.invalidate()
                    self._engine.dispose()  # what cut this one has cut those in the pool as well
                connection.close()

    @contextmanager
    def read(self) -> Generator[DBAPICursor]:
        """Return a cursor for one statement."""
        with self._checkout() as connection:
            yield connection.cursor(binary=True)  # vectors come as they are, not in hexadecimal

    @contextmanager
    def snapshot(self) -> Generator[DBAPICursor]:
        """Return a cursor for several statements."""
        with self._checkout() as connection:
            cursor = connection.cursor(binary=True)
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield cursor
            cursor.execute("COMMIT")

    @contextmanager
    def write(self) -> Generator[DBAPICursor]:
        """Return a cursor inside the writing transaction.

        READ COMMITTED: what the statements see is newer than the lock, and so complete.
        """
        with self._writing, self._checkout() as connection:
            cursor = connection.cursor(binary=True)
            cursor.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (self._write_key,))
            yield cursor
            cursor.execute("COMMIT")

    def pack(self, values: Sequence[str]) -> object:
        """Return `values` as an array."""
        return list(values)

    def freshness(self) -> int:
        """Return the newest sequence number: numbers are committed in their order."""
        with self.read() as cursor:
            cursor.execute(self.statements.last_seq.sql)
            return cursor.fetchall()[0][0] or 0

    @contextmanager
    def feeding(self, projection: str) -> Generator[None]:
        """Hold an advisory lock of one session."""
        key = _lock_key(f"feeding.{projection}")
        with self._feeding[projection], self._checkout() as connection:
            cursor = connection.cursor()
            cursor.execute("SET lock_timeout = 0")  # a rebuild may rightly take longer than any write
            cursor.execute("SELECT pg_advisory_lock(%s)", (key,))
            try:
                yield
            finally:
                if not _is_lost(connection):
                    cursor.execute("SELECT pg_advisory_unlock(%s)", (key,))
                    cursor.execute(f"SET lock_timeout = '{_PATIENCE}'")

    def complaints(self) -> tuple[str, ...]:
        """Return nothing: the server checks its pages as it reads them, and raises."""
        return ()

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        self._engine.dispose()


def _set_up(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET search_path TO {SCHEMA}")
    cursor.execute(f"SET lock_timeout = '{_PATIENCE}'")
    cursor.close()


def _is_lost(connection: PoolProxiedConnection) -> bool:
    return bool(getattr(connection.driver_connection, "closed", True))


def _roll_back(connection: PoolProxiedConnection) -> None:
    if not _is_lost(connection):
        try:
            connection.rollback()
        except psycopg.Error:
            connection.invalidate()
