"""Alembic's entry: runs the migrations on the connection, and in the transaction, that it is given."""

from __future__ import annotations

from alembic import context

from hy_memory.ledger.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
