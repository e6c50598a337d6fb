"""Edits folded into threads: versions in order, reverts known as such, moved code still followed."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hy_memory.chain.replay import replay
from hy_memory.chain.threads import Thread, folded
from hy_memory.values.code import CodeEdit, FileEdit, Fragment, Ground

HERE = Ground("u", "w", "b")
F = "def f():\n    return {}\n"
LONG = "def {}():\n    first = load()\n    second = {}\n    return first + second\n"


def fold(*turns: Sequence[FileEdit], words: Sequence[str] = ()) -> dict[tuple[str, str], Thread]:
    """Return the threads of turns by where they stand; turn n says "n" where it has no words of its own."""
    known: dict[str, str | None] = {}
    edits: list[CodeEdit] = []
    for at, turn in enumerate(turns):
        said = words[at] if words else str(at)
        for done in replay(turn, known):
            edits.append(
                CodeEdit(
                    "r",
                    HERE,
                    done.path,
                    at,
                    said,
                    done.pieces,
                    float(at),
                    old_path=done.old_path,
                    seq=len(edits),
                )
            )
    return {one.place: one for one in folded(edits)}


def whole(path: str, text: str) -> list[FileEdit]:
    return [FileEdit(path, content=text)]


def part(path: str, old: str, new: str) -> list[FileEdit]:
    return [FileEdit(path, (Fragment(old, new),))]


def afters(thread: Thread) -> list[str | None]:
    return [one.after for one in thread.versions]


def test_each_symbol_has_the_versions_that_touched_it() -> None:
    both = F.format(1) + "\n\ndef g():\n    pass\n"
    threads = fold(whole("a.py", both), part("a.py", "return 1", "return 2"), part("a.py", "pass", "..."))
    assert afters(threads["a.py", "f"]) == [F.format(1), F.format(2)]
    assert [one.words for one in threads["a.py", "f"].versions] == ["0", "1"]
    assert afters(threads["a.py", "g"]) == ["def g():\n    pass\n", "def g():\n    ...\n"]


def test_a_revert_is_known_by_what_it_brings_back() -> None:
    made = [
        whole("a.py", F.format(1)),
        part("a.py", "1", "2"),
        part("a.py", "2", "3"),
        part("a.py", "3", "1"),
    ]
    assert fold(*made)["a.py", "f"].returns == (None, None, None, 0)
    parts = [part("a.py", "return 1", "return 2"), part("a.py", "return 2", "return 1")]
    thread = fold(*parts)["a.py", ""]
    assert (thread.returns, thread.current, thread.is_whole) == ((None, -1), "return 1", False)


def test_a_sentence_said_twice_is_two_versions() -> None:
    made = [whole("a.py", F.format(1)), part("a.py", "1", "2"), part("a.py", "2", "3")]
    thread = fold(*made, words=["make it", "again", "again"])["a.py", "f"]
    assert [one.words for one in thread.versions] == ["make it", "again", "again"]


def test_one_turn_is_one_version_and_what_it_undid_itself_is_none() -> None:
    steps = [*part("a.py", "1", "2"), *part("a.py", "2", "3")]
    back = [*part("a.py", "3", "4"), *part("a.py", "4", "3")]
    thread = fold(whole("a.py", F.format(1)), steps, back)["a.py", "f"]
    assert [(one.before, one.after) for one in thread.versions] == [
        (None, F.format(1)),
        (F.format(1), F.format(3)),
    ]


def test_a_renamed_file_keeps_its_threads() -> None:
    renamed = [FileEdit("b.py", (Fragment("return 1", "return 2"),), old_path="a.py")]
    again = [FileEdit("c.py", old_path="b.py")]
    threads = fold(whole("a.py", F.format(1)), renamed, again, part("c.py", "2", "3"))
    assert list(threads) == [("c.py", "f")]
    thread = threads["c.py", "f"]
    assert afters(thread) == [F.format(1), F.format(2), F.format(3)]
    assert thread.places == {("a.py", "f"), ("b.py", "f"), ("c.py", "f")}


def test_a_moved_function_keeps_its_thread_whichever_side_comes_first() -> None:
    code = LONG.format("f", "1")
    for order in (1, -1):
        move = [FileEdit("a.py", content="x = 1\n"), FileEdit("b.py", content=code)][::order]
        threads = fold(whole("a.py", f"x = 1\n{code}"), move, part("b.py", "second = 1", "second = 2"))
        thread = threads["b.py", "f"]
        assert afters(thread) == [code, code, LONG.format("f", "2")]
        assert thread.versions[1].came_from == ("a.py", "f")
        assert ("a.py", "f") not in threads


def test_a_renamed_function_keeps_its_thread() -> None:
    thread = fold(whole("a.py", LONG.format("f", "1")), part("a.py", "def f", "def g"))["a.py", "g"]
    assert afters(thread) == [LONG.format("f", "1"), LONG.format("g", "1")]


def test_another_function_in_its_place_is_another_thread() -> None:
    threads = fold(
        whole("a.py", LONG.format("f", "1")), whole("a.py", "class Totally:\n    different = 'thing'\n")
    )
    assert threads["a.py", "f"].current is None
    assert afters(threads["a.py", "Totally"]) == ["class Totally:\n    different = 'thing'\n"]


def test_parts_of_an_unknown_file_are_followed_by_their_lines() -> None:
    threads = fold(
        part("a.py", "one = 1\n", "one = 2\n"),
        part("a.py", "two = 1\n", "two = 2\n"),
        part("a.py", "one = 2\n", "one = 1\n"),
    )
    thread = threads["a.py", ""]
    assert thread.returns == (None, None, -1)
    assert thread.parts == ("one = 1\n", "two = 2\n")


def test_what_was_known_of_a_removed_file_is_gone() -> None:
    thread = fold(part("a.py", "one = 1", "one = 2"), [FileEdit("a.py", is_deleted=True)])["a.py", ""]
    assert (afters(thread), thread.current) == (["one = 2", None], None)


def test_what_changed_outside_is_a_gap() -> None:
    first = CodeEdit("r", HERE, "a.py", 0, "x", replay(whole("a.py", F.format(1)), {})[0].pieces, 0.0)
    other = replay(part("a.py", "2", "3"), {"a.py": F.format(2)})[0]
    second = CodeEdit("r", HERE, "a.py", 1, "y", other.pieces, 1.0)
    (thread,) = folded([first, second])
    assert [one.is_gap for one in thread.versions] == [False, True]
    assert thread.current == F.format(3)


TEXTS = st.sampled_from(
    ["", F.format(1), F.format(2), F.format(1) + "\n\nclass A:\n    def m(self): ...\n", "x = 1\n"]
)


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_threads_hold_what_each_file_held(texts: list[str]) -> None:
    """Whatever is written, what the threads say is there now is what is there, symbol by symbol."""
    from hy_memory.chain.symbols import segments

    threads = fold(*(whole("a.py", text) for text in texts))
    now = segments(texts[-1], "a.py")
    assert now is not None
    held = {place[1]: one.current for place, one in threads.items() if (one.current or "").strip()}
    assert held == {name: one.text for name, one in now.items() if one.text.strip()}
