"""What coding sessions did to files: a table of its own, whose rows go with raw turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_PLACE = ("user_id", "workspace", "branch")


def upgrade() -> None:
    """Create it."""
    op.create_table(
        "edits",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("record_id", _KEY, sa.ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("workspace", _KEY, nullable=False),
        sa.Column("branch", _KEY, nullable=False),
        sa.Column("path", _KEY, nullable=False),
        sa.Column("old_path", _KEY),
        sa.Column("source", _KEY, nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("pieces", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("edits_by_record", "edits", ["record_id", "seq"])
    op.create_index("edits_by_path", "edits", [*_PLACE, "path", "seq"])
    op.create_index("edits_by_old_path", "edits", [*_PLACE, "old_path", "seq"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("edits")
