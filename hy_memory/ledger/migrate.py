"""Bringing a store's schema up to date: a new one is made whole and stamped, an older one is migrated.

Alembic takes longer to import than a client takes to open; so it is imported for an older store only.
That the two ways lead to the same schema is held by a test.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from hy_memory.errors import LedgerError
from hy_memory.ledger.schema import METADATA, REVISION, STAMP, alembic_version

MIGRATIONS = Path(__file__).parent / "migrations"


def bring_up_to_date(connection: Connection) -> None:
    """Create or migrate the tables inside the caller's transaction, which holds the write lock."""
    if not inspect(connection).has_table(alembic_version.name):
        METADATA.create_all(connection, checkfirst=False)
        STAMP.create_all(connection, checkfirst=False)
        connection.execute(insert(alembic_version).values(version_num=REVISION))
        return
    revision = connection.execute(select(alembic_version.c.version_num)).scalar_one_or_none()
    if revision != REVISION:
        _upgrade(connection, revision)


def _upgrade(connection: Connection, revision: str | None) -> None:
    from alembic import command  # costs 0.2 s, and hardly ever needed: see above
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise LedgerError(
            f"this store was made by a newer version of hy_memory (its schema is {revision!r}, the newest"
            f" one known here is {REVISION!r}): upgrade hy_memory, or open another data folder"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
