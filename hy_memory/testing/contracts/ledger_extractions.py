"""The part of the ledger's contract that is about exchanges which wait for a language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hy_memory.errors import ConflictError
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry, kept, updated, whole
from hy_memory.values.record import Layer
from hy_memory.values.write import Entry, Outcome, Settlement

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

    def test_one_of_several_claims_what_waits(self, ledger: Ledger) -> None:
        """Whoever looked it up before somebody claimed, postponed or read it gets nothing."""
        ledger.insert([waiting("a"), waiting("b"), waiting("c")])
        seen = {one.record_id: one for one in ledger.pending("u", _EVER, 9)}
        assert ledger.claim(seen["a"], DAY + 600)
        assert not ledger.claim(seen["a"], DAY + 700)
        assert [one.due_at for one in ledger.pending("u", _EVER, 9) if one.record_id == "a"] == [DAY + 600]
        (again,) = (one for one in ledger.pending("u", _EVER, 9) if one.record_id == "a")
        assert ledger.claim(again, DAY + 800)
        ledger.postpone("b", "down", DAY + 5)
        assert not ledger.claim(seen["b"], DAY + 600)
        ledger.extracted(["c"])
        assert not ledger.claim(seen["c"], DAY + 600)

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

    def test_what_reading_led_to_is_stored_as_one(self, ledger: Ledger) -> None:
        """New records, next versions, texts that are kept no more, the outcome, and the queue."""
        known, turn, cited = entry("k", "u", "one"), entry("t", "u", "said"), entry("c", "u")
        ledger.insert([waiting("a"), known, turn, cited])
        new = Entry(entry("n", "u", "new").record, known.vector, known.terms, supersedes="k")
        settled = Settlement(
            "a",
            1,
            Outcome("u", "extract:a", "", ("n",), DAY),
            entries=(new,),
            changed=(replace(known, record=replace(known.record, content="two")),),
            linked=(replace(cited, record=replace(cited.record, evidence_ids=("a", "t"))),),
            retired=(Entry(replace(turn.record, layer=Layer.L1_RAW)),),
        )
        assert ledger.settle(settled)
        assert ledger.pending("u", _EVER, 9) == ()
        stored = ledger.records(["n", "k", "t"])
        assert (stored["n"].supersedes, stored["k"].content, stored["k"].version) == ("k", "two", 2)
        assert [one.content for one in ledger.versions("k")] == ["one"]
        assert (ledger.records(["c"])["c"].evidence_ids, ledger.versions("c")) == (("a", "t"), ())
        assert (stored["t"].layer, ledger.versions("t")) == (Layer.L1_RAW, ())
        assert set(ledger.searchable(["n", "k", "t", "c"])) == {"n", "k", "c"}
        kept_outcome = ledger.outcome("extract:a", "u")
        assert kept_outcome is not None
        assert kept_outcome.memory_ids == ("n",)
        assert not ledger.settle(settled)
        assert ledger.problems() == ()

    @pytest.mark.parametrize("what", ["deleted", "rewritten", "changed", "retired", "linked", "read already"])
    def test_nothing_is_stored_of_what_changed_since_it_was_read(self, ledger: Ledger, what: str) -> None:
        """A text that was deleted while somebody read it must not come back as a fact."""
        known, turn, cited = entry("k", "u", "one"), entry("t", "u", "said"), entry("c", "u")
        ledger.insert([waiting("a"), known, turn, cited])
        if what == "deleted":
            ledger.delete(["a"])
        elif what == "rewritten":
            ledger.delete([], [kept("a", "u", "less")])
        elif what == "linked":
            ledger.delete(["c"])
        elif what == "read already":
            ledger.extracted(["a"])
        else:
            stale = known if what == "changed" else turn
            ledger.replace(updated(stale, "other"), 1)
        settled = Settlement(
            "a",
            1,
            Outcome("u", "extract:a", "", ("n",), DAY),
            entries=(entry("n", "u", "new"),),
            changed=(known,),
            linked=(cited,),
            retired=(Entry(replace(turn.record, layer=Layer.L1_RAW)),),
        )
        if what in ("deleted", "read already"):
            assert not ledger.settle(settled)
        else:
            with pytest.raises(ConflictError):
                ledger.settle(settled)
            assert len(ledger.pending("u", _EVER, 9)) == 1
        assert "n" not in ledger.records(["n"])
        assert ledger.outcome("extract:a", "u") is None
        assert ledger.problems() == ()
