"""The ledger's tables: one schema for SQLite and PostgreSQL.

Text lives in `records.content`, `records.context`, `records.claims`, `versions.content`,
`versions.context`, `edits.words`, `edits.pieces`, `edits.content` (by zlib), the names and values
of `facts` and, where a writer put it there, `outcomes.answer`; nothing else holds any. JSON is kept
as ASCII text, so that both engines give back exactly what was stored, whatever characters or numbers it
holds.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

REVISION = "0011"
"""The newest migration; a test holds it equal to Alembic's own head."""

METADATA = MetaData()
STAMP = MetaData()
"""Alembic's own table, declared so that a new store can be stamped without importing Alembic."""

_HAS_CLAIMS = text("claims IS NOT NULL")
_IS_PART = text("part_of IS NOT NULL")

KEY = Text().with_variant(Text(collation="C"), "postgresql")
"""Ids and names. "C" makes PostgreSQL order them by code point, as SQLite and Python do."""
SEQUENCE = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only where the type is spelled INTEGER."""

records = Table(
    "records",
    METADATA,
    Column("id", KEY, primary_key=True),
    Column("user_id", KEY, nullable=False),
    Column("content", Text, nullable=False),
    Column("agent_id", KEY, nullable=False),
    Column("session_id", KEY, nullable=False),
    Column("source", KEY, nullable=False),
    Column("layer", KEY, nullable=False),
    Column("owner", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("attributes", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("memory_at", Double),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("status", KEY, nullable=False),
    Column("supersedes", KEY),
    Column("superseded_by", KEY),
    Column("evidence_ids", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("request_id", KEY),  # the request that made it, to find an outcome that may quote its text
    Column("claims", Text),  # NULL where there are none, which is nearly everywhere
    Column("part_of", KEY),  # the record that holds all of a long text; NULL for all but its sections
    Column("position", BigInteger),
    Index("records_by_time", "user_id", "created_at", "id"),
    Index("records_by_session", "user_id", "session_id", "created_at", "id"),
    Index("records_by_root", "part_of", sqlite_where=_IS_PART, postgresql_where=_IS_PART),
    Index(  # the few that a profile is made of: it costs the same however much else the user has
        "records_with_claims", "user_id", "id", sqlite_where=_HAS_CLAIMS, postgresql_where=_HAS_CLAIMS
    ),
)

vectors = Table(  # apart from records, so that pages and counts do not drag 1.5 kB along for each row
    "vectors",
    METADATA,
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", KEY, nullable=False),
    Column("vector", LargeBinary, nullable=False),  # little-endian float32 (dims,)
    Column("term_ids", LargeBinary, nullable=False),  # little-endian uint32 (n,)
    Column("term_weights", LargeBinary, nullable=False),  # little-endian float32 (n,)
    Index("vectors_by_user", "user_id"),
)

versions = Table(
    "versions",
    METADATA,
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("content", Text, nullable=False),
    Column("memory_at", Double),
    Column("recorded_at", Double, nullable=False),
    Column("replaced_at", Double, nullable=False),
    Column("tags", Text),  # NULL, as is all that follows, in versions of before 0004
    Column("attributes", Text),
    Column("context", Text),
    Column("expires_at", Double),
)

changes = Table(
    "changes",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("user_id", KEY, nullable=False),
    Column("record_id", KEY, nullable=False),  # no foreign key: a change outlives its record
    Column("kind", KEY, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Index("changes_by_user", "user_id", "seq"),
    Index("changes_by_record", "record_id", "seq"),
    sqlite_autoincrement=True,  # a number is never given out twice, also when the last rows are gone
)

tallies = Table(  # how many records there are, kept by every write: a page's total never counts rows
    "tallies",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("layer", KEY, primary_key=True),
    Column("status", KEY, primary_key=True),
    Column("amount", BigInteger, nullable=False),
    sqlite_with_rowid=False,  # small rows, found by their key alone: one tree to write instead of two
)

outcomes = Table(
    "outcomes",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("request_id", KEY, primary_key=True),
    Column("content_hash", Text, nullable=False),
    Column("memory_ids", Text, nullable=False),
    Column("recorded_at", Double, nullable=False),
    Column("answer", Text, nullable=False),
    Index("outcomes_by_request", "request_id"),
    sqlite_with_rowid=False,
)

closings = Table(  # where callers said that a session ended
    "closings",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("agent_id", KEY, primary_key=True),
    Column("session_id", KEY, primary_key=True),
    Column("at", Double, primary_key=True),
    sqlite_with_rowid=False,
)

edits = Table(  # what coding sessions did to files; a row goes with the raw turn that it was read from
    "edits",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", KEY, nullable=False),
    Column("workspace", KEY, nullable=False),  # "" where none was named, as of the branch
    Column("branch", KEY, nullable=False),
    Column("path", KEY, nullable=False),
    Column("old_path", KEY),
    Column("source", KEY, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("words", Text, nullable=False),
    Column("pieces", Text, nullable=False),
    Column("content", LargeBinary),  # NULL where it is not known, empty where the file is gone
    Column("at", Double, nullable=False),
    Index("edits_by_record", "record_id", "seq"),
    Index("edits_by_path", "user_id", "workspace", "branch", "path", "seq"),
    Index("edits_by_old_path", "user_id", "workspace", "branch", "old_path", "seq"),
    sqlite_autoincrement=True,  # the order of edits stays what it was, whatever was deleted
)

extractions = Table(  # raw exchanges that wait for a language model; a row goes with its exchange
    "extractions",
    METADATA,
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", KEY, nullable=False),
    Column("attempts", BigInteger, nullable=False),
    Column("error", Text, nullable=False),
    Column("due_at", Double, nullable=False),
    Index("extractions_by_due", "due_at", "record_id"),
    Index("extractions_by_user", "user_id", "due_at", "record_id"),
    sqlite_with_rowid=False,
)

uses = Table(  # how much records matter by their use; a row goes with its record, and most have none
    "uses",
    METADATA,
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", KEY, nullable=False),
    Column("salience", Double, nullable=False),
    Column("salience_at", Double, nullable=False),
    Column("begun", Double, nullable=False),
    Column("sector", KEY, nullable=False),
    Column("used_at", Double),
    Column("uses", BigInteger, nullable=False),
    Column("restated", BigInteger, nullable=False),
    Column("pinned", BigInteger, nullable=False),
    Column("changed_at", Double, nullable=False),
    Index("uses_by_change", "user_id", "changed_at"),
    sqlite_with_rowid=False,
)

repeats = Table(  # how words are recognised that are said again; a row goes with its record
    "repeats",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("repeat_key", KEY, primary_key=True),  # a digest: it tells nothing of the text
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Index("repeats_by_record", "record_id"),
    sqlite_with_rowid=False,
)

likenesses = Table(  # how near-duplicates are found: four rows for a record, which go with it
    "likenesses",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("place", KEY, primary_key=True),  # the digest of a frame, and a band of the simhash
    Column("record_id", KEY, ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("bits", BigInteger, nullable=False),  # the simhash, as a signed number
    Index("likenesses_by_record", "record_id"),
    sqlite_with_rowid=False,
)

facts = Table(  # temporal facts: rows are closed, never changed otherwise, and go with their user
    "facts",
    METADATA,
    Column("row_id", KEY, primary_key=True),
    Column("fact_id", KEY, nullable=False),
    Column("user_id", KEY, nullable=False),
    Column("subject", Text, nullable=False),
    Column("subject_key", KEY, nullable=False),
    Column("predicate", KEY, nullable=False),
    Column("object", Text, nullable=False),
    Column("object_key", KEY, nullable=False),
    Column("valid_from", Double, nullable=False),
    Column("valid_to", Double),
    Column("recorded_from", Double, nullable=False),
    Column("recorded_to", Double),
    Column("confidence", Double, nullable=False),
    Column("source", KEY, nullable=False),
    Column("memory_id", KEY, ForeignKey("records.id", ondelete="SET NULL")),
    Index("facts_by_subject", "user_id", "subject_key", "predicate"),
    Index("facts_by_memory", "memory_id"),
    sqlite_with_rowid=False,
)

fact_aliases = Table(
    "fact_aliases",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("alias_key", KEY, primary_key=True),
    Column("entity_key", KEY, nullable=False),
    sqlite_with_rowid=False,
)

fact_predicates = Table(
    "fact_predicates",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("predicate", KEY, primary_key=True),
    Column("is_multi", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

fact_relations = Table(
    "fact_relations",
    METADATA,
    Column("user_id", KEY, primary_key=True),
    Column("from_id", KEY, primary_key=True),
    Column("to_id", KEY, primary_key=True),
    Column("kind", KEY, primary_key=True),
    Column("recorded_at", Double, nullable=False),
    sqlite_with_rowid=False,
)

projections = Table(
    "projections",
    METADATA,
    Column("name", KEY, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

meta = Table(
    "meta",
    METADATA,
    Column("name", KEY, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

alembic_version = Table("alembic_version", STAMP, Column("version_num", String(32), primary_key=True))
