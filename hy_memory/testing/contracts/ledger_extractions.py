"""The part of the ledger's contract that is about exchanges which wait for a language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, kept, whole
from hy_memory.values.write import Entry

_EVER = 9e9


def waiting(record_id: str, user_id: str = "u") -> Entry:
    """Return a raw exchange that is queued with its record."""
    return replace(kept(record_id, user_id), is_pending=True)


class LedgerExtractions:
    """Everything that `ExtractionQueue` promises."""

    def test_what_waits_is_queued_with_its_record(
        self, ledger: Ledger, open_store: Callable[[], Ledger]
    ) -> None:
        """In one transaction, one user's apart from another's, also when the store is opened anew."""
        ledger.insert([waiting("a"), kept("b", "u"), waiting("c", "v")])
        ledger.close()
        again = open_store()
        assert {one.record_id for one in again.pending(None, _EVER, 9)} == {"a", "c"}
        (mine,) = again.pending("u", _EVER, 9)
        assert (mine.record_id, mine.user_id, mine.attempts, mine.error) == ("a", "u", 0, "")
        assert again.pending("u", mine.due_at - 1, 9) == ()
        assert again.pending("w", _EVER, 9) == ()
        again.close()

    def test_a_failed_attempt_is_counted_and_waits(self, ledger: Ledger) -> None:
        """The longest due comes first; what is postponed is not due before its time."""
        ledger.insert([waiting("a"), waiting("b"), waiting("c")])
        ledger.postpone("a", "down", DAY + 7)
        ledger.postpone("a", "still down", DAY + 9)
        ledger.postpone("b", "down", DAY + 8)
        ledger.postpone("unknown", "down", DAY)
        due = ledger.pending("u", DAY + 9, 9)
        assert [(one.record_id, one.attempts, one.error) for one in due] == [
            ("b", 1, "down"),
            ("a", 2, "still down"),
        ]
        assert [one.record_id for one in ledger.pending(None, DAY + 8.5, 9)] == ["b"]
        assert [one.record_id for one in ledger.pending(None, DAY + 9, 1)] == ["b"]

    def test_it_leaves_the_queue_when_it_was_read_or_is_gone(self, ledger: Ledger) -> None:
        """Whatever deletes an exchange takes it off; taking it off twice is no error."""
        ledger.insert([waiting("a"), waiting("b"), waiting("c"), waiting("d", "v")])
        ledger.extracted(["a", "unknown"])
        ledger.extracted(["a"])
        ledger.extracted([])
        ledger.delete(["b"])
        assert {one.record_id for one in ledger.pending(None, _EVER, 9)} == {"c", "d"}
        ledger.delete_all(whole("u"))
        assert [one.record_id for one in ledger.pending(None, _EVER, 9)] == ["d"]
