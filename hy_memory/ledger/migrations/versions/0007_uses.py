"""How much records matter by their use: rows that go with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "uses",
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("salience", sa.Double, nullable=False),
        sa.Column("salience_at", sa.Double, nullable=False),
        sa.Column("begun", sa.Double, nullable=False),
        sa.Column("sector", _KEY, nullable=False),
        sa.Column("used_at", sa.Double),
        sa.Column("uses", sa.BigInteger, nullable=False),
        sa.Column("restated", sa.BigInteger, nullable=False),
        sa.Column("pinned", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("uses_by_change", "uses", ["user_id", "changed_at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("uses")
