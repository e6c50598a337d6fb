"""The reading half of the ledger's contract: pages, histories, points, and who may feed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from threading import Event
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.errors import ConflictError, InvalidArgumentError, LedgerError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING, Compare, Filter, Not, Op
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import (
    ALL,
    DAY,
    entry,
    filterable,
    kept,
    listed,
    point_bytes,
    updated,
    whole,
)
from hy_memory.testing.contracts.ledger_writing import EXAMPLES
from hy_memory.testing.strategies import ODD_IDS, filters
from hy_memory.values.point import Point, payload_of
from hy_memory.values.record import Claimed, RecordClaim, Status
from hy_memory.values.write import ChangeKind, Entry, ListQuery

_FRESH = count()
CORNERS = tuple(
    Compare(field, op, value)
    for field in ("source", "created_at", "expires_at")
    for op, value in (
        (Op.EQ, 1),
        (Op.EQ, True),
        (Op.EQ, "1"),
        (Op.IN, (1, "true", True, float("nan"))),
        (Op.IN, ()),
        (Op.GT, 0),
        (Op.GTE, True),
        (Op.LTE, float("nan")),
        (Op.LT, float("inf")),
        (Op.LT, 2**53 + 1),
        (Op.EQ, 2**53 + 1),
        (Op.GT, 10**400),
        (Op.EXISTS, True),
        (Op.EXISTS, False),
    )
)
"""Comparisons at which engines tend to convert, round, or fail."""


class LedgerReading:
    """Everything that `Ledger`'s reading verbs promise."""

    @pytest.mark.parametrize("size", [47, 1001])
    @pytest.mark.parametrize("ascending", [True, False])
    def test_pages_hold_every_record_once(self, ledger: Ledger, size: int, ascending: bool) -> None:
        """C37: no hidden cap, a stable order also among equal times, and a true total."""
        ledger.insert([entry(f"{number:04}", "u", created_at=DAY + number // 3) for number in range(size)])
        seen: list[str] = []
        while page := ledger.page(whole("u"), ListQuery(100, len(seen), ascending)).records:
            seen.extend(record.id for record in page)
        expected = [f"{number:04}" for number in range(size)]
        assert seen == (expected if ascending else expected[::-1])
        assert ledger.page(whole("u"), ListQuery(0, 0, ascending)).total == size

    @EXAMPLES
    @given(data=st.data(), tree=filters())
    def test_a_filter_means_what_the_reference_says(
        self, ledger: Ledger, data: st.DataObject, tree: Filter
    ) -> None:
        """C07, C69: page, total and deletion agree with `evaluate` on every tree."""
        fresh = f"f{next(_FRESH)}"
        mine = f"{fresh}-mine", f"{fresh}-too"
        stored = data.draw(filterable(fresh, (*mine, f"{fresh}-not")))
        ledger.insert([Entry(record) for record in stored])
        where = scoped(mine[: data.draw(st.integers(1, 2))], tree)
        admitted = sorted(
            (record for record in stored if where.admits(payload_of(record))),
            key=lambda record: (record.created_at, record.id),
        )
        page = ledger.page(where, replace(ALL, ascending=True))
        assert list(page.records) == admitted
        assert page.total == len(admitted)
        second = ledger.page(where, ListQuery(2, 1, ascending=False))
        assert list(second.records) == admitted[::-1][1:3]
        assert second.total == len(admitted)
        assert ledger.delete_all(where) == len(admitted)
        left = {record.id for record in stored} - {record.id for record in admitted}
        assert set(ledger.records([record.id for record in stored])) == left

    @pytest.mark.parametrize("tree", CORNERS, ids=str)
    @pytest.mark.parametrize("negated", [False, True])
    def test_values_keep_their_type(self, ledger: Ledger, tree: Compare, negated: bool) -> None:
        """C07: texts, numbers, truth values and what lies between two doubles are never mixed up."""
        where = scoped(("u",), Not(tree) if negated else tree)
        times = (0.0, 1.0, -1.0, 2.0**53, 2.0**60)
        stored = [
            entry(f"{number}{source}", "u", source=source, created_at=at, expires_at=at or None).record
            for number, at in enumerate(times)
            for source in ("1", "true", "app")
        ]
        ledger.insert([Entry(record) for record in stored])
        admitted = {record.id for record in stored if where.admits(payload_of(record))}
        assert {record.id for record in ledger.page(where, ALL).records} == admitted

    @pytest.mark.parametrize("odd", ODD_IDS)
    def test_ids_are_text_like_any_other(self, ledger: Ledger, odd: str) -> None:
        """C04, C69: nothing in an id is syntax to any engine."""
        ledger.insert([entry(odd, odd, agent_id=odd, session_id=odd, source=odd), entry("other", "other")])
        for field in ("agent_id", "session_id", "source"):
            assert listed(ledger, odd, Compare(field, Op.EQ, odd)) == [odd]
            assert listed(ledger, odd, Compare(field, Op.IN, (odd, "x"))) == [odd]
        assert list(ledger.records([odd, "none"])) == [odd]
        assert [point.id for point in ledger.points(odd).upserted] == [odd]
        assert ledger.delete_all(whole(odd)) == 1
        assert ledger.users() == ("other",)

    def test_counts_and_users(self, ledger: Ledger) -> None:
        """Counts follow every write; users are sorted by code point on every engine."""
        ledger.insert([entry("a", "u2"), entry("b", "u2", status=Status.SUPERSEDED), kept("c", "u2")])
        ledger.insert([entry("d", "U1"), entry("e", "ä")])
        assert ledger.users() == ("U1", "u2", "ä")
        assert ledger.counts("u2") == {"l1_raw": 1, "l2_fact": 2}
        assert ledger.counts("nobody") == {}
        ledger.replace(replace(entry("a", "u2"), record=kept("a", "u2").record), expected_version=1)
        assert ledger.counts("u2") == {"l1_raw": 2, "l2_fact": 1}
        active = scoped(("u2",), Compare("status", Op.EQ, "active"))
        assert ledger.page(active, ALL).total == 2

    def test_history_tells_what_was_said_when(self, ledger: Ledger) -> None:
        """Newest first, each change with the text of its time, nobody else's among them."""
        first = entry("a", "u", "one")
        ledger.insert([first, entry("b", "u", "other")])
        ledger.insert([entry("c", "v", "not mine")])
        ledger.replace(updated(first, "two"), expected_version=1)
        told = [(c.memory_id, c.kind, c.version, c.content) for c in ledger.history(user_id="u", limit=9)]
        assert told == [
            ("a", ChangeKind.UPDATE, 2, "two"),
            ("b", ChangeKind.ADD, 1, "other"),
            ("a", ChangeKind.ADD, 1, "one"),
        ]
        assert [c.version for c in ledger.history(memory_id="a", limit=9)] == [2, 1]
        assert [c.memory_id for c in ledger.history(user_id="u", limit=1)] == ["a"]
        assert ledger.history(user_id="v", memory_id="a", limit=9) == ()
        with pytest.raises(InvalidArgumentError):
            ledger.history(limit=9)

    def test_an_id_that_comes_back_has_two_lives(self, ledger: Ledger) -> None:
        """An import may bring back a deleted id; what it said in its first life stays gone."""
        ledger.insert([entry("a", "u", "first life")])
        ledger.delete(["a"])
        ledger.insert([entry("a", "u", "second life")])
        told = [(change.kind, change.content) for change in ledger.history(memory_id="a", limit=9)]
        assert told == [
            (ChangeKind.ADD, "second life"),
            (ChangeKind.DELETE, None),
            (ChangeKind.ADD, None),
        ]

    def test_changes_are_what_points_lack(self, ledger: Ledger) -> None:
        """Updated, added and gone points, none of them twice, raw turns never."""
        first = entry("a", "u")
        ledger.insert([first, entry("b", "u")])
        before = ledger.points("u")
        assert ledger.changes("u", before.seq) == replace(before, upserted=())
        ledger.insert([entry("c", "u"), kept("raw", "u"), entry("x", "v")])
        ledger.replace(updated(first, "new"), expected_version=1)
        ledger.delete(["b"])
        changed = ledger.changes("u", before.seq)
        assert {point.id for point in changed.upserted} == {"a", "c"}
        assert changed.removed == ("b",)
        assert ledger.changes("u", changed.seq).upserted == ()
        assert ledger.changes("u", 0).upserted != ()

    @EXAMPLES
    @given(
        steps=st.lists(
            st.tuples(
                st.sampled_from(["insert", "raw", "update", "hide", "delete", "read"]), st.integers(0, 4)
            ),
            max_size=14,
        )
    )
    def test_replaying_changes_ends_where_points_are(
        self, ledger: Ledger, steps: list[tuple[str, int]]
    ) -> None:
        """C80: whatever was written in between, a reader that catches up holds exactly the points."""
        user_id = f"w{next(_FRESH)}"
        held: dict[str, Point] = {}
        seq = 0

        def catch_up(seq: int) -> int:
            changes = ledger.changes(user_id, seq)
            assert not set(changes.removed) & {point.id for point in changes.upserted}
            for memory_id in changes.removed:
                held.pop(memory_id, None)
            held.update((point.id, point) for point in changes.upserted)
            return changes.seq

        for step, number in steps:
            memory_id = f"{user_id}/{number}"
            now = ledger.records([memory_id]).get(memory_id)
            if step == "read":
                seq = catch_up(seq)
            elif step == "delete":
                ledger.delete([memory_id])
            elif now is None and step in ("insert", "raw"):
                ledger.insert([(entry if step == "insert" else kept)(memory_id, user_id)])
            elif now is not None and step in ("update", "hide"):
                new = updated(entry(memory_id, user_id), "new")
                new = replace(new, record=replace(new.record, version=now.version + 1))
                ledger.replace(new if step == "update" else Entry(new.record), now.version)
        catch_up(seq)
        assert point_bytes(list(held.values())) == point_bytes(ledger.points(user_id).upserted)

    def test_the_log_is_everybodys_in_order(self, ledger: Ledger) -> None:
        """Oldest first, at most as many as asked for."""
        ledger.insert([entry("a", "u"), entry("b", "v")])
        ledger.delete(["a"])
        changes = ledger.log(0, 100)
        assert [(c.user_id, c.memory_id, c.kind.value) for c in changes] == [
            ("u", "a", "add"),
            ("v", "b", "add"),
            ("u", "a", "delete"),
        ]
        assert [c.seq for c in changes] == sorted({c.seq for c in changes})
        assert ledger.log(changes[0].seq, 1) == changes[1:2]
        assert ledger.log(changes[-1].seq, 100) == ()

    def test_a_projection_remembers_how_far_it_is(self, ledger: Ledger, another: Ledger) -> None:
        """Each projection by its own name, in the store and not in the process."""
        assert ledger.cursor("qdrant:a") == 0
        ledger.set_cursor("qdrant:a", 7)
        ledger.set_cursor("qdrant:a", 9)
        assert another.cursor("qdrant:a") == 9
        assert another.cursor("qdrant:b") == 0

    def test_freshness_sees_every_commit(self, ledger: Ledger, another: Ledger) -> None:
        """C80: through whichever opening it came, and nothing but a commit."""
        for number in range(20):
            before = ledger.freshness(), another.freshness()
            assert (ledger.freshness(), another.freshness()) == before
            (ledger, another)[number % 2].insert([entry(f"f{number}", "u")])
            after = ledger.freshness(), another.freshness()
            assert after[0] != before[0]
            assert after[1] != before[1]
            with pytest.raises(RuntimeError), ledger.feeding("nothing is stored"):
                raise RuntimeError
            assert (ledger.freshness(), another.freshness()) == after

    @pytest.mark.parametrize("shared", [True, False])
    def test_one_at_a_time_feeds(self, ledger: Ledger, another: Ledger, shared: bool) -> None:
        """The right to feed excludes other threads, and other openings of the store."""
        second = ledger if shared else another
        inside, leave = Event(), Event()

        def hold() -> None:
            with ledger.feeding("p: one/two"):
                inside.set()
                assert leave.wait(10)

        def follow() -> bool:
            with second.feeding("p: one/two"):
                return leave.is_set()

        with ThreadPoolExecutor(2) as pool:
            holder = pool.submit(hold)
            assert inside.wait(10)
            with second.feeding("p: other"):
                follower = pool.submit(follow)
                sleep(0.1)
                assert not follower.done()
            leave.set()
            assert follower.result(10)
            holder.result(10)

    def test_claims_follow_their_records(self, ledger: Ledger) -> None:
        """What a record claims is stored, changed, hidden and removed with it, and is nobody else's."""
        lyon, oslo = RecordClaim("location", "Lyon"), RecordClaim("location", "Oslo 奥斯陆", is_past=True)
        first = entry("b", "u", claims=(lyon,), memory_at=5.0)
        ledger.insert([first, entry("a", "u", claims=(oslo, lyon)), entry("c", "u"), kept("raw", "u")])
        ledger.insert(
            [entry("d", "v", claims=(oslo,)), entry("e", "u", status=Status.SUPERSEDED, claims=(lyon,))]
        )
        assert ledger.claims("u") == (Claimed("a", DAY, (oslo, lyon)), Claimed("b", 5.0, (lyon,)))
        assert ledger.records(["b"])["b"].claims == (lyon,)
        new = updated(first, "two")
        new = replace(new, record=replace(new.record, claims=(oslo,)))
        ledger.replace(new, expected_version=1)
        assert ledger.claims("u")[1] == Claimed("b", 5.0, (oslo,))
        ledger.replace(
            updated(replace(new, record=replace(new.record, claims=())), "three"), expected_version=2
        )
        assert [one.memory_id for one in ledger.claims("u")] == ["a"]
        ledger.delete(["a"])
        assert ledger.claims("u") == ledger.claims("nobody") == ()
        assert ledger.delete_all(whole("v")) == 1
        assert ledger.claims("v") == ()

    def test_a_failed_write_claims_nothing(self, ledger: Ledger) -> None:
        """Claims are of the same transaction as their record."""
        claim = RecordClaim("name", "Maya")
        stored = entry("a", "u", claims=(claim,))
        ledger.insert([stored])
        with pytest.raises(LedgerError):
            ledger.insert([entry("b", "u", claims=(claim,)), stored])
        with pytest.raises(ConflictError):
            ledger.replace(updated(stored, "two"), expected_version=7)
        assert ledger.claims("u") == (Claimed("a", DAY, (claim,)),)

    def test_a_sound_store_has_no_problems(self, ledger: Ledger) -> None:
        """Ordinary use leaves nothing to complain of."""
        ledger.insert([entry("a", "u"), kept("raw", "u")])
        ledger.delete(["a"])
        assert ledger.problems() == ()

    def test_many_ids_are_one_question(self, ledger: Ledger) -> None:
        """No limit on how many values a statement binds is a limit of ours."""
        ledger.insert([entry("a", "u")])
        wanted = ["a", *(f"none-{number}" for number in range(70_000))]
        assert list(ledger.records(wanted)) == ["a"]
        assert listed(ledger, "u", Compare("source", Op.IN, (*wanted, "default"))) == ["a"]
        assert ledger.page(scoped(("u", *wanted), EVERYTHING), ALL).total == 1
