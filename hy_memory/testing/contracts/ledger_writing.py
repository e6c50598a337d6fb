"""The writing half of the ledger's contract: what is stored, replaced, removed, and never in part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from threading import Barrier

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hy_memory.errors import ConflictError, InvalidArgumentError, LedgerError, MemoryNotFoundError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import Compare, Op
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import (
    DAY,
    DIMS,
    IDENTITY,
    entry,
    kept,
    listed,
    point_bytes,
    records,
    terms,
    updated,
    vector,
    whole,
    within,
)
from hy_memory.values.point import FloatArray, TermVector, payload_of
from hy_memory.values.record import Status
from hy_memory.values.write import ChangeKind, EmbedderIdentity, Entry, Outcome

EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # examples share a ledger, each with ids of its own
        HealthCheck.differing_executors,  # one contract, several stores under it: that is its purpose
    ],
)
_FRESH = count()


def outcome(user_id: str, request_id: str, *memory_ids: str, text: str = "") -> Outcome:
    """Return what a request led to; its answer may quote a text."""
    return Outcome(user_id, request_id, "hash", memory_ids, DAY, {"said": [text], "n": 1})


class LedgerWriting:
    """Everything that `Ledger`'s writing verbs promise."""

    @EXAMPLES
    @given(data=st.data())
    def test_a_record_comes_back_exactly_as_it_was(self, ledger: Ledger, data: st.DataObject) -> None:
        """C33, C69: whatever its texts, numbers and JSON hold."""
        record = data.draw(records(f"r{next(_FRESH)}", "user"))
        ledger.insert([Entry(record)])
        assert ledger.records([record.id]) == {record.id: record}

    @EXAMPLES
    @given(
        row=hnp.arrays(np.float32, DIMS, elements=st.floats(width=32, allow_nan=False)),
        weights=st.dictionaries(st.integers(0, 2**32 - 1), st.floats(0, 1, width=32), max_size=6),
    )
    def test_a_point_comes_back_bit_by_bit(
        self, ledger: Ledger, row: FloatArray, weights: dict[int, float]
    ) -> None:
        """Vectors and weights are bytes: no rounding, no reordering."""
        ids = sorted(weights)
        given_terms = TermVector(
            np.array(ids, np.uint32), np.array([weights[one] for one in ids], np.float32)
        )
        stored = replace(entry(f"p{next(_FRESH)}", "user"), vector=row, terms=given_terms)
        ledger.insert([stored])
        point = ledger.searchable([stored.record.id])[stored.record.id]
        assert point_bytes([point]) == {
            point.id: (
                row.tobytes(),
                given_terms.ids.tobytes(),
                given_terms.weights.tobytes(),
                payload_of(stored.record),
            )
        }

    def test_nothing_can_be_inserted(self, ledger: Ledger) -> None:
        """An empty batch is no error and no write."""
        assert ledger.insert([]) is None
        assert ledger.users() == ()

    def test_a_batch_with_a_known_id_is_stored_not_at_all(self, ledger: Ledger) -> None:
        """C50: a failure in the middle leaves nothing, and is safe to retry."""
        ledger.insert([entry("a", "u", "first")])
        with pytest.raises(LedgerError):
            ledger.insert([entry("b", "u"), entry("a", "u", "second")], outcome("u", "q"))
        assert listed(ledger, "u") == ["a"]
        assert ledger.records(["a"])["a"].content == "first"
        assert ledger.counts("u") == {"l2_fact": 1}
        assert ledger.outcome("q") is None

    @pytest.mark.parametrize("place", ["id", "user_id", "content", "request_id"])
    def test_text_that_is_no_text_is_refused_whole(self, ledger: Ledger, place: str) -> None:
        """C33: half an emoji that the stages before let through is an error, not a crash."""
        fields = {"id": "a", "user_id": "u", "content": "tea", "request_id": "q", place: "cut \ud83d"}
        with pytest.raises(LedgerError):
            ledger.insert(
                [entry("before", "u"), entry(fields["id"], fields["user_id"], fields["content"])],
                outcome("u", fields["request_id"]),
            )
        assert ledger.users() == ()

    @pytest.mark.parametrize("odd", ["a\0b", "a\0", "a\ud83d"])
    def test_an_impossible_id_is_nobodys(self, ledger: Ledger, odd: str) -> None:
        """C69: an id that cannot be stored is refused, and never cut down to somebody else's."""
        ledger.insert([entry("a", "a")])
        for use in (
            lambda: ledger.records([odd]),
            lambda: ledger.delete([odd]),
            lambda: ledger.delete_all(whole(odd, "b")),
            lambda: ledger.insert([entry(odd, "u")]),
            lambda: ledger.insert([entry("c", odd)]),
        ):
            with pytest.raises(LedgerError):
                use()
        assert listed(ledger, "a") == ["a"]
        assert ledger.users() == ("a",)

    def test_six_thousand_at_once(self, ledger: Ledger) -> None:
        """C50: no engine's limit on one statement is a limit of ours."""
        ledger.insert([entry(f"{number:05}", "u") for number in range(6000)])
        ids = [f"{number:05}" for number in range(6000)]
        assert sorted(ledger.records(ids)) == ids
        assert ledger.delete(ids) == 6000

    def test_a_request_is_answered_once(self, ledger: Ledger) -> None:
        """The second time, the first outcome comes back and nothing is stored."""
        first = outcome("u", "q", "a")
        assert ledger.insert([entry("a", "u")], first) is None
        assert ledger.insert([entry("b", "u")], outcome("u", "q", "b")) == first
        assert listed(ledger, "u") == ["a"]
        assert ledger.outcome("q", "u") == first

    def test_requests_of_two_users_are_two_requests(self, ledger: Ledger) -> None:
        """Users who chose the same request id do not meet."""
        mine, yours = outcome("u1", "q", "a"), replace(outcome("u2", "q", "b"), recorded_at=DAY + 1)
        assert ledger.insert([entry("a", "u1")], mine) is None
        assert ledger.insert([entry("b", "u2")], yours) is None
        assert ledger.outcome("q", "u1") == mine
        with pytest.raises(InvalidArgumentError, match="user_id"):
            ledger.outcome("q")
        assert ledger.outcome("q", "u2") == yours
        assert ledger.outcome("other") is None

    def test_of_two_equal_requests_at_once_one_writes(self, ledger: Ledger, another: Ledger) -> None:
        """The check for an earlier outcome and the insert are one transaction."""
        start = Barrier(2)

        def send(store: Ledger, memory_id: str) -> Outcome | None:
            start.wait()
            return store.insert([entry(memory_id, "u")], outcome("u", "q", memory_id))

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(send, (ledger, another), ("a", "b")))
        stored = listed(ledger, "u")
        assert len(stored) == 1
        assert [answer.memory_ids for answer in answers if answer is not None] == [tuple(stored)]

    def test_an_update_keeps_the_old_text(self, ledger: Ledger) -> None:
        """Former texts are kept with the times between which they held."""
        first = entry("a", "u", "plays violin", memory_at=DAY - 5)
        second, third = updated(first, "likes tea"), updated(updated(first, ""), "likes coffee", DAY + 90)
        ledger.insert([first])
        ledger.replace(second, expected_version=1)
        ledger.replace(third, expected_version=2)
        assert ledger.records(["a"])["a"] == third.record
        newer, older = ledger.versions("a")
        assert (newer.version, newer.content) == (2, "likes tea")
        assert (newer.recorded_at, newer.replaced_at) == (DAY + 60, DAY + 90)
        assert (older.version, older.content, older.memory_at) == (1, "plays violin", DAY - 5)
        assert (older.recorded_at, older.replaced_at) == (DAY, DAY + 60)

    def test_an_update_of_nothing_is_an_error(self, ledger: Ledger) -> None:
        """Unknown ids, and ids of another user, are not found."""
        ledger.insert([entry("a", "u1")])
        with pytest.raises(MemoryNotFoundError):
            ledger.replace(entry("b", "u1"), expected_version=1)
        with pytest.raises(MemoryNotFoundError):
            ledger.replace(entry("a", "u2", "mine now"), expected_version=1)
        assert ledger.records(["a"])["a"].user_id == "u1"

    def test_an_update_of_an_old_version_changes_nothing(self, ledger: Ledger) -> None:
        """Who read before somebody else's update is told so."""
        first = entry("a", "u", "one")
        ledger.insert([first])
        ledger.replace(updated(first, "two"), expected_version=1)
        with pytest.raises(ConflictError):
            ledger.replace(updated(first, "also two"), expected_version=1)
        assert ledger.records(["a"])["a"].content == "two"
        assert len(ledger.versions("a")) == 1

    def test_updates_at_once_end_in_one_history(self, ledger: Ledger, another: Ledger) -> None:
        """C51: each of them once, none lost, whichever opening of the store it came through."""
        first = entry("a", "u", "0")
        ledger.insert([first])

        def append(number: int) -> None:
            store = (ledger, another)[number % 2]
            while True:
                now = store.records(["a"])["a"]
                try:
                    new = updated(replace(first, record=now), f"{now.content},{number}")
                    return store.replace(new, expected_version=now.version)
                except ConflictError:
                    continue

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(append, range(1, 17)))
        final = ledger.records(["a"])["a"]
        assert final.version == 17
        assert sorted(map(int, final.content.split(","))) == list(range(17))
        assert [one.version for one in ledger.versions("a")] == list(range(16, 0, -1))
        assert all(final.content.startswith(one.content) for one in ledger.versions("a"))

    def test_a_point_has_a_vector_and_a_status(self, ledger: Ledger) -> None:
        """Raw turns are not searched; superseded records are told apart by their status."""
        first = entry("a", "u")
        ledger.insert([first, kept("raw", "u"), entry("old", "u", status=Status.SUPERSEDED)])
        points = ledger.searchable(["a", "raw", "old", "none"])
        assert {one.id: one.payload.status for one in points.values()} == {
            "a": Status.ACTIVE,
            "old": Status.SUPERSEDED,
        }
        assert {point.id for point in ledger.points("u").upserted} == {"a", "old"}
        ledger.replace(Entry(updated(first, "kept only").record), expected_version=1)
        assert ledger.searchable(["a"]) == {}
        ledger.replace(replace(first, terms=terms(9)), expected_version=2)
        assert ledger.searchable(["a"])["a"].terms.ids.tolist() == [9]

    def test_deleting_leaves_nothing(self, ledger: Ledger) -> None:
        """C77, C14: record, versions, vector and terms go; the others stay as they were."""
        entries = [entry(name, "u", f"text of {name}") for name in "abc"]
        ledger.insert(entries)
        ledger.replace(updated(entries[1], "newer b"), expected_version=1)
        assert ledger.delete(["b", "unknown", "b"]) == 1
        assert ledger.delete(["b"]) == 0
        assert ledger.delete([]) == 0
        assert set(ledger.records(["a", "b", "c"])) == {"a", "c"}
        assert ledger.versions("b") == ()
        assert set(ledger.searchable(["a", "b", "c"])) == {"a", "c"}
        assert ledger.counts("u") == {"l2_fact": 2}
        assert {change.content for change in ledger.history(memory_id="b", limit=9)} == {None}
        assert ledger.problems() == ()

    def test_a_deleted_text_leaves_the_records_that_quote_it(self, ledger: Ledger) -> None:
        """Rewritten records keep no version of what was removed."""
        raw = kept("raw", "u", "I like tea and chess")
        ledger.insert([entry("a", "u", "likes tea"), raw])
        left = replace(raw, record=replace(raw.record, content="and chess"))
        assert ledger.delete(["a"], [left, kept("vanished", "u")]) == 1
        assert ledger.records(["raw"])["raw"].content == "and chess"
        assert ledger.records(["raw"])["raw"].version == 2
        assert ledger.versions("raw") == ()
        assert "I like tea and chess" not in {c.content for c in ledger.history(user_id="u", limit=9)}

    def test_two_deletions_cannot_undo_each_other(self, ledger: Ledger) -> None:
        """A rewriting that was prepared before another one is refused whole."""
        raw = kept("raw", "u", "tea, chess")
        ledger.insert([entry("tea", "u"), entry("chess", "u"), raw])
        without_tea = replace(raw, record=replace(raw.record, content="chess"))
        without_chess = replace(raw, record=replace(raw.record, content="tea"))
        ledger.delete(["tea"], [without_tea])
        with pytest.raises(ConflictError):
            ledger.delete(["chess"], [without_chess])
        assert ledger.records(["raw"])["raw"].content == "chess"
        assert set(ledger.records(["tea", "chess"])) == {"chess"}

    def test_an_answer_forgets_what_it_quoted(self, ledger: Ledger) -> None:
        """A stored outcome stays, without the deleted text."""
        text = "lives in the yellow house"
        stored = outcome("u", "q", "a", text=f"noted: {text}")
        ledger.insert([entry("a", "u", text), entry("b", "u")], stored)
        ledger.delete(["b"])
        assert ledger.outcome("q", "u") == stored
        ledger.delete(["a"])
        assert ledger.outcome("q", "u") == replace(stored, answer={"said": [""], "n": 1})

    def test_delete_all_is_one_users(self, ledger: Ledger) -> None:
        """C79: the other user keeps everything, outcomes too."""
        for user_id in ("u1", "u2"):
            entries = [entry(f"{user_id}/{number}", user_id) for number in range(10)]
            ledger.insert([*entries, kept(f"{user_id}/raw", user_id)], outcome(user_id, "q"))
        assert ledger.delete_all(whole("u1")) == 11
        assert ledger.users() == ("u2",)
        assert ledger.counts("u1") == {}
        assert ledger.counts("u2") == {"l1_raw": 1, "l2_fact": 10}
        assert ledger.points("u1").upserted == ()
        assert len(ledger.points("u2").upserted) == 10
        assert ledger.outcome("q", "u1") is None
        assert ledger.outcome("q", "u2") == outcome("u2", "q")
        assert ledger.delete_all(whole("u1", "nobody")) == 0

    def test_delete_all_of_a_narrower_scope(self, ledger: Ledger) -> None:
        """Only what the filter admits goes, and outcomes stay."""
        entries = [entry("a", "u", session_id="s1"), entry("b", "u", session_id="s2")]
        ledger.insert([*entries, entry("c", "u", attributes={"project": "atlas"})], outcome("u", "q"))
        assert ledger.delete_all(within("u", "session_id", "s1")) == 1
        assert ledger.delete_all(scoped(("u",), Compare("metadata.project", Op.EQ, "atlas"))) == 1
        assert listed(ledger, "u") == ["b"]
        assert ledger.outcome("q", "u") is not None

    def test_the_first_embedder_stays(self, ledger: Ledger, another: Ledger) -> None:
        """C59: who made the vectors is remembered, and told to every opening."""
        assert ledger.embedder() is None
        assert ledger.bind_embedder(IDENTITY) == IDENTITY
        assert another.bind_embedder(EmbedderIdentity("second", 4, "")) == IDENTITY
        assert another.embedder() == IDENTITY

    def test_vectors_of_another_length_are_refused(self, ledger: Ledger) -> None:
        """C59: a process that missed a re-embedding cannot store what nobody could compare."""
        ledger.bind_embedder(IDENTITY)
        with pytest.raises(LedgerError, match="8 dimensions"):
            ledger.insert([replace(entry("a", "u"), vector=vector(1, dims=4))])
        assert ledger.users() == ()

    def test_reembedding_keeps_everything_but_vectors(self, ledger: Ledger) -> None:
        """C59: ids, times, versions and terms stay; projections learn of it by the change log."""
        entries = [entry("a", "u"), replace(entry("b", "u"), supersedes="a")]
        ledger.insert([*entries[:1], kept("raw", "u")])
        ledger.insert(entries[1:])
        ledger.bind_embedder(IDENTITY)
        before, records = ledger.points("u"), ledger.records(["a", "b"])
        second = EmbedderIdentity("second", 4, "print-2")
        rows = np.stack([vector(1, 4), vector(2, 4)])
        assert ledger.reembed(second, [(["a"], rows[:1]), (["b"], rows[1:])]) == 2
        assert ledger.embedder() == second
        assert ledger.records(["a", "b"]) == records
        changed = ledger.changes("u", before.seq)
        assert {point.id: point.vector.tolist() for point in changed.upserted} == {
            "a": rows[0].tolist(),
            "b": rows[1].tolist(),
        }
        assert {point.terms.ids.tobytes() for point in changed.upserted} == {entries[0].terms.ids.tobytes()}  # type: ignore[union-attr]
        assert ledger.problems() == ()

    def test_a_reembedding_that_stops_changes_nothing(self, ledger: Ledger) -> None:
        """C61: neither a failing embedder nor a forgotten memory leaves two kinds of vectors."""
        ledger.insert([entry("a", "u"), entry("b", "u")])
        ledger.bind_embedder(IDENTITY)
        before = ledger.points("u")
        second = EmbedderIdentity("second", 4, "")

        def failing() -> Iterator[tuple[Sequence[str], FloatArray]]:
            yield ["a"], np.stack([vector(1, 4)])
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError, match="no more"):
            ledger.reembed(second, failing())
        with pytest.raises(LedgerError, match="1 memories"):
            ledger.reembed(second, [(["a"], np.stack([vector(1, 4)]))])
        with pytest.raises(LedgerError):
            ledger.reembed(second, [(["a", "b"], np.stack([vector(1), vector(2)]))])
        assert ledger.embedder() == IDENTITY
        assert point_bytes(ledger.points("u").upserted) == point_bytes(before.upserted)
        assert ledger.points("u").seq == before.seq

    def test_an_empty_store_can_change_its_embedder(self, ledger: Ledger) -> None:
        """C59: a collection without vectors does not keep the old dimension."""
        ledger.bind_embedder(IDENTITY)
        second = EmbedderIdentity("second", 4, "")
        assert ledger.reembed(second, []) == 0
        assert ledger.bind_embedder(IDENTITY) == second

    def test_every_kind_of_write_is_logged(self, ledger: Ledger) -> None:
        """One row for each change of a record, in order."""
        first = entry("a", "u")
        ledger.insert([first])
        ledger.replace(updated(first, "new"), expected_version=1)
        ledger.delete(["a"])
        kinds = [(change.kind, change.version) for change in ledger.log(0, 10)]
        assert kinds == [(ChangeKind.ADD, 1), (ChangeKind.UPDATE, 2), (ChangeKind.DELETE, 2)]
