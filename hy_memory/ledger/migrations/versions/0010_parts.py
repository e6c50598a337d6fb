"""Sections of long texts: which record holds all of it, and where in it they stand."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_IS_PART = sa.text("part_of IS NOT NULL")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("records", sa.Column("part_of", _KEY))
    op.add_column("records", sa.Column("position", sa.BigInteger))
    op.create_index(
        "records_by_root", "records", ["part_of"], sqlite_where=_IS_PART, postgresql_where=_IS_PART
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("records_by_root", "records")
    op.drop_column("records", "position")
    op.drop_column("records", "part_of")
