"""Where callers said that a session ended: a table of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create it."""
    op.create_table(
        "closings",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("agent_id", _KEY, primary_key=True),
        sa.Column("session_id", _KEY, primary_key=True),
        sa.Column("at", sa.Double, primary_key=True),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("closings")
