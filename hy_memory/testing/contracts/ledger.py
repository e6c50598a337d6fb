"""The contract of a ledger, as tests. Subclass it and provide the fixture `open_store`:

    class TestMyLedger(LedgerContract):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda: open_my_ledger(tmp_path)

`open_store` opens one and the same store again with each call, as another process would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hy_memory.errors import ClosedError
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_edits import LedgerEdits
from hy_memory.testing.contracts.ledger_extractions import LedgerExtractions
from hy_memory.testing.contracts.ledger_facts import LedgerFacts
from hy_memory.testing.contracts.ledger_moments import LedgerMoments
from hy_memory.testing.contracts.ledger_reading import LedgerReading
from hy_memory.testing.contracts.ledger_repeats import LedgerRepeats
from hy_memory.testing.contracts.ledger_rows import entry, kept, listed, point_bytes, updated
from hy_memory.testing.contracts.ledger_succession import LedgerSuccession
from hy_memory.testing.contracts.ledger_turns import LedgerTurns
from hy_memory.testing.contracts.ledger_uses import LedgerUses
from hy_memory.testing.contracts.ledger_writing import LedgerWriting, outcome

OpenStore = Callable[[], Ledger]


class LedgerContract(
    LedgerWriting,
    LedgerReading,
    LedgerMoments,
    LedgerTurns,
    LedgerSuccession,
    LedgerEdits,
    LedgerExtractions,
    LedgerUses,
    LedgerRepeats,
    LedgerFacts,
):
    """Every promise of `Ledger`; a store passes all of it or is no ledger."""

    @pytest.fixture
    def ledger(self, open_store: OpenStore) -> Iterator[Ledger]:
        """An empty ledger."""
        opened = open_store()
        yield opened
        opened.close()

    @pytest.fixture
    def another(self, ledger: Ledger, open_store: OpenStore) -> Iterator[Ledger]:
        """The same store, opened again (after `ledger`)."""
        opened = open_store()
        yield opened
        opened.close()

    def test_everything_is_there_after_closing(self, ledger: Ledger, open_store: OpenStore) -> None:
        """C45: a store is opened, not made anew."""
        first = entry("a", "u", "one")
        ledger.insert([first, kept("raw", "u")], outcome("u", "q", "a"))
        ledger.replace(updated(first, "two"), expected_version=1)
        ledger.set_cursor("p", 2)
        points, history = ledger.points("u"), ledger.history(user_id="u", limit=9)
        ledger.close()
        for _ in range(3):
            again = open_store()
            assert listed(again, "u") == ["a", "raw"]
            assert again.records(["a"])["a"].content == "two"
            assert [version.content for version in again.versions("a")] == ["one"]
            assert again.points("u").seq == points.seq
            assert point_bytes(again.points("u").upserted) == point_bytes(points.upserted)
            assert again.history(user_id="u", limit=9) == history
            assert again.outcome("q") == outcome("u", "q", "a")
            assert again.cursor("p") == 2
            again.close()

    def test_a_closed_ledger_says_so(self, ledger: Ledger) -> None:
        """C46: closing twice is fine, using it afterwards is a typed error."""
        ledger.close()
        ledger.close()
        for use in (
            lambda: ledger.records(["a"]),
            lambda: ledger.insert([entry("a", "u")]),
            lambda: ledger.points("u"),
            ledger.freshness,
        ):
            with pytest.raises(ClosedError):
                use()

    def test_threads_and_openings_share_a_store(self, ledger: Ledger, another: Ledger) -> None:
        """C51: 16 threads over two openings; every record counted once, no driver error."""

        def work(thread: int) -> None:
            store = (ledger, another)[thread % 2]
            for number in range(20):
                memory_id = f"{thread}/{number}"
                store.insert([entry(memory_id, f"u{thread % 4}"), kept(f"{memory_id}/raw", f"u{thread % 4}")])
                assert memory_id in {point.id for point in store.points(f"u{thread % 4}").upserted}
                if number % 2:
                    assert store.delete([memory_id]) == 1

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(work, range(16)))
        for store in (ledger, another):
            for user in range(4):
                assert store.counts(f"u{user}") == {"l1_raw": 80, "l2_fact": 40}
        assert len(ledger.log(0, 10_000)) == 16 * (20 * 2 + 10)
        assert ledger.problems() == ()

    def test_a_reader_never_misses_a_change(self, ledger: Ledger, another: Ledger) -> None:
        """No sequence number becomes visible while a smaller one is still to come."""

        def write(thread: int) -> None:
            for number in range(25):
                (ledger, another)[thread % 2].insert([entry(f"{thread}/{number}", "u")])

        seen: list[str] = []
        with ThreadPoolExecutor(8) as pool:
            writers = [pool.submit(write, thread) for thread in range(8)]
            seq, rounds = 0, 0
            while rounds < 2:
                rounds += all(writer.done() for writer in writers)
                for change in ledger.log(seq, 7):
                    seen.append(change.memory_id)
                    seq = change.seq
                rounds = 0 if ledger.log(seq, 1) else rounds
            for writer in writers:
                writer.result()
        assert len(seen) == len(set(seen)) == 200
