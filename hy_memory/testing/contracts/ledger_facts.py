"""The part of the ledger's contract that is about temporal facts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from hy_memory.errors import MemoryNotFoundError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry
from hy_memory.values.fact import Fact, FactChange, FactRelation, FactRules


def fact(row_id: str, user_id: str = "u", **more: object) -> Fact:
    """Return a row that says something."""
    plain = Fact(row_id, f"f-{row_id}", user_id, "Ana", "ana", "likes", "Tee", "tee", DAY, None, DAY)
    return replace(plain, **more)  # type: ignore[arg-type]


def adding(*rows: Fact) -> Callable[[Sequence[Fact], FactRules, float], FactChange]:
    """Return an edit that adds rows, whatever there is."""
    return lambda believed, rules, at: FactChange(added=rows)


class LedgerFacts:
    """Everything that `FactSource` promises."""

    def test_rows_come_back_as_they_were(self, ledger: Ledger, open_store: Callable[[], Ledger]) -> None:
        """Every field, in the order of recording, of the subjects asked for, of one user."""
        ledger.insert([entry("m", "u")])
        first = fact("a", valid_to=DAY + 5, confidence=0.25, source="mail", memory_id="m", subject="ÄÑA '\"")
        later = fact("b", recorded_from=DAY + 1, subject_key="ben", object="x\ny")
        ledger.edit_facts("u", adding(later, first))
        ledger.edit_facts("v", adding(fact("c", "v")))
        ledger.close()
        again = open_store()
        assert again.facts("u") == (first, later)
        assert again.facts("u", ["ben", "nobody"]) == (later,)
        assert again.facts("w") == again.facts("u", []) == ()
        again.close()

    def test_an_edit_sees_what_is_believed_and_only_closes(self, ledger: Ledger) -> None:
        """A closed row stays, with the moment it was closed at; an edit that raises changes nothing."""
        ledger.edit_facts("u", adding(fact("a"), fact("b")))
        seen: list[tuple[str, ...]] = []

        def close(believed: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            seen.append(tuple(row.row_id for row in believed))
            return FactChange(closed=("a",), added=(fact("c", recorded_from=at),))

        ledger.edit_facts("u", close)
        ledger.edit_facts("v", adding())
        rows = {row.row_id: row for row in ledger.facts("u")}
        assert rows["a"].recorded_to == rows["c"].recorded_from is not None
        assert rows["b"].recorded_to is None

        def fail(believed: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            seen.append(tuple(sorted(row.row_id for row in believed)))
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            ledger.edit_facts("u", fail)
        assert seen == [("a", "b"), ("b", "c")]
        assert {row.row_id: row for row in ledger.facts("u")} == rows

    def test_the_moment_is_never_before_what_is_believed(self, ledger: Ledger) -> None:
        """A clock may go back, and several machines' clocks differ."""
        ledger.edit_facts("u", adding(fact("a", recorded_from=9e9)))
        moments: list[float] = []

        def look(believed: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            moments.append(at)
            return FactChange()

        ledger.edit_facts("u", look)
        ledger.edit_facts("v", look)
        assert moments[0] == 9e9 > moments[1]

    def test_one_edit_after_the_other(self, ledger: Ledger) -> None:
        """Each sees what the one before it left, however many come at once."""

        def count(believed: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            return FactChange(added=(fact(f"{len(believed)}"),))

        def edit() -> None:
            for _ in range(8):
                ledger.edit_facts("u", count)

        threads = [threading.Thread(target=edit) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert {row.row_id for row in ledger.facts("u")} == {str(number) for number in range(32)}

    def test_rules_and_ties_are_a_users_own(self, ledger: Ledger) -> None:
        """The last declaration counts."""
        ledger.keep_alias("u", "a", "ana")
        ledger.keep_alias("u", "a", "anna")
        ledger.keep_predicate("u", "plays", True)
        ledger.keep_predicate("u", "plays", False)
        assert ledger.fact_rules("u") == FactRules({"a": "anna"}, {"plays": False})
        assert ledger.fact_rules("v") == FactRules({}, {})
        ledger.edit_facts("u", adding(fact("a"), fact("b")))
        tie = FactRelation("u", "f-a", "f-b", "because", DAY)
        ledger.relate_facts(tie)
        ledger.relate_facts(tie)
        assert ledger.fact_relations("u", "f-a") == ledger.fact_relations("u", "f-b") == (tie,)
        assert ledger.fact_relations("v", "f-a") == ()
        with pytest.raises(MemoryNotFoundError):
            ledger.relate_facts(FactRelation("v", "f-a", "f-b", "because", DAY))

    def test_they_go_with_the_whole_user_and_are_copied(self, ledger: Ledger) -> None:
        """A memory that is deleted is evidence no more; the fact stays."""
        ledger.insert([entry("m", "u"), entry("n", "v")])
        ledger.edit_facts("u", adding(fact("a", memory_id="m"), fact("b")))
        ledger.relate_facts(FactRelation("u", "f-a", "f-b", "because", DAY))
        ledger.keep_alias("u", "a", "ana")
        ledger.copy_facts("u", "v", {"m": "n"})
        copied = ledger.facts("v")
        assert [row.memory_id for row in copied] == ["n", None]
        assert len(ledger.fact_relations("v", copied[0].fact_id)) == 1
        ledger.delete(["m"])
        assert [row.memory_id for row in ledger.facts("u")] == [None, None]
        ledger.delete_all(scoped(("u",), EVERYTHING))
        assert ledger.facts("u") == ledger.fact_relations("u", "f-a") == ()
        assert ledger.fact_rules("u") == FactRules({}, {})
        assert len(ledger.facts("v")) == 2
