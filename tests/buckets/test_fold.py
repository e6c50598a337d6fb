"""Folding: hits that say the same are shown once; nothing is lost and no score changes (contract §2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hy_memory.text.sameness import same_text_key
from tests.support.embedding import text
from tests.support.stores import BACKENDS, READERS, contents, ids, normal, open_client, scores

FOLDING = {"ranking": {"fold_duplicates": True}}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_hits_of_one_text_are_shown_once_with_the_others_listed(
    tmp_path: Path, backend: str, reader: str
) -> None:
    """The best stands for them; the next text takes the free place; scores are those without folding."""
    with open_client(backend, tmp_path) as client:
        said = ("green tea", text("coffee", 1), "Green tea!", text("water", 2), " green  tea ")
        for at, content in enumerate(said):
            client.add(content, user_id="u1", session_id=f"s{at}")
        client.add("green tea", user_id="u2")
        plain = client.search("green tea", user_ids=["u1", "u2"], min_score=0, reader=reader)
    with open_client(backend, tmp_path, config=FOLDING) as client:
        answer = client.search("green tea", user_ids=["u1", "u2"], min_score=0, limit=3, reader=reader)
        everything = client.search("green tea", user_ids=["u1", "u2"], min_score=0, limit=6, reader=reader)
        stored = client.list_memories(user_id="u1")["total"]
    assert stored == 5
    assert [one["user_id"] for one in normal(answer)] == ["u1", "u2", "u1"]
    first = normal(answer)[0]
    assert {one["content"] for one in first["folded"]} | {first["content"]} == {
        "green tea", "Green tea!", " green  tea "
    }  # fmt: skip
    assert "folded" not in normal(answer)[1]
    assert len(ids(everything)) == 4
    assert ids(everything)[:3] == ids(answer)
    shown = [
        *ids(everything),
        *(one["memory_id"] for hit in normal(everything) for one in hit.get("folded", ())),
    ]
    assert sorted(shown) == sorted(ids(plain))
    assert scores(everything).items() <= scores(plain).items()


def test_without_the_setting_every_hit_is_shown(tmp_path: Path) -> None:
    """C14: five near-identical memories are five hits."""
    with open_client("faiss", tmp_path) as client:
        for at in range(5):
            client.add("green tea", user_id="u1", session_id=f"s{at}")
        answer = client.search("green tea", user_ids=["u1"], limit=5)
    assert contents(answer) == ["green tea"] * 5
    assert not any("folded" in one for one in normal(answer))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I like tea.", "i like tea"),
        ("Hello, world!", "hello world"),
        ("我喜欢茶。", "我喜欢茶"),
        ("ＡＢＣ　１２", "abc 12"),
        ("お茶が好き。", "お茶が好き！"),
    ],
)
def test_form_alone_keeps_nothing_apart(left: str, right: str) -> None:
    """Case, width, space, commas and closing marks are form, in all scripts."""
    assert same_text_key(left) == same_text_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I paid 1,000 yen", "I paid 1,001 yen"),
        ("I am not allergic", "I am allergic"),
        ("Anna called", "Anne called"),
        ("You like tea?", "You like tea."),
        ("-5 degrees", "5 degrees"),
        ("I work there", "I worked there"),
        ("my résumé", "my resume"),
        ("v1.2", "v12"),
        ("他喜欢茶", "她喜欢茶"),
        ("…", "!"),
    ],
)
def test_whatever_is_said_keeps_texts_apart(left: str, right: str) -> None:
    """A number, a name, a negation, a sign, an accent, a question: one character is enough."""
    assert same_text_key(left) != same_text_key(right)
