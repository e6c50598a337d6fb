"""How near-duplicates are found, where they are merged; what was stored before is not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "likenesses",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("place", _KEY, primary_key=True),
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("bits", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("likenesses_by_record", "likenesses", ["record_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("likenesses")
