"""Temporal facts, with what users declared of names and predicates, and ties between facts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "facts",
        sa.Column("row_id", _KEY, primary_key=True),
        sa.Column("fact_id", _KEY, nullable=False),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("subject_key", _KEY, nullable=False),
        sa.Column("predicate", _KEY, nullable=False),
        sa.Column("object", sa.Text, nullable=False),
        sa.Column("object_key", _KEY, nullable=False),
        sa.Column("valid_from", sa.Double, nullable=False),
        sa.Column("valid_to", sa.Double),
        sa.Column("recorded_from", sa.Double, nullable=False),
        sa.Column("recorded_to", sa.Double),
        sa.Column("confidence", sa.Double, nullable=False),
        sa.Column("source", _KEY, nullable=False),
        sa.Column("memory_id", _KEY, sa.ForeignKey("records.id", ondelete="SET NULL")),
        sqlite_with_rowid=False,
    )
    op.create_index("facts_by_subject", "facts", ["user_id", "subject_key", "predicate"])
    op.create_index("facts_by_memory", "facts", ["memory_id"])
    op.create_table(
        "fact_aliases",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("alias_key", _KEY, primary_key=True),
        sa.Column("entity_key", _KEY, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_predicates",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("predicate", _KEY, primary_key=True),
        sa.Column("is_multi", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_relations",
        sa.Column("user_id", _KEY, primary_key=True),
        sa.Column("from_id", _KEY, primary_key=True),
        sa.Column("to_id", _KEY, primary_key=True),
        sa.Column("kind", _KEY, primary_key=True),
        sa.Column("recorded_at", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("fact_relations", "fact_predicates", "fact_aliases", "facts"):
        op.drop_table(name)
