"""From a URL to an open ledger: the one place that knows which engines there are."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from hy_memory.clock import Clock
from hy_memory.errors import ConfigurationError, MissingExtraError
from hy_memory.ledger.sqlite import SqliteDatabase
from hy_memory.ledger.store import SqlLedger
from hy_memory.ports import Ledger

FILE = "ledger.sqlite3"
"""The ledger's name in a data folder."""
_FIX = "use sqlite:///path/to/ledger.sqlite3 or postgresql://user:password@host/database"


def open_ledger(url: str | None, *, path: Path, synchronous: str = "FULL", clock: Clock) -> Ledger:
    """Open the ledger at `url`, or the SQLite file in the folder `path` where there is none; made if new.

    `synchronous` is SQLite's own setting: with FULL an acknowledged write survives a power cut, with NORMAL
    it survives the end of the process only. Raises LedgerError where the store cannot be opened,
    ConfigurationError for a URL that names no known engine, MissingExtraError without the driver.
    """
    if url is None:
        return SqlLedger(SqliteDatabase(path / FILE, synchronous), clock)
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigurationError(f"the ledger's URL cannot be read: {_FIX}") from error
    engine = parsed.get_backend_name()
    if engine == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise ConfigurationError(f"a ledger in memory would be lost and cannot be shared: {_FIX}")
        return SqlLedger(SqliteDatabase(Path(parsed.database), synchronous), clock)
    if engine == "postgresql":
        try:
            from hy_memory.ledger.postgres import PostgresDatabase  # loaded by name: needs the extra's driver
        except ImportError as error:
            raise MissingExtraError("postgres", "psycopg") from error
        return SqlLedger(PostgresDatabase(parsed), clock)
    raise ConfigurationError(f"the ledger cannot live in {engine!r}: {_FIX}")
