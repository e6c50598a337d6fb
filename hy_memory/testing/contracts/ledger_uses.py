"""The part of the ledger's contract that is about how memories are used."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from hy_memory.dynamics.learned import begun_of, learned, now_of
from hy_memory.errors import MemoryNotFoundError
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry
from hy_memory.values.use import Lesson, LessonKind, Sector, Use

_EVER = float("-inf")


class LedgerUses:
    """Everything that `UseSource` promises."""

    def test_what_nobody_used_has_nothing(self, ledger: Ledger) -> None:
        """And what is gone learns nothing."""
        ledger.insert([entry("a", "u")])
        assert ledger.uses(["a", "unknown"]) == {}
        assert ledger.learn([Lesson("unknown", DAY)]) == 0
        assert ledger.learn([]) == 0
        assert ledger.uses_since("u", _EVER) == ()

    def test_lessons_add_up_as_the_formulas_say(
        self, ledger: Ledger, open_store: Callable[[], Ledger]
    ) -> None:
        """From what the record is when it is new; also when the store is opened anew."""
        ledger.insert([entry("a", "u", "Yesterday we went to the lake.")])
        lessons = [Lesson("a", DAY + 10, 2), Lesson("a", DAY + 20, 1, LessonKind.RESTATED)]
        assert ledger.learn(lessons[:1]) == 1
        assert ledger.learn(lessons[1:]) == 1
        ledger.close()
        again = open_store()
        (use,) = again.uses_since("u", _EVER)
        sector, begun = begun_of("Yesterday we went to the lake.", {})
        assert sector is Sector.EPISODIC
        wanted = Use("a", "u", begun, DAY, begun, sector)
        for one in lessons:
            wanted = learned(wanted, [one])
        assert use.salience == pytest.approx(wanted.salience, abs=1e-12)
        assert (use.uses, use.restated, use.used_at, use.begun) == (2, 1, DAY + 20, begun)
        assert again.uses(["a"]) == {"a": use}
        again.close()

    def test_only_what_changed_is_told(self, ledger: Ledger) -> None:
        """Of one user alone."""
        ledger.insert([entry("a", "u"), entry("b", "u"), entry("c", "v")])
        ledger.learn([Lesson("a", DAY + 1), Lesson("c", DAY + 1)])
        (first,) = ledger.uses_since("u", _EVER)
        assert first.record_id == "a"
        assert [one.record_id for one in ledger.uses_since("v", _EVER)] == ["c"]
        assert ledger.uses_since("u", first.changed_at + 1) == ()

    def test_a_pinned_memory_stays_what_it_is(self, ledger: Ledger) -> None:
        """From the moment it was pinned, until it is unpinned."""
        ledger.insert([entry("a", "u")])
        ledger.learn([Lesson("a", DAY + 1)])
        ledger.pin("a", True)
        use = ledger.uses(["a"])["a"]
        assert use.is_pinned
        assert now_of(use, use.salience_at + 400 * 86400) == use.salience
        ledger.pin("a", False)
        loose = ledger.uses(["a"])["a"]
        assert now_of(loose, loose.salience_at + 400 * 86400) < loose.salience
        with pytest.raises(MemoryNotFoundError):
            ledger.pin("unknown", True)

    def test_it_goes_with_its_record_and_along_with_a_copy(self, ledger: Ledger) -> None:
        """A copy has what its original has."""
        ledger.insert([entry("a", "u"), entry("copy", "v")])
        ledger.learn([Lesson("a", DAY + 1, 3)])
        ledger.copy_uses({"a": "copy"}, "v")
        assert ledger.uses(["copy"])["copy"].uses == 3
        ledger.delete(["a"])
        assert ledger.uses(["a"]) == {}
        assert ledger.uses_since("u", _EVER) == ()

    def test_each_lesson_counts_once_however_many_tell_theirs(self, ledger: Ledger) -> None:
        """Threads that read and write the same row lose none of what the others learned."""
        ledger.insert([entry("a", "u"), entry("b", "u")])

        def tell() -> None:
            for _ in range(20):
                ledger.learn([Lesson("a", DAY + 1), Lesson("b", DAY + 1, 2)])

        threads = [threading.Thread(target=tell) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        found = ledger.uses(["a", "b"])
        assert (found["a"].uses, found["b"].uses) == (80, 160)
        assert found["a"].salience <= found["b"].salience <= 1.0
