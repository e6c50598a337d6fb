"""The schema's two ways into being, made whole or migrated, and stores of other versions."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from hy_memory.clock import Clock
from hy_memory.errors import LedgerError
from hy_memory.ledger.migrate import MIGRATIONS
from hy_memory.ledger.open import FILE, open_ledger
from hy_memory.ledger.rows import record_row
from hy_memory.ledger.schema import METADATA, REVISION
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry, listed, updated
from hy_memory.values.record import Claimed, RecordClaim, RecordVersion


def _open(folder: Path) -> Ledger:
    return open_ledger(None, path=folder, clock=Clock())


def _statements(folder: Path) -> dict[str, str]:
    """What made each table and index, without differences in layout."""
    connection = sqlite3.connect(folder / FILE)
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {name: " ".join(sql.split()) for name, sql in rows}


def _alembic(folder: Path, step: Callable[[Config, str], None], revision: str) -> None:
    """Take a store to a revision, as Alembic's own command line would."""
    engine = create_engine(f"sqlite:///{folder / FILE}")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        step(config, revision)
    engine.dispose()


def _make_older(folder: Path) -> None:
    """A store that Alembic knows of, at its very first step: no migration has run yet."""
    folder.mkdir()
    connection = sqlite3.connect(folder / FILE)
    connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    connection.commit()
    connection.close()


def test_the_newest_revision_is_alembics_head() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


def test_migrations_lead_where_a_new_store_starts(tmp_path: Path) -> None:
    _open(tmp_path / "new").close()
    _make_older(tmp_path / "old")
    _open(tmp_path / "old").close()
    new, old = _statements(tmp_path / "new"), _statements(tmp_path / "old")
    assert {*METADATA.tables} <= set(new)
    for found in (new, old):
        found.pop("alembic_version")  # Alembic's own table, which the test made in its stead
    assert {name: _columns(sql) for name, sql in old.items()} == {n: _columns(sql) for n, sql in new.items()}


def _columns(sql: str) -> list[str]:
    """The parts of a CREATE statement; in which order constraints come says nothing."""
    return sorted(part.strip() for part in sql.replace("(", ",").replace(")", ",").split(","))


def test_alembic_finds_no_difference(tmp_path: Path) -> None:
    _open(tmp_path).close()
    engine = create_engine(f"sqlite:///{tmp_path / FILE}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_a_migrated_store_works_and_logging_is_untouched(tmp_path: Path) -> None:
    """A library configures no logger; migrating is no exception."""
    before = (logging.root.level, list(logging.root.handlers), logging.getLogger("alembic").level)
    _make_older(tmp_path / "old")
    ledger = _open(tmp_path / "old")
    ledger.insert([entry("a", "u")])
    assert listed(ledger, "u") == ["a"]
    assert ledger.delete(["a"]) == 1
    assert ledger.problems() == ()
    ledger.close()
    assert (logging.root.level, list(logging.root.handlers), logging.getLogger("alembic").level) == before


def test_a_store_without_claims_gets_room_for_them(tmp_path: Path) -> None:
    """0001 to 0002: what was stored stays as it was, claims nothing, and can claim from then on."""
    _open(tmp_path).close()
    _alembic(tmp_path, command.downgrade, "0001")
    assert "claims" not in _statements(tmp_path)["records"]
    connection = sqlite3.connect(tmp_path / FILE)
    old = entry("a", "u", "I live in Lyon").record
    row = record_row(old, 1, None)[:-3]  # without claims, part_of and position
    connection.execute(f"INSERT INTO records VALUES ({','.join('?' * len(row))})", row)
    connection.execute("INSERT INTO tallies VALUES ('u', 'l2_fact', 'active', 1)")
    connection.commit()
    connection.close()
    ledger = _open(tmp_path)
    assert ledger.records(["a"]) == {"a": old}
    assert ledger.claims("u") == ()
    claim = RecordClaim("location", "Oslo")
    ledger.replace(updated(entry("a", "u", claims=(claim,)), "I live in Oslo"), expected_version=1)
    assert ledger.claims("u") == (Claimed("a", DAY, (claim,)),)
    ledger.close()


def test_a_store_without_closings_gets_room_for_them(tmp_path: Path) -> None:
    """0002 to 0003: what was stored is a conversation from the start, and can be closed from then on."""
    ledger = _open(tmp_path)
    ledger.insert([entry("a", "u", "who?")])
    ledger.close()
    _alembic(tmp_path, command.downgrade, "0002")
    assert "closings" not in _statements(tmp_path)
    ledger = _open(tmp_path)
    assert [(turn.id, turn.asks) for turn in ledger.turns("u").turns] == [("a", True)]
    assert ledger.turns("u").closings == ()
    at = ledger.close_session("u", "default_agent", "default_session")
    assert [one.at for one in ledger.turns("u").closings] == [at]
    ledger.close()


def test_versions_of_before_know_their_text_alone(tmp_path: Path) -> None:
    """0003 to 0004: old versions stay as they were, new ones keep what came with the text."""
    ledger = _open(tmp_path)
    first = entry("a", "u", "one", tags=("x",), attributes={"n": 1}, context="cat", expires_at=DAY + 1)
    ledger.insert([first])
    ledger.close()
    _alembic(tmp_path, command.downgrade, "0003")
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("INSERT INTO versions VALUES ('a', 0, 'zero', NULL, 1.0, 2.0)")
    connection.commit()
    connection.close()
    ledger = _open(tmp_path)
    ledger.replace(updated(first, "two"), expected_version=1)
    one, zero = ledger.versions("a")
    assert zero == RecordVersion("a", 0, "zero", None, 1.0, 2.0)
    assert (one.content, one.tags, one.attributes, one.context, one.expires_at) == (
        "one",
        ("x",),
        {"n": 1},
        "cat",
        DAY + 1,
    )
    ledger.close()


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    ledger = _open(tmp_path)
    ledger.insert([entry("a", "u")])
    ledger.close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    with pytest.raises(LedgerError, match="newer version of hy_memory"):
        _open(tmp_path)
    assert connection.execute("SELECT id FROM records").fetchall() == [("a",)]
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    connection.close()


def test_migrations_can_be_undone(tmp_path: Path) -> None:
    """The way back empties the store of our tables, and the way forth makes them again."""
    _open(tmp_path).close()
    _alembic(tmp_path, command.downgrade, "base")
    assert set(_statements(tmp_path)) <= {"alembic_version", "sqlite_sequence"}
    _open(tmp_path).close()
    assert {*METADATA.tables} <= set(_statements(tmp_path))
