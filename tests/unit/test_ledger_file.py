"""The ledger's SQLite file: how it is opened, what can go wrong with it, and what its plans cost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hy_memory.clock import Clock
from hy_memory.errors import ConfigurationError, LedgerError, MissingExtraError
from hy_memory.filters.tree import Compare, Op
from hy_memory.ledger.open import FILE, open_ledger
from hy_memory.ledger.sqlite import SqliteDatabase
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, IDENTITY, entry, kept, listed, updated, whole
from hy_memory.testing.contracts.ledger_writing import outcome
from hy_memory.values.record import Status
from hy_memory.values.write import Entry, ListQuery


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = _open(tmp_path)
    yield opened
    opened.close()


def _open(folder: Path) -> Ledger:
    return open_ledger(None, path=folder, clock=Clock())


def _run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_file_is_where_it_was_asked_for(tmp_path: Path) -> None:
    _open(tmp_path / "new" / "folder").close()
    assert (tmp_path / "new" / "folder" / FILE).is_file()
    named = tmp_path / "named.db"
    open_ledger(f"sqlite:///{named}", path=tmp_path / "unused", clock=Clock()).close()
    assert named.is_file()
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize("url", ["mysql://localhost/x", "sqlite://", "sqlite:///:memory:", "no url"])
def test_a_url_that_cannot_be_meant(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        open_ledger(url, path=tmp_path, clock=Clock())


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C70: the import error says what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "hy_memory.ledger.postgres", raising=False)
    with pytest.raises(MissingExtraError, match=r"\[postgres\]"):
        open_ledger("postgresql://localhost/x", path=tmp_path, clock=Clock())


def test_synchronous_is_one_of_sqlites_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="FULL"):
        open_ledger(None, path=tmp_path, synchronous="full; DROP TABLE records", clock=Clock())
    open_ledger(None, path=tmp_path, synchronous="normal", clock=Clock()).close()


@pytest.mark.parametrize(("asked", "number"), [("FULL", 2), ("NORMAL", 1)])
def test_every_connection_is_set_up(tmp_path: Path, asked: str, number: int) -> None:
    database = SqliteDatabase(tmp_path / FILE, asked)
    expected = {"journal_mode": "wal", "synchronous": number, "foreign_keys": 1, "secure_delete": 1}
    with database.write() as first, database.read() as second:
        for cursor in (first, second):
            for name, value in {**expected, "busy_timeout": 30_000}.items():
                cursor.execute(f"PRAGMA {name}")
                assert cursor.fetchall() == [(value,)]
    database.close()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """C66: whatever was planted there is not read, and not overwritten."""
    (tmp_path / FILE).write_bytes(b"\x80\x04pickle, not a database" * 50)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(LedgerError, match="no SQLite database"):
        _open(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("CREATE TABLE records (mine)")
        other.execute("INSERT INTO records VALUES ('precious')")
    other.close()
    with pytest.raises(LedgerError, match="records"):
        _open(tmp_path)
    check = sqlite3.connect(tmp_path / FILE)
    assert check.execute("SELECT * FROM records").fetchall() == [("precious",)]
    assert check.execute("SELECT name FROM sqlite_master").fetchall() == [("records",)]
    check.close()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerError, match="folder"):
        _open(tmp_path / "file" / "folder")


def test_a_read_only_store_says_so(ledger: Ledger, tmp_path: Path) -> None:
    """A user without the right to write is told which right is missing."""
    ledger.insert([entry("a", "u")])
    script = """
        import os, sys
        from pathlib import Path
        from hy_memory.clock import Clock
        from hy_memory.errors import LedgerError
        from hy_memory.ledger.open import open_ledger
        from hy_memory.testing.contracts.ledger_rows import entry
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            open_ledger(None, path=Path(sys.argv[1]), clock=Clock()).insert([entry("b", "u")])
        except LedgerError as error:
            print(error)
    """
    for part in tmp_path.iterdir():
        part.chmod(0o444)
    # pytest's own folders, which nobody else may enter; one more of them where it runs in parallel
    folders = [tmp_path, *(one for one in tmp_path.parents if one.name.startswith(("pytest-", "popen-")))]
    modes = [folder.stat().st_mode for folder in folders]
    try:
        tmp_path.chmod(0o555)
        for folder in folders[1:]:
            folder.chmod(0o755)
        result = _run(script, tmp_path)
    finally:
        for folder, mode in zip(folders, modes, strict=True):
            folder.chmod(mode)
    assert "read-only" in result.stdout, result.stderr
    assert listed(ledger, "u") == ["a"]


def test_a_full_disk_stores_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """The write fails as a whole, with what to do; what was there is readable, and writing works again."""
    ledger.insert([entry("a", "u")])
    script = """
        import resource, signal, sys
        from pathlib import Path
        from hy_memory.clock import Clock
        from hy_memory.errors import LedgerError
        from hy_memory.ledger.open import open_ledger
        from hy_memory.testing.contracts.ledger_rows import entry, listed
        ledger = open_ledger(None, path=Path(sys.argv[1]), clock=Clock())
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
        try:
            ledger.insert([entry(f"b{number}", "u", "long " * 500) for number in range(2000)])
        except LedgerError as error:
            print(error)
        print(listed(ledger, "u"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ledger.insert([entry("c", "u")])
        print(listed(ledger, "u"), ledger.problems())
    """
    result = _run(script, tmp_path)
    said, during, after = result.stdout.strip().splitlines()
    assert "disk" in said, result.stderr
    assert (during, after) == ("['a']", "['a', 'c'] ()")
    assert listed(ledger, "u") == ["a", "c"]


def test_a_lock_that_is_held_too_long_is_named(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C46: reading goes on meanwhile; the writer learns who is in the way and what to do."""
    ledger.insert([entry("a", "u")])
    monkeypatch.setattr("hy_memory.ledger.sqlite.PATIENCE", 0.2)
    hurried = _open(tmp_path)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert listed(hurried, "u") == ["a"]
    with pytest.raises(LedgerError, match="another process"):
        hurried.insert([entry("b", "u")])
    other.execute("ROLLBACK")
    other.close()
    hurried.insert([entry("c", "u")])
    assert listed(hurried, "u") == ["a", "c"]
    hurried.close()


def test_a_damaged_file_is_found_out(tmp_path: Path) -> None:
    ledger = _open(tmp_path)
    ledger.insert([entry(f"{number:04}", "u", "text " * 50) for number in range(500)])
    ledger.close()
    with (tmp_path / FILE).open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size // 2)
        file.write(b"\xff" * 40_000)
    again = _open(tmp_path)
    try:
        found = again.problems()
    except LedgerError as error:
        found = (str(error),)
    assert found
    again.close()


def test_contradicting_rows_are_found(ledger: Ledger, tmp_path: Path) -> None:
    """What another tool did to the file behind the ledger's back is told kind by kind."""
    ledger.insert([entry(name, "u") for name in "abcdef"])
    ledger.replace(updated(entry("b", "u"), "new"), expected_version=1)
    ledger.bind_embedder(IDENTITY)
    assert ledger.problems() == ()
    with sqlite3.connect(tmp_path / FILE, isolation_level=None) as other:
        other.execute("DELETE FROM records WHERE id IN ('a', 'b')")
        other.execute("DELETE FROM vectors WHERE record_id = 'c'")
        other.execute("UPDATE vectors SET vector = x'00000000' WHERE record_id = 'd'")
        other.execute("DELETE FROM changes WHERE record_id = 'e'")
        other.execute("UPDATE vectors SET user_id = 'v' WHERE record_id = 'f'")
    other.close()
    found = "\n".join(ledger.problems())
    for part in (
        "2 vectors without a record: 'a', 'b'",
        "1 versions without a record: 'b'",
        "1 searchable memories without a vector: 'c'",
        "1 vectors of another length than the embedder's: 'd'",
        "1 memories that the change log does not know: 'e'",
        "1 vectors filed under another user than their record: 'f'",
        "1 users with wrong tallies: 'u'",
        "refers to a missing row of records",
    ):
        assert part in found


def test_dangling_links_are_problems(ledger: Ledger) -> None:
    """A chain is linked both ways, within one user, and every status says what the links say."""
    ledger.insert([entry("a", "u"), entry("half", "u", supersedes="a"), kept("raw", "u")])
    ledger.insert([entry("alone", "u", status=Status.SUPERSEDED)])
    ledger.insert([entry("gone", "u", status=Status.SUPERSEDED, superseded_by="none")])
    ledger.insert([entry("mine", "u", status=Status.SUPERSEDED, superseded_by="theirs")])
    ledger.insert([entry("theirs", "v", supersedes="mine")])
    ledger.insert([entry("old", "w", superseded_by="new"), entry("new", "w", supersedes="old")])
    assert ledger.problems() == (
        "4 superseded memories without the one that took their place: 'alone', 'gone', 'mine', 'old'",
        "2 memories without the one whose place they took: 'half', 'theirs'",
    )
    assert ledger.delete(["gone", "mine", "alone", "old", "new", "half", "theirs"]) == 7
    assert ledger.problems() == ()


def test_a_superseded_record_without_a_vector_is_a_problem(ledger: Ledger) -> None:
    """It is searched under a source filter."""
    ledger.insert([Entry(entry("a", "u").record)])
    ledger.insert([replace(entry("b", "u"), supersedes="a")])
    assert ledger.problems() == ("1 searchable memories without a vector: 'a'",)


def test_nul_is_a_character(ledger: Ledger) -> None:
    """C33: SQLite holds it in a text, where comparing does not stop at it."""
    ledger.insert([entry("a", "u", "x\0y", source="s\0t"), entry("b", "u", source="s\0v")])
    assert ledger.records(["a"])["a"].content == "x\0y"
    assert listed(ledger, "u", Compare("source", Op.EQ, "s\0t")) == ["a"]
    assert listed(ledger, "u", Compare("source", Op.EQ, "s")) == []


def test_a_deleted_text_is_in_no_file(tmp_path: Path) -> None:
    """Deleted means overwritten: after closing, the folder does not hold the text any more."""
    secret = "the code is 4711-violet"
    ledger = _open(tmp_path)
    first = entry("a", "u", secret)
    ledger.insert([first, entry("b", "u", "harmless")])
    ledger.replace(updated(first, secret + ", still"), expected_version=1)
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() in held
    ledger.delete(["a"])
    ledger.close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in held
    assert b"harmless" in held


def test_a_user_who_left_leaves_changes_alone(ledger: Ledger, tmp_path: Path) -> None:
    """C79: of a user whose everything was deleted no table keeps a row but the change log, without text."""
    first = entry("a", "u")
    ledger.insert([first, kept("raw", "u")], outcome("u", "q", "a"))
    ledger.replace(updated(first, "new"), expected_version=1)
    ledger.delete_all(whole("u"))
    with sqlite3.connect(tmp_path / FILE) as file:
        for table in ("records", "vectors", "versions", "tallies", "outcomes"):
            assert file.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)], table
        assert file.execute("SELECT count(*) FROM changes").fetchall() == [(5,)]
    file.close()


_QUESTIONS = (
    "records_by_ids points_by_user points_by_ids any_change_of_user changes_of_user log history_of_user"
    " history_of_record counts outcome outcome_of_anybody versions_of head doomed texts_of delete_records"
    " last_seq cursor meta claims_of_user"
)


def test_every_question_has_an_index(tmp_path: Path) -> None:
    """What one user asks does not cost more because others store more: no scan, no sort."""
    database = SqliteDatabase(tmp_path / FILE, "FULL")
    asked = {name: getattr(database.statements, name) for name in _QUESTIONS.split(" ")}
    with database.read() as cursor:
        for name, prepared in asked.items():
            values = dict.fromkeys(prepared.names, "[]") | prepared.bound
            bound = tuple("[]" if values[one] is None else values[one] for one in prepared.names)
            cursor.execute(f"EXPLAIN QUERY PLAN {prepared.sql}", bound)
            steps = [row[3] for row in cursor.fetchall()]
            scans = [step for step in steps if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
            assert scans == [], (name, steps)
            sorts = [step for step in steps if "TEMP B-TREE" in step]
            assert sorts == [] or name == "outcome_of_anybody", (name, steps)
    database.close()


def test_claims_are_read_without_the_records_that_have_none(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / FILE, "FULL")
    prepared = database.statements.claims_of_user
    with database.read() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {prepared.sql}", prepared.bind(user_id="u"))
        (step,) = [row[3] for row in cursor.fetchall()]
    assert "records_with_claims" in step
    database.close()


def test_a_page_costs_the_same_however_much_there_is(ledger: Ledger) -> None:
    """Counted in SQLite's own steps: page 1 and its total with 100 and with 20,000 memories."""
    ledger.insert([entry(f"few-{number:05}", "few", created_at=DAY + number) for number in range(100)])
    ledger.insert([entry(f"many-{number:05}", "many", created_at=DAY + number) for number in range(20_000)])
    steps = {user_id: _steps(ledger, user_id) for user_id in ("few", "many")}
    assert steps["many"] <= steps["few"] * 1.1 + 50


def _steps(ledger: Ledger, user_id: str) -> int:
    """Virtual machine instructions of one page, in units of ten."""
    database = ledger._database  # type: ignore[attr-defined]
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with database.read() as cursor:
        cursor.connection.set_progress_handler(count, 10)
        connection = cursor.connection
    assert ledger.page(whole(user_id), ListQuery(20, 0, ascending=False)).records != ()
    connection.set_progress_handler(None, 0)
    assert counted > 0
    return counted
