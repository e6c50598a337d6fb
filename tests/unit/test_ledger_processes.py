"""Several processes on one SQLite ledger: the first opening, kills, freshness, and the cost of opening."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

from hy_memory.clock import Clock
from hy_memory.ledger.open import open_ledger
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import entry, listed

_KILLS = 15
_OPEN = """
    import sys
    from pathlib import Path
    from hy_memory.clock import Clock
    from hy_memory.ledger.open import open_ledger
    ledger = open_ledger(None, path=Path(sys.argv[1]), clock=Clock())
"""
_WRITE_FOREVER = """
    from dataclasses import replace
    from hy_memory.testing.contracts.ledger_rows import entry, kept, updated
    from hy_memory.testing.contracts.ledger_writing import outcome
    for number in range(1_000_000):
        name = f"{sys.argv[2]}/{number}"
        first = entry(name, "u", "one", tags=("a",))
        ledger.insert([first, kept(f"{name}/raw", "u")], outcome("u", name, name))
        ledger.replace(updated(first, "two"), expected_version=1)
        if number % 3 == 2:
            ledger.delete([f"{name}/raw"])
        print(name, flush=True)
"""


def _open(folder: Path) -> Ledger:
    return open_ledger(None, path=folder, clock=Clock())


def _start(script: str, *arguments: object) -> subprocess.Popen[str]:
    source = "\n".join(map(textwrap.dedent, (_OPEN, script)))
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """What each of them printed; all of them must have ended well."""
    said: list[str] = []
    for process in processes:
        out, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        said.append(out)
    return said


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """C49: what was acknowledged is there and whole, and what was not is there whole or not at all."""
    chance = random.Random(49)
    acknowledged: list[str] = []
    for kill in range(_KILLS):
        writer = _start(_WRITE_FOREVER, tmp_path, kill)
        assert writer.stdout is not None
        first = writer.stdout.readline().strip()
        time.sleep(chance.uniform(0, 0.15))
        writer.kill()
        rest, error = writer.communicate(timeout=60)
        assert first, error
        # the last line may be cut short by the kill; a whole one ends with a newline
        acknowledged += [first, *rest.split("\n")[:-1]]
        ledger = _open(tmp_path)
        assert ledger.problems() == ()
        _check_whole(ledger, acknowledged)
        ledger.close()
    assert len(set(acknowledged)) == len(acknowledged) >= _KILLS


def _check_whole(ledger: Ledger, acknowledged: Sequence[str]) -> None:
    records = ledger.records(acknowledged)
    assert set(records) == set(acknowledged)
    points = ledger.searchable(acknowledged)
    assert set(points) == set(acknowledged)
    for name in (acknowledged[0], *acknowledged[-3:]):
        assert (records[name].content, records[name].version) == ("two", 2)
        assert [version.content for version in ledger.versions(name)] == ["one"]
        stored = ledger.outcome(name, "u")
        assert stored is not None
        assert stored.memory_ids == (name,)
    searchable = {point.id for point in ledger.points("u").upserted}
    everything = set(listed(ledger, "u"))
    # an unacknowledged insert is both of its records or neither
    assert {name for name in everything if not name.endswith("/raw")} == searchable


def test_the_first_openings_may_come_at_once(tmp_path: Path) -> None:
    """C46: of several processes that find no store, one makes it and all can write."""
    script = """
    from hy_memory.testing.contracts.ledger_rows import entry
    ledger.insert([entry(sys.argv[2], "u")])
    """
    _finish([_start(script, tmp_path, number) for number in range(6)])
    ledger = _open(tmp_path)
    assert sorted(listed(ledger, "u")) == [str(number) for number in range(6)]
    assert ledger.problems() == ()
    ledger.close()


def test_another_processs_commit_is_seen_at_once(tmp_path: Path) -> None:
    """C80: freshness read after an acknowledged write is never the one from before it."""
    script = """
    from hy_memory.testing.contracts.ledger_rows import entry
    for line in sys.stdin:
        ledger.insert([entry(line.strip(), "u")])
        print("done", flush=True)
    """
    ledger = _open(tmp_path)
    writer = _start(script, tmp_path)
    assert writer.stdin is not None
    assert writer.stdout is not None
    seen = ledger.freshness()
    for number in range(50):
        writer.stdin.write(f"{number}\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "done\n"
        assert ledger.freshness() != seen
        assert str(number) in ledger.records([str(number)])
        seen = ledger.freshness()
    _finish([writer])
    ledger.close()


def test_processes_write_at_once(tmp_path: Path) -> None:
    """C51: nobody's write is lost, and nobody is turned away."""
    script = """
    from hy_memory.testing.contracts.ledger_rows import entry
    for number in range(100):
        ledger.insert([entry(f"{sys.argv[2]}/{number}", "u")])
    """
    _finish([_start(script, tmp_path, number) for number in range(4)])
    ledger = _open(tmp_path)
    assert ledger.counts("u") == {"l2_fact": 400}
    assert len({change.seq for change in ledger.log(0, 1000)}) == 400
    ledger.close()


def test_opening_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    """A construct has 0.2 s in all, and Alembic alone would take as long; for new stores as well as old."""
    script = """
    print(sorted({"alembic", "filelock", "psycopg", "mako"} & set(sys.modules)))
    ledger.close()
    """
    for _ in range(2):
        assert _finish([_start(script, tmp_path)]) == ["[]\n"]


def test_feeding_excludes_other_processes(tmp_path: Path) -> None:
    """Two processes that feed one projection take turns."""
    script = """
    import time
    for _ in range(10):
        with ledger.feeding("p"):
            seen = ledger.cursor("p")
            time.sleep(0.005)
            ledger.set_cursor("p", seen + 1)
    """
    _finish([_start(script, tmp_path) for _ in range(3)])
    ledger = _open(tmp_path)
    assert ledger.cursor("p") == 30
    ledger.close()


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    """C46: a lock dies with its process; nobody has to remove a file."""
    script = """
    import time
    with ledger.feeding("p"), ledger._database.write():
        print("holding", flush=True)
        time.sleep(60)
    """
    holder = _start(script, tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    holder.kill()
    holder.communicate(timeout=30)
    ledger = _open(tmp_path)
    with ledger.feeding("p"):
        ledger.insert([entry("a", "u")])
    assert listed(ledger, "u") == ["a"]
    ledger.close()
