"""The part of the ledger's contract that is about edits of code: kept with raw turns, and gone with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hy_memory.errors import LedgerError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING
from hy_memory.ports import Ledger
from hy_memory.testing.contracts.ledger_rows import DAY, kept
from hy_memory.values.code import CodeEdit, Ground, Piece
from hy_memory.values.write import Entry

HERE = Ground("u", "host/a/b.c", "main")


def edit(record_id: str, path: str = "a.py", ground: Ground = HERE, **more: object) -> CodeEdit:
    """Return an edit that tells its number in `words`."""
    made = CodeEdit(record_id, ground, path, 0, "words", (Piece("f", "old", "new"),), DAY)
    return replace(made, **more)  # pyright: ignore[reportArgumentType]


def turn(record_id: str, *edits: CodeEdit, user_id: str = "u") -> Entry:
    """Return a raw turn with the edits it tells of."""
    return replace(kept(record_id, user_id), edits=edits)


def words(ledger: Ledger, *paths: str, ground: Ground = HERE, limit: int = 99) -> list[str]:
    """Return the words of the edits that are found by the names of files."""
    return [one.words for one in ledger.edits(ground, paths, limit)]


class LedgerEdits:
    """Everything that `EditSource` promises."""

    def test_edits_come_back_as_they_were(self, ledger: Ledger, open_store: Callable[[], Ledger]) -> None:
        """Every field but the file itself, in any script, also when the store is opened anew."""
        pieces = (
            Piece("", None, "日本\r\n\u2028x", False, 7),
            Piece("A.f", "x" * 9000, None, target=("b.py", "f")),
            Piece("g", None, "", origin=("c.py", "h")),
        )
        first = edit(
            "a", old_path="z.py", content="the file", source="ide", turn=3, pieces=pieces, words="é\n'"
        )
        ledger.insert([turn("a", first, edit("a", "b.py", at=DAY + 0.5))])
        ledger.close()
        again = open_store()
        one, two = again.edits(HERE, ["a.py", "b.py"], 9)
        assert one == replace(first, content=None, seq=one.seq)
        assert (two.path, two.at, two.old_path) == ("b.py", DAY + 0.5, "")
        assert 0 < one.seq < two.seq
        assert again.edits_of(["a", "unknown"]) == (one, two)
        again.close()

    def test_grounds_are_apart(self, ledger: Ledger) -> None:
        """A user, a workspace and a branch are compared as wholes: nothing in them means anything."""
        grounds = [
            HERE,
            replace(HERE, workspace="host/a/b.c2"),
            replace(HERE, workspace="host/a-b.c"),
            replace(HERE, branch="main2"),
            replace(HERE, branch=""),
            replace(HERE, user_id="v"),
            replace(HERE, workspace="%"),
        ]
        for at, ground in enumerate(grounds):
            told = edit(str(at), ground=ground, words=str(at), content=str(at))
            ledger.insert([turn(str(at), told, user_id=ground.user_id)])
        for at, ground in enumerate(grounds):
            assert words(ledger, "a.py", ground=ground) == [str(at)]
            assert ledger.contents(ground, "default", ["a.py"]) == {"a.py": str(at)}

    def test_edits_are_found_by_both_names_of_a_file(self, ledger: Ledger) -> None:
        """The newest of each kind, in their order."""
        told = [edit("r", "a.py", words=str(at)) for at in range(5)]
        moved = edit("r", "b.py", old_path="a.py", words="moved")
        ledger.insert([turn("r", *told, moved, edit("r", "b.py", words="after"))])
        assert words(ledger, "a.py") == ["0", "1", "2", "3", "4", "moved"]
        assert words(ledger, "a.py", limit=2) == ["3", "4", "moved"]
        assert words(ledger, "b.py") == ["moved", "after"]
        assert words(ledger, "a.py", "b.py", "c.py") == ["0", "1", "2", "3", "4", "moved", "after"]
        assert words(ledger, "c.py") == words(ledger) == []

    def test_files_that_are_known_as_a_whole(self, ledger: Ledger) -> None:
        """The newest edit says what is known: the text, that it is gone, or nothing."""
        made = [edit("r", path, content=f"first {path}") for path in ("a", "b", "c", "d", "e")]
        ledger.insert([turn("r", *made)])
        ledger.insert(
            [
                turn(
                    "s",
                    edit("s", "a", content=""),
                    edit("s", "b", is_gone=True),
                    edit("s", "c"),
                    edit("s", "f", old_path="d", content="moved"),
                )
            ]
        )
        paths = ["a", "b", "c", "d", "e", "f", "g"]
        known = {"a": "", "b": None, "d": None, "e": "first e", "f": "moved"}
        assert ledger.contents(HERE, "default", paths) == known
        ledger.insert([turn("t", edit("t", "d", content="again"))])
        assert ledger.contents(HERE, "default", ["d"]) == {"d": "again"}
        assert ledger.contents(HERE, "default", []) == ledger.contents(HERE, "ide", paths) == {}

    def test_edits_go_with_their_turns(self, ledger: Ledger) -> None:
        """Whichever verb removes a turn; what is left keeps its order and is what is known."""
        for name in ("r", "s", "t"):
            ledger.insert([turn(name, edit(name, words=name, content=name))])
        ledger.insert([turn("x", edit("x", ground=replace(HERE, user_id="v")), user_id="v")])
        assert (ledger.edit_count("u"), ledger.edit_count("v"), ledger.edit_count("w")) == (3, 1, 0)
        assert ledger.delete(["t"]) == 1
        assert words(ledger, "a.py") == ["r", "s"]
        assert ledger.contents(HERE, "default", ["a.py"]) == {"a.py": "s"}
        ledger.delete_all(scoped(("u",), EVERYTHING))
        assert words(ledger, "a.py") == []
        assert ledger.contents(HERE, "default", ["a.py"]) == {}
        assert (ledger.edit_count("u"), ledger.edit_count("v")) == (0, 1)
        assert ledger.problems() == ()

    def test_a_write_that_fails_keeps_no_edit(self, ledger: Ledger) -> None:
        """Turn and edits are one transaction."""
        ledger.insert([turn("r", edit("r"))])
        for wrong in (turn("r", edit("r")), turn("s", edit("unknown"))):
            with pytest.raises(LedgerError):
                ledger.insert([wrong])
        assert ledger.edit_count("u") == 1
        assert sorted(ledger.records(["r", "s"])) == ["r"]

    def test_edits_are_copied_in_their_order(self, ledger: Ledger) -> None:
        """To the turns that were copied; those of others are left where they are."""
        ledger.insert([turn("r", edit("r", words="1", content="x")), turn("s", edit("s", words="2"))])
        ledger.insert([turn("t", *(edit("t", words=str(at), old_path="o") for at in range(3, 1203)))])
        ledger.insert([kept("r2", "v"), kept("t2", "v")])
        ledger.copy_edits("u", "v", {"r": "r2", "t": "t2"})
        theirs = replace(HERE, user_id="v")
        assert words(ledger, "a.py", ground=theirs, limit=5000) == ["1", *(str(at) for at in range(3, 1203))]
        assert {one.record_id for one in ledger.edits_of(["r2", "t2"])} == {"r2", "t2"}
        assert ledger.edit_count("u") == 1202
