"""What a version had beside its text: tags, metadata, words for the keyword index, expiry.

Versions stored before know none of these.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COLUMNS = {"tags": sa.Text, "attributes": sa.Text, "context": sa.Text, "expires_at": sa.Double}


def upgrade() -> None:
    """Add the columns."""
    for name, kind in _COLUMNS.items():
        op.add_column("versions", sa.Column(name, kind))


def downgrade() -> None:
    """Drop them."""
    for name in _COLUMNS:
        op.drop_column("versions", name)
