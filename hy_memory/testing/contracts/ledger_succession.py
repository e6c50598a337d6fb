"""The ledger's contract of chains: a record takes another's place, and no link ever leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations

import pytest

from hy_memory.errors import InvalidArgumentError, MemoryNotFoundError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import Compare, Op
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import ALL, DAY, entry, kept, listed, updated, within
from hy_memory.values.record import Status
from hy_memory.values.write import ChangeKind, Entry, Outcome

_ACTIVE = Compare("status", Op.EQ, "active")
_SUPERSEDED = Compare("status", Op.EQ, "superseded")


def successor(memory_id: str, of: str, user_id: str = "u", **fields: object) -> Entry:
    """Return an entry that takes the place of `of`."""
    return replace(entry(memory_id, user_id, **fields), supersedes=of)  # type: ignore[arg-type]


def chain(ledger: Ledger, oldest: str) -> list[str]:
    """Return the chain from its oldest member to its head; every link is checked from both sides."""
    found, before = [oldest], None
    while True:
        record = ledger.records(found[-1:])[found[-1]]
        assert record.supersedes == before
        if record.superseded_by is None:
            assert record.status is Status.ACTIVE
            return found
        assert record.status is Status.SUPERSEDED
        before = record.id
        found.append(record.superseded_by)


def build(ledger: Ledger, names: Sequence[str]) -> None:
    """Store a chain of these records, oldest first."""
    ledger.insert([entry(names[0], "u", created_at=DAY)])
    for at, name in enumerate(names[1:], start=1):
        ledger.insert([successor(name, names[at - 1], created_at=DAY + at)])


class LedgerSuccession:
    """Everything that `Ledger` promises of records that supersede others."""

    def test_a_record_takes_anothers_place(self, ledger: Ledger) -> None:
        """Both links, both statuses, the log and the counts, in one write."""
        ledger.insert([entry("a", "u", "one"), entry("x", "u")])
        before = ledger.points("u").seq
        ledger.insert([successor("b", "a", content="two")])
        assert chain(ledger, "a") == ["a", "b"]
        assert ledger.records(["a"])["a"].updated_at == DAY
        assert listed(ledger, "u", _ACTIVE) == ["b", "x"]
        assert ledger.page(scoped(("u",), _SUPERSEDED), ALL).total == 1
        assert ledger.counts("u") == {"l2_fact": 3}
        assert [(one.memory_id, one.kind, one.content) for one in ledger.history(user_id="u", limit=2)] == [
            ("a", ChangeKind.SUPERSEDE, "one"),
            ("b", ChangeKind.ADD, "two"),
        ]
        changed = ledger.changes("u", before)
        assert {one.id: one.payload.status for one in changed.upserted} == {
            "a": Status.SUPERSEDED,
            "b": Status.ACTIVE,
        }
        assert changed.removed == ()
        assert ledger.problems() == ()

    def test_whoever_is_named_the_new_one_goes_on_top(self, ledger: Ledger) -> None:
        """A chain is one line: also when its first member is named again, twice in one write."""
        build(ledger, "abc")
        ledger.insert([successor("d", "a"), entry("x", "u"), successor("e", "a"), successor("f", "b")])
        assert chain(ledger, "a") == [*"abcdef"]
        assert ledger.problems() == ()

    @pytest.mark.parametrize("named", ["none", "theirs", "b", "raw", "e"])
    def test_what_cannot_be_superseded_stores_nothing(self, ledger: Ledger, named: str) -> None:
        """Unknown, another user's, of the same write, raw: nothing of the write remains."""
        ledger.insert([entry("theirs", "v"), entry("a", "u"), kept("raw", "u")])
        outcome = Outcome("u", "q", "hash", ("b", "e"), DAY)
        error = InvalidArgumentError if named == "raw" else MemoryNotFoundError
        with pytest.raises(error, match=named):
            ledger.insert([entry("b", "u"), successor("d", "a"), successor("e", named)], outcome)
        assert set(ledger.records(["a", "b", "d", "e"])) == {"a"}
        assert ledger.records(["a", "theirs"])["a"].status is Status.ACTIVE
        assert ledger.outcome("q") is None
        assert ledger.problems() == ()

    def test_a_raw_turn_supersedes_nothing(self, ledger: Ledger) -> None:
        """It is kept as it was said, and never searched."""
        ledger.insert([entry("a", "u")])
        with pytest.raises(InvalidArgumentError):
            ledger.insert([replace(kept("raw", "u"), supersedes="a")])
        assert ledger.records(["a", "raw"]).keys() == {"a"}

    def test_a_repeated_request_supersedes_once(self, ledger: Ledger) -> None:
        """The second one gets the first one's outcome, and nothing moves."""
        ledger.insert([entry("a", "u")])
        outcome = Outcome("u", "q", "hash", ("b",), DAY)
        assert ledger.insert([successor("b", "a")], outcome) is None
        again = replace(outcome, memory_ids=("c",))
        assert ledger.insert([successor("c", "a")], again) == outcome
        assert chain(ledger, "a") == ["a", "b"]

    def test_an_update_leaves_status_and_links(self, ledger: Ledger) -> None:
        """Also one that was read before the record was superseded."""
        first = entry("a", "u", "one")
        ledger.insert([first])
        ledger.insert([successor("b", "a")])
        ledger.replace(updated(first, "two"), expected_version=1)
        ledger.delete([], [Entry(replace(ledger.records(["b"])["b"], supersedes=None, content="three"))])
        assert chain(ledger, "a") == ["a", "b"]
        assert ledger.records(["a"])["a"].content == "two"
        assert listed(ledger, "u", _SUPERSEDED) == ["a"]

    @pytest.mark.parametrize(
        "gone", ["a", "b", "c", "d", "ab", "bc", "cd", "ac", "bd", "ad", "abc", "bcd", "abd"]
    )
    def test_a_chain_closes_over_what_is_deleted(self, ledger: Ledger, gone: str) -> None:
        """The neighbours meet; without its successors a record is current again."""
        build(ledger, "abcd")
        before = ledger.points("u").seq
        assert ledger.delete([*gone]) == len(gone)
        left = [one for one in "abcd" if one not in gone]
        assert chain(ledger, left[0]) == left
        assert listed(ledger, "u", _ACTIVE) == left[-1:]
        assert ledger.page(scoped(("u",), _SUPERSEDED), ALL).total == len(left) - 1
        is_restored = "d" in gone
        assert [one.id for one in ledger.changes("u", before).upserted] == left[-1:] * is_restored
        kinds = [change.kind for change in ledger.log(before, 9)]
        assert kinds == [ChangeKind.DELETE] * len(gone) + [ChangeKind.RESTORE] * is_restored
        assert ledger.problems() == ()

    def test_it_closes_in_whatever_order_they_go(self, ledger: Ledger) -> None:
        """One after the other, from any end, until nothing is left."""
        for order in permutations("abc"):
            build(ledger, "abc")
            left = [*"abc"]
            for one in order:
                ledger.delete([one])
                left.remove(one)
                assert not left or chain(ledger, left[0]) == left
            assert ledger.counts("u") == {}
        assert ledger.problems() == ()

    def test_what_was_restored_can_be_superseded_again(self, ledger: Ledger) -> None:
        """Deleting a head undoes what it did."""
        build(ledger, "ab")
        ledger.delete(["b"])
        ledger.insert([successor("c", "a")])
        assert chain(ledger, "a") == ["a", "c"]
        kinds = [change.kind for change in ledger.history(memory_id="a", limit=9)]
        assert kinds == [ChangeKind.SUPERSEDE, ChangeKind.RESTORE, ChangeKind.SUPERSEDE, ChangeKind.ADD]

    def test_deleting_a_scope_cleans_the_links_of_what_stays(self, ledger: Ledger) -> None:
        """A chain that goes through several sessions closes over the one that is deleted."""
        sessions = {"a": "s", "b": "t", "c": "s", "d": "t"}
        ledger.insert([entry("a", "u", session_id="s")])
        for name, before in zip("bcd", "abc", strict=True):
            ledger.insert([successor(name, before, session_id=sessions[name])])
        assert ledger.delete_all(within("u", "session_id", "t")) == 2
        assert chain(ledger, "a") == ["a", "c"]
        assert ledger.problems() == ()

    def test_concurrent_writers_leave_one_line(self, ledger: Ledger, another: Ledger) -> None:
        """C51: two openings, eight threads, all of whom name the same record; deletes in between."""
        ledger.insert([entry("a", "u")])

        def write(thread: int) -> None:
            store = (ledger, another)[thread % 2]
            for number in range(10):
                store.insert([successor(f"{thread}/{number}", "a")])
                if number % 3 == 2:
                    store.delete([f"{thread}/{number - 1}"])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        members = chain(ledger, "a")
        assert len(members) == len(set(members)) == 1 + 8 * (10 - 3)
        assert listed(ledger, "u", _ACTIVE) == members[-1:]
        assert ledger.problems() == another.problems() == ()
