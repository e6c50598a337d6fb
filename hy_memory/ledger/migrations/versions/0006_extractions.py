"""Raw exchanges that wait for a language model: a queue whose rows go with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create it."""
    op.create_table(
        "extractions",
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("attempts", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("due_at", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("extractions_by_due", "extractions", ["due_at", "record_id"])
    op.create_index("extractions_by_user", "extractions", ["user_id", "due_at", "record_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("extractions")
