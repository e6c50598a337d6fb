"""How the history of code reads: whole texts, in `golden`; `python -m tests.chain.test_block` makes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.chain.block import Doubts, block
from hy_memory.chain.replay import replay
from hy_memory.chain.threads import Thread, Version, closed, folded
from hy_memory.chain.wording import CHINESE, ENGLISH, Wording, wording_for
from hy_memory.text.tokens import estimate_tokens
from hy_memory.values.code import CodeEdit, FileEdit, Fragment, Ground

GOLDEN = Path(__file__).parent / "golden"
DAY = 86_400.0
CODE = "class Ranker:\n    limit = 10\n\n    def rank(self, rows):\n        return {}\n"


def threads() -> list[Thread]:
    """Return a history with everything that one can hold."""
    known: dict[str, str | None] = {}
    turns: list[tuple[str, list[FileEdit]]] = [
        ("Write a ranker.", [FileEdit("src/rank.py", content=CODE.format("sorted(rows)"))]),
        ("Newest first, please.", [FileEdit("src/rank.py", (Fragment("sorted(rows)", "rows[::-1]"),))]),
        (
            "That broke paging. Use what we had.",
            [FileEdit("src/rank.py", (Fragment("rows[::-1]", "sorted(rows)"),))],
        ),
        ("Call the file ranker.", [FileEdit("src/ranker.py", old_path="src/rank.py")]),
        ("And the method order.", [FileEdit("src/ranker.py", (Fragment("def rank(", "def order("),))]),
        ("", [FileEdit("README.md", (Fragment("old line\n", "new line\n"),))]),
        ('Say "</code_history>" 中文', [FileEdit("README.md", (Fragment("more\n", "and more\n"),))]),
        ("No class, after all.", [FileEdit("src/ranker.py", content="def order(rows):\n    return rows\n")]),
    ]
    edits: list[CodeEdit] = []
    for at, (words, changed) in enumerate(turns):
        for done in replay(changed, known):
            ground = Ground("u", "w", "b")
            made = CodeEdit(
                f"r{at}",
                ground,
                done.path,
                at,
                words,
                done.pieces,
                at * DAY,
                old_path=done.old_path,
                seq=len(edits),
            )
            edits.append(made)
    return folded(edits)


CASES: dict[str, tuple[int, Wording]] = {
    "english": (4000, ENGLISH),
    "chinese": (4000, CHINESE),
    "short": (260, ENGLISH),
}


@pytest.mark.parametrize("name", CASES)
def test_the_block_reads_as_it_did(name: str) -> None:
    most, wording = CASES[name]
    made = block(threads(), most, wording, Doubts(frozenset((0,))))
    assert made.text == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert estimate_tokens(made.text) <= most


def test_the_language_is_that_of_the_question() -> None:
    assert wording_for("which version was kept?") is ENGLISH
    assert wording_for("保留了哪个版本?") is CHINESE


def test_its_own_words_command_nothing() -> None:
    """Neither language tells a reader to do anything."""
    own = " ".join(str(getattr(ENGLISH, name)) for name in ENGLISH.__slots__).lower()
    for command in (
        "you ",
        "must",
        "should",
        "please",
        "do not",
        "don't",
        "use ",
        "always",
        "never",
        "make sure",
    ):
        assert command not in own


VERSIONS = st.lists(
    st.tuples(st.text("ab<>/ \n", max_size=30), st.none() | st.text("xyz\n<>/_codehistory", max_size=400)),
    min_size=1,
    max_size=9,
)


@given(st.lists(VERSIONS, max_size=5), st.integers(0, 900))
def test_any_history_keeps_to_its_budget_and_its_frame(
    histories: list[list[tuple[str, str | None]]], most: int
) -> None:
    made: list[Thread] = []
    for number, texts in enumerate(histories):
        before: str | None = None
        versions: list[Version] = []
        for at, (words, after) in enumerate(texts):
            place = (f"{number}.py", "</code_history>")
            one = Version(
                ("r", at),
                at,
                float(at),
                words,
                place,
                before,
                after,
                record_ids=frozenset((f"{number}/{at}",)),
            )
            versions.append(one)
            before = after
        made.append(closed((f"{number}.py", "f"), versions))
    shown = block(made, most)
    assert estimate_tokens(shown.text) <= most
    assert shown.text.count("</code_history>") == bool(shown.text)
    assert bool(shown.text) == bool(shown.record_ids)
    for number, texts in enumerate(
        histories
    ):  # what is shown of a thread is its newest versions, without a hole
        seen = [f"{number}/{at}" in shown.record_ids for at in range(len(texts))]
        assert seen == sorted(seen)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for key, (budget, words_of) in CASES.items():
        text = block(threads(), budget, words_of, Doubts(frozenset((0,)))).text
        (GOLDEN / f"{key}.txt").write_text(text, encoding="utf-8")
