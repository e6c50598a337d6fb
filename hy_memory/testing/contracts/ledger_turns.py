"""The conversational part of the ledger's contract: turns, and where sessions were closed."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from hy_memory.errors import ClosedError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import Compare, Op, all_of
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, entry, kept, listed, updated, whole, within
from hy_memory.values.record import NORMAL_LAYERS, Layer, Status
from hy_memory.values.turn import KEPT, Closing, Turn
from hy_memory.values.write import ChangeKind

_HOUR = 3600.0


def _ids(ledger: Ledger, user_id: str) -> list[str]:
    return sorted(turn.id for turn in ledger.turns(user_id).turns)


class LedgerTurns:
    """What a ledger promises of turns and closings."""

    def test_turns_tell_when_and_where_and_what(self, ledger: Ledger) -> None:
        """Session, application, layer, moments, whether it asks, and the text unless it is a long one."""
        first = entry("a", "u", "Où vis-tu?", session_id="s", source="app", memory_at=DAY - 5, owner="ZOË")
        second = entry("b", "u", "In Lyon.", agent_id="x", expires_at=DAY + 9, layer=Layer.L5_KNOWLEDGE)
        long = entry("c", "u", "x" * (KEPT + 1), session_id="s", owner="ZOË")
        ledger.insert([first, second, long, entry("v", "v")])
        found = {turn.id: turn for turn in ledger.turns("u").turns}
        fact, knowledge = Layer.L2_FACT, Layer.L5_KNOWLEDGE
        assert found == {
            "a": Turn(
                *("a", "default_agent", "s", "app", fact, None, DAY - 5, DAY),
                *(True, "zoe", 11, "Où vis-tu?", "ZOË", DAY - 5),
            ),
            "b": Turn(
                *("b", "x", "default_session", "default", knowledge, DAY + 9, DAY, DAY),
                *(False, "", 8, "In Lyon.", "", None),
            ),
            "c": Turn(
                *("c", "default_agent", "s", "default", fact, None, DAY, DAY),
                *(False, "zoe", KEPT + 1, None, "ZOË", None),
            ),
        }
        assert ledger.turns("u").removed == ledger.turns("u").closings == ()
        assert ledger.turns("nobody").turns == ()

    @pytest.mark.parametrize(
        ("content", "asks"),
        [
            ("?", True),
            ("你住在哪里？", True),
            ("really? yes", True),
            ("100%", False),
            ("_", False),
            ("", False),
            ("¿que tal", False),
            ("line\nline two?\n", True),
        ],
    )
    def test_a_question_mark_is_told(self, ledger: Ledger, content: str, asks: bool) -> None:
        """Of ASCII and of full width."""
        ledger.insert([entry("a", "u", content)])
        assert [turn.asks for turn in ledger.turns("u").turns] == [asks]

    def test_only_active_records_of_normal_layers_are_turns(self, ledger: Ledger) -> None:
        """Raw exchanges, patterns, plans and superseded memories are not."""
        ledger.insert([entry(layer.value, "u", layer=layer) for layer in Layer if layer is not Layer.L1_RAW])
        ledger.insert([kept("raw", "u"), entry("old", "u", status=Status.SUPERSEDED)])
        assert _ids(ledger, "u") == sorted(layer.value for layer in NORMAL_LAYERS)
        assert {turn.layer for turn in ledger.turns("u").turns} == set(NORMAL_LAYERS)

    def test_turns_are_followed_by_number(self, ledger: Ledger, another: Ledger) -> None:
        """Added, changed, superseded, deleted: what one opening does is what the other is told."""
        first = entry("a", "u")
        ledger.insert([first, entry("b", "u")])
        seq = another.turns("u").seq
        assert another.turns("u", seq).turns == another.turns("u", seq).removed == ()
        assert another.turns("u", seq).seq == seq
        ledger.insert([entry("c", "u"), kept("raw", "u"), entry("v", "v")])
        asking = updated(first, "do you like tea?")
        ledger.replace(replace(asking, record=replace(asking.record, memory_at=DAY + _HOUR)), 1)
        found = another.turns("u", seq)
        assert sorted((one.id, one.asks, one.event_at) for one in found.turns) == [
            ("a", True, DAY + _HOUR),
            ("c", False, DAY),
        ]
        assert found.removed == ()
        ledger.insert([replace(entry("d", "u", layer=Layer.L6_SCHEMA), supersedes="b")])
        ledger.delete(["a", "raw"])
        later = another.turns("u", found.seq)
        assert later.turns == ()
        assert {"a", "b"} <= set(later.removed) <= {"a", "b", "raw"}
        ledger.insert([entry("gone", "u")])
        ledger.delete(["gone"])
        assert another.turns("u", later.seq).turns == another.turns("u", later.seq).removed == ()
        assert _ids(another, "u") == ["c"]
        assert another.turns("u").seq == another.turns("u", seq).seq

    def test_closing_a_session_is_remembered_once(self, ledger: Ledger, another: Ledger) -> None:
        """Closing again changes nothing until there is a new turn; the moment is after the last turn."""
        ledger.insert([entry("a", "u", session_id="s"), kept("raw", "u", session_id="s", created_at=9e12)])
        before, freshness = another.turns("u").seq, another.freshness()
        at = ledger.close_session("u", "default_agent", "s")
        assert at is not None
        assert at > DAY
        assert another.freshness() != freshness
        assert another.close_session("u", "default_agent", "s") == at
        found = another.turns("u", before)
        assert found.closings == (Closing("default_agent", "s", at),)
        assert found.removed == ()
        assert found.seq > before
        ahead = at + 9 * _HOUR  # written by a machine whose clock is ahead of this one
        ledger.insert([entry("b", "u", session_id="s", created_at=ahead)])
        assert ledger.close_session("u", "default_agent", "s") == ahead
        assert [one.at for one in another.turns("u").closings] == [at, ahead]

    def test_a_session_without_turns_has_nothing_to_close(self, ledger: Ledger) -> None:
        """Neither raw exchanges nor other agents' or users' memories count."""
        ledger.insert([entry("a", "u", session_id="s"), kept("raw", "u", session_id="r")])
        seq = ledger.turns("u").seq
        for session in (("u", "default_agent", "r"), ("u", "x", "s"), ("v", "default_agent", "s")):
            assert ledger.close_session(*session) is None
        assert ledger.turns("u").seq == seq
        assert ledger.turns("u").closings == ()

    def test_closing_is_no_event_and_changes_no_record(self, ledger: Ledger) -> None:
        """Projections and histories see the memories they saw."""
        ledger.insert([entry("a", "u")])
        record, seq = ledger.records(["a"])["a"], ledger.points("u").seq
        assert ledger.close_session("u", "default_agent", "default_session") is not None
        assert ledger.records(["a"])["a"] == record
        for events in (
            ledger.history(user_id="u", limit=9),
            ledger.history(memory_id="a", limit=9),
            ledger.history(user_id="u", memory_id="a", limit=9),
        ):
            assert [one.kind for one in events] == [ChangeKind.ADD]
        assert {point.id for point in ledger.changes("u", seq).upserted} <= {"a"}
        assert ledger.changes("u", seq).removed == ()
        assert ledger.problems() == ()

    def test_closings_go_with_their_scope(self, ledger: Ledger) -> None:
        """C79: a deleted user, agent or session leaves no trace; a finer filter ends no session."""
        made = count()

        def fill() -> None:
            for user_id in ("u", "v"):
                for agent_id in ("x", "y"):
                    for session_id in ("s", "t"):
                        more: dict[str, Any] = {
                            "agent_id": agent_id,
                            "session_id": session_id,
                            "created_at": 9e9,
                        }
                        ledger.insert([entry(f"m{next(made)}", user_id, **more)])
                        assert ledger.close_session(user_id, agent_id, session_id) == 9e9

        def left(user_id: str) -> list[str]:
            return [one.agent_id + one.session_id for one in ledger.turns(user_id).closings]

        fill()
        ledger.delete_all(within("u", "source", "default"))
        assert listed(ledger, "u") == []
        assert left("u") == ["xs", "xt", "ys", "yt"]
        ledger.delete_all(within("u", "session_id", "s"))
        assert left("u") == ["xt", "yt"]
        ledger.delete_all(
            scoped(("u",), all_of(Compare("agent_id", Op.IN, ("x", "z")), Compare("session_id", Op.EQ, "t")))
        )
        assert left("u") == ["yt"]
        ledger.delete_all(whole("u"))
        assert left("u") == []
        assert left("v") == ["xs", "xt", "ys", "yt"]

    def test_closings_are_copied_beside_those_there(self, ledger: Ledger) -> None:
        """Copying twice copies once."""
        ledger.insert([entry("a", "u", created_at=9e9), entry("b", "v", session_id="s", created_at=9e9)])
        ledger.close_session("u", "default_agent", "default_session")
        ledger.close_session("v", "default_agent", "s")
        for _ in range(2):
            ledger.copy_closings("u", "v")
        assert [one.session_id for one in ledger.turns("v").closings] == ["default_session", "s"]
        assert [one.session_id for one in ledger.turns("u").closings] == ["default_session"]

    def test_a_closed_ledger_has_no_turns(self, ledger: Ledger) -> None:
        """C46: a typed error."""
        ledger.close()
        with pytest.raises(ClosedError):
            ledger.turns("u")
