"""The first schema.

A migration is history: it spells its tables out, and does not change when `schema.py` does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create every table."""
    _records()
    _vectors()
    _versions()
    _changes()
    _bookkeeping()


def downgrade() -> None:
    """Drop every table."""
    for name in ("meta", "projections", "outcomes", "tallies", "changes", "versions", "vectors", "records"):
        op.drop_table(name)


def _records() -> None:
    op.create_table(
        "records",
        sa.Column("id", _KEY, primary_key=True),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("agent_id", _KEY, nullable=False),
        sa.Column("session_id", _KEY, nullable=False),
        sa.Column("source", _KEY, nullable=False),
        sa.Column("layer", _KEY, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("attributes", sa.Text, nullable=False),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("memory_at", sa.Double),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("supersedes", _KEY),
        sa.Column("superseded_by", _KEY),
        sa.Column("evidence_ids", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("request_id", _KEY),
    )
    op.create_index("records_by_time", "records", ["user_id", "created_at", "id"])
    op.create_index("records_by_session", "records", ["user_id", "session_id", "created_at", "id"])


def _vectors() -> None:
    op.create_table(
        "vectors",
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("term_ids", sa.LargeBinary, nullable=False),
        sa.Column("term_weights", sa.LargeBinary, nullable=False),
    )
    op.create_index("vectors_by_user", "vectors", ["user_id"])


def _versions() -> None:
    op.create_table(
        "versions",
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("memory_at", sa.Double),
        sa.Column("recorded_at", sa.Double, nullable=False),
        sa.Column("replaced_at", sa.Double, nullable=False),
    )


def _changes() -> None:
    op.create_table(
        "changes",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("record_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("changes_by_user", "changes", ["user_id", "seq"])
    op.create_index("changes_by_record", "changes", ["record_id", "seq"])


def _bookkeeping() -> None:
    op.create_table(
        "tallies",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("layer", _KEY, primary_key=True),
        sa.Column("status", _KEY, primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outcomes",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("request_id", _KEY, primary_key=True),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("memory_ids", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.Double, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("outcomes_by_request", "outcomes", ["request_id"])
    op.create_table(
        "projections",
        sa.Column("name", _KEY, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "meta",
        sa.Column("name", _KEY, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
