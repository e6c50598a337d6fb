"""By which digest words are recognised that are said again; what was stored before is not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "repeats",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("repeat_key", _KEY, primary_key=True),
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("repeats_by_record", "repeats", ["record_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("repeats")
