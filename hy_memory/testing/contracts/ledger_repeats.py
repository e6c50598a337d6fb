"""The part of the ledger's contract that is about what is said again, as it was or nearly so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hy_memory.errors import RepeatedError
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import entry, listed, updated
from hy_memory.values.write import Likeness

_TOP = 1 << 63
_BITS = _TOP | 0x1234_5678_9ABC_DEF0


class LedgerRepeats:
    """Everything that `UseSource` promises of repeats, near-duplicates and sections."""

    def test_a_digest_means_what_is_current_and_unchanged(self, ledger: Ledger) -> None:
        """Of one user alone."""
        old = replace(entry("a", "u"), repeat_key="k")
        ledger.insert(
            [old, replace(entry("b", "v"), repeat_key="k"), replace(entry("c", "u"), repeat_key="l")]
        )
        assert ledger.repeats("u", ["k", "l", "unknown"]) == {"k": "a", "l": "c"}
        assert ledger.repeats("u", []) == {}
        ledger.replace(updated(old, "likes coffee"), expected_version=1)
        ledger.delete(["c"])
        assert ledger.repeats("u", ["k", "l"]) == {}
        ledger.insert([replace(entry("d", "u"), repeat_key="k")])
        assert ledger.repeats("u", ["k"]) == {"k": "d"}

    def test_of_two_that_say_the_same_at_once_one_is_stored(self, ledger: Ledger, another: Ledger) -> None:
        """And nothing of the other's write."""
        ledger.insert([replace(entry("a", "u"), repeat_key="k")])
        with pytest.raises(RepeatedError):
            another.insert([entry("b", "u"), replace(entry("c", "u"), repeat_key="k")])
        assert listed(ledger, "u") == ["a"]

    def test_like_records_are_found_nearest_first(self, ledger: Ledger) -> None:
        """Up to three bits away, whichever they are; four are too many, and so is another frame or user."""
        kept = {"a": 0b111, "b": _TOP | 1 << 16, "c": 1 << 32, "d": 0b1111, "e": _BITS}
        seen = frozenset(kept)
        ledger.insert(
            [
                replace(entry(name, "u"), likeness=Likeness("f", _BITS ^ apart, seen))
                for name, apart in kept.items()
            ]
        )
        ledger.insert([replace(entry("g", "u"), likeness=Likeness("other", _BITS))])
        ledger.insert([replace(entry("h", "v"), likeness=Likeness("f", _BITS))])
        wanted = [Likeness("f", _BITS), Likeness("f", _BITS ^ 1, frozenset("ac")), Likeness("none", _BITS)]
        assert ledger.alike("u", wanted) == (("c", "b", "a"), ("b", "d"), ())
        assert ledger.alike("u", []) == ()

    def test_like_records_are_current_and_unchanged(self, ledger: Ledger) -> None:
        """What was deleted, superseded or updated is like nothing."""
        like = Likeness("f", _BITS, frozenset("abc"))
        first = replace(entry("a", "u"), likeness=like)
        ledger.insert(
            [first, replace(entry("b", "u"), likeness=like), replace(entry("c", "u"), likeness=like)]
        )
        ledger.replace(updated(first, "likes coffee"), expected_version=1)
        ledger.delete(["b"])
        ledger.insert([replace(entry("d", "u"), supersedes="c")])
        assert ledger.alike("u", [Likeness("f", _BITS)]) == ((),)

    def test_what_its_writer_has_not_seen_stops_it(self, ledger: Ledger, another: Ledger) -> None:
        """Another process may have stored it a moment ago; what was looked at stops nothing."""
        ledger.insert([replace(entry("a", "u"), likeness=Likeness("f", _BITS))])
        with pytest.raises(RepeatedError):
            another.insert([entry("b", "u"), replace(entry("c", "u"), likeness=Likeness("f", _BITS ^ 1))])
        assert listed(ledger, "u") == ["a"]
        another.insert([replace(entry("c", "u"), likeness=Likeness("f", _BITS ^ 1, frozenset("a")))])
        assert listed(ledger, "u") == ["a", "c"]

    def test_copies_are_recognised_and_found(self, ledger: Ledger) -> None:
        """As what they are copies of."""
        ledger.insert([replace(entry("a", "u"), repeat_key="k", likeness=Likeness("f", _BITS))])
        ledger.insert([entry("z", "v")])
        ledger.copy_uses({"a": "z"}, "v")
        assert ledger.repeats("v", ["k"]) == {"k": "z"}
        assert ledger.alike("v", [Likeness("f", _BITS)]) == (("z",),)

    def test_sections_are_told_in_order(self, ledger: Ledger) -> None:
        """By their position, not by their ids."""
        names = ("c", "a", "b")
        parts = [entry(name, "u", part_of="root", position=at) for at, name in enumerate(names)]
        ledger.insert([entry("root", "u"), *parts, entry("x", "u")])
        assert ledger.parts(["root"]) == names
        assert ledger.parts(["x", "unknown"]) == ledger.parts([]) == ()
