"""What records claim of their user: a column, and an index of the records that have any.

Records stored before claim nothing until they are updated.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and its index."""
    op.add_column("records", sa.Column("claims", sa.Text))
    has_claims = sa.text("claims IS NOT NULL")
    op.create_index(
        "records_with_claims",
        "records",
        ["user_id", "id"],
        sqlite_where=has_claims,
        postgresql_where=has_claims,
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_index("records_with_claims", "records")
    op.drop_column("records", "claims")
