"""The part of the ledger's contract that is about the past: what could be searched at a moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, DIMS, entry, kept, terms, updated, vector
from hy_memory.values.record import RecordClaim, Status
from hy_memory.values.write import EmbedderIdentity, Entry


def _then(ledger: Ledger, at: float, *user_ids: str) -> dict[str, Entry]:
    return {one.record.id: one for one in ledger.moment(user_ids or ("u",), at)}


def _texts(ledger: Ledger, at: float, *user_ids: str) -> dict[str, str]:
    return {id_: one.record.content for id_, one in _then(ledger, at, *user_ids).items()}


class LedgerMoments:
    """Everything that `Ledger.moment` promises."""

    def test_what_was_recorded_by_then(self, ledger: Ledger) -> None:
        """The moment itself counts; another user's records never do; a user named twice is one."""
        ledger.insert(
            [entry("a", "u"), entry("b", "u", created_at=DAY + 5), entry("c", "v"), kept("raw", "u")]
        )
        assert _texts(ledger, DAY - 1) == {}
        assert list(_texts(ledger, DAY)) == list(_texts(ledger, DAY + 4.999)) == ["a"]
        assert sorted(_texts(ledger, DAY + 5)) == ["a", "b"]
        assert sorted(one.record.id for one in ledger.moment(("u", "v", "u"), DAY)) == ["a", "c"]
        assert ledger.moment(("nobody",), DAY + 9) == ()

    def test_nothing_changed_is_nothing_made_anew(self, ledger: Ledger) -> None:
        """A record that is still as it was brings itself, its vector and its terms, bit by bit."""
        stored = entry(
            "a",
            "u",
            tags=("x",),
            attributes={"k": [1]},
            memory_at=DAY - 9,
            claims=(RecordClaim("name", "Ann"),),
        )
        ledger.insert([stored])
        found = _then(ledger, DAY)["a"]
        assert found.record == stored.record
        assert found.vector is not None
        assert found.terms is not None
        assert stored.vector is not None
        assert np.array_equal(found.vector, stored.vector)
        assert found.terms.ids.tolist() == terms(3, 5, 1 << 31).ids.tolist()
        assert found.terms.weights.tolist() == [0.5] * 3

    def test_the_text_of_then(self, ledger: Ledger) -> None:
        """Each version is in force from the moment it was recorded until the next one was."""
        first = entry("a", "u", "one", memory_at=1.0, claims=(RecordClaim("name", "Ann"),))
        second = updated(first, "two", at=DAY + 10)
        second = replace(second, record=replace(second.record, memory_at=2.0))
        ledger.insert([first])
        ledger.replace(second, expected_version=1)
        ledger.replace(updated(second, "three", at=DAY + 20), expected_version=2)
        for at, text in ((0, "one"), (9.5, "one"), (10, "two"), (19.5, "two"), (20, "three"), (99, "three")):
            assert _texts(ledger, DAY + at) == {"a": text}
        then = _then(ledger, DAY)["a"]
        assert (then.vector, then.terms) == (None, None)
        assert then.record == replace(first.record, claims=())
        then = _then(ledger, DAY + 10)["a"].record
        assert (then.version, then.memory_at, then.updated_at) == (2, 2.0, DAY + 10)

    def test_what_came_with_the_text_of_then(self, ledger: Ledger) -> None:
        """Tags, metadata, context and expiry are those of the version, also where the text is the same."""
        was = {"tags": ("x",), "attributes": {"n": [1, "é"]}, "context": "cat", "expires_at": DAY + 3}
        first = entry("a", "u", "one", **was)
        now = updated(first, "one", at=DAY + 10)
        changes = {"tags": (), "attributes": {}, "context": "dog", "expires_at": None}
        ledger.insert([first])
        ledger.replace(replace(now, record=replace(now.record, **changes)), expected_version=1)
        then = _then(ledger, DAY)["a"]
        assert then.record == first.record
        assert then.vector is not None
        assert then.terms is None
        assert _then(ledger, DAY + 10)["a"].record.context == "dog"

    def test_an_update_of_other_things_keeps_the_vector(self, ledger: Ledger) -> None:
        """Same text, same vector; the keywords too where nothing that they are made of changed."""
        first = entry("a", "u", "one", context="7 May 2023")
        again = updated(first, "one", at=DAY + 10)
        ledger.insert([first])
        ledger.replace(replace(again, record=replace(again.record, memory_at=5.0)), expected_version=1)
        then = _then(ledger, DAY)["a"]
        assert then.record.version == 1
        assert then.record.memory_at is None
        assert then.vector is not None
        assert first.vector is not None
        assert np.array_equal(then.vector, first.vector)
        assert then.terms is not None

    @pytest.mark.parametrize("at", [DAY, DAY - 50])
    def test_a_clock_that_goes_back(self, ledger: Ledger, at: float) -> None:
        """A text is in force from the latest of its times: never before its record, never both or neither."""
        first = entry("a", "u", "one")
        ledger.insert([first])
        ledger.replace(updated(first, "two", at=at), expected_version=1)
        assert _texts(ledger, DAY - 51) == _texts(ledger, DAY - 1) == {}
        assert _texts(ledger, DAY) == {"a": "two"}

    def test_superseded_later_was_active_then(self, ledger: Ledger) -> None:
        """Status and successor are those of then; the members of a chain are there as they are now."""
        ledger.insert([entry("a", "u")])
        for at, name, of in ((10, "b", "a"), (20, "c", "a")):
            ledger.insert([replace(entry(name, "u", created_at=DAY + at), supersedes=of)])
        for at, ids in ((9, "a"), (10, "ab"), (19, "ab"), (20, "abc")):
            then = _then(ledger, DAY + at)
            assert sorted(then) == [*ids]
            assert [one for one in ids if then[one].record.status is Status.ACTIVE] == [ids[-1]]
            assert [then[one].record.superseded_by for one in ids] == [*ids[1:], None]
            assert all(one.vector is not None for one in then.values())
        assert then["c"].record == ledger.records(["c"])["c"]
        ledger.delete(["b"])
        then = _then(ledger, DAY + 19)
        assert list(then) == ["a"]
        assert then["a"].record.status is Status.ACTIVE

    def test_what_only_is_kept_was_never_searched(self, ledger: Ledger) -> None:
        """What has no vector is no point, at no moment."""
        ledger.insert([kept("raw", "u"), Entry(entry("a", "u").record)])
        assert ledger.moment(("u",), DAY) == ()

    def test_a_forgotten_text_is_of_no_moment(self, ledger: Ledger) -> None:
        """What was deleted, or rewritten without its old text, is not known of any moment before."""
        first = entry("a", "u", "quotes b")
        ledger.insert([first, entry("b", "u", "b"), entry("c", "u", "c")])
        ledger.replace(updated(first, "still quotes b", at=DAY + 10), expected_version=1)
        rewritten = updated(updated(first, ""), "quotes nothing", at=DAY + 20)
        rewritten = replace(rewritten, record=replace(rewritten.record, version=2))
        ledger.delete(["b"], [rewritten])
        assert _texts(ledger, DAY) == _texts(ledger, DAY + 15) == {"c": "c"}
        assert _texts(ledger, DAY + 20) == {"a": "quotes nothing", "c": "c"}

    def test_another_embedder_made_all_vectors(self, ledger: Ledger) -> None:
        """Stored vectors are today's, whatever the moment."""
        ledger.insert([entry("a", "u")])
        ledger.bind_embedder(EmbedderIdentity("first", DIMS, ""))
        ledger.reembed(EmbedderIdentity("second", 4, ""), [(["a"], vector(1, 4)[None])])
        then = _then(ledger, DAY)["a"]
        assert then.vector is not None
        assert then.vector.shape == (4,)

    def test_a_moment_reads_and_nothing_more(self, ledger: Ledger, another: Ledger) -> None:
        """Law 7: no commit, and what another opening wrote is seen."""
        another.insert([entry("a", "u")])
        before = ledger.freshness()
        assert list(_texts(ledger, DAY)) == ["a"]
        assert ledger.freshness() == before
