"""Simhashes that have 64 useful bits, and the words by which near-duplicates are told from others."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.text.likeness import LONGEST, adds_nothing, canonical_words
from hy_memory.text.simhash import NEAR, bands, distance, simhash

BITS = st.integers(0, 2**64 - 1)
_HAN = "".join(map(chr, range(0x4E00, 0x9FA6)))
MEMO = (
    "I spoke with my manager in the large meeting room on the second floor about the plan for the product"
    " line and we agreed that the design team should present three drafts to the customers before the end of"
    " the quarter so that the engineers have enough time to build a working prototype which the sales people"
    " can show at the trade fair in Hamburg where most of our partners will come and look at what we have"
    " made during the long winter months, and after that the workshop moves to a brighter building near the"
    " river"
)


@given(BITS, st.sets(st.integers(0, 63), max_size=NEAR))
def test_near_hashes_share_a_band(bits: int, flipped: set[int]) -> None:
    other = bits
    for one in flipped:
        other ^= 1 << one
    assert distance(bits, other) == len(flipped)
    assert set(bands(bits)) & set(bands(other))


@given(BITS)
def test_bands_are_all_of_a_hash(bits: int) -> None:
    """And no band is mistaken for another one of the same bits."""
    assert [one >> 16 for one in bands(bits)] == [0, 1, 2, 3]
    assert sum((one & 0xFFFF) << 16 * at for at, one in enumerate(bands(bits))) == bits


@given(st.text())
def test_every_text_has_a_hash(text: str) -> None:
    assert 0 <= simhash(text) < 2**64
    assert simhash(text) == simhash(text)


@pytest.mark.parametrize(
    "letters", ["abcdefghiklmnoprstu", "абвгдежзиклмнопрст", _HAN], ids=["latin", "cyrillic", "han"]
)
@pytest.mark.parametrize("length", [3, 8, 40])
def test_all_bits_are_of_use(letters: str, length: int) -> None:
    """C89: over texts of one script each bit is set in about half, whatever the bit beside it says."""
    rest = random.Random(length)
    texts = [
        " ".join("".join(rest.choices(letters, k=rest.randrange(3, 8))) for _ in range(length))
        for _ in range(1500)
    ]
    hashes = [simhash(one) for one in texts]
    for bit in range(64):
        assert 0.4 < sum(one >> bit & 1 for one in hashes) / len(hashes) < 0.6
        beside = sum(one >> bit & 1 == one >> (bit + 1) % 64 & 1 for one in hashes)
        assert 0.4 < beside / len(hashes) < 0.6
    assert len(set(hashes)) == len(set(texts))


def test_texts_of_mostly_the_same_words_are_nearer() -> None:
    """The distance grows with what differs; unrelated texts differ in about half the bits."""
    words = MEMO.split()
    rest = random.Random(1)
    apart = []
    for changed in (0, 1, 8, len(words)):
        found = []
        for _ in range(50):
            at = set(rest.sample(range(len(words)), changed))
            text = " ".join(
                "".join(rest.choices("abcdefgh", k=9)) if n in at else one for n, one in enumerate(words)
            )
            found.append(distance(simhash(text), simhash(MEMO)))
        apart.append(sum(found) / len(found))
    assert apart[0] == 0
    assert apart[0] < apart[1] < apart[2] < apart[3]
    assert 28 < apart[3] < 36


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I like the green tea.", "i like green tea"),
        ("I don't eat olives", "I do not eat the olives"),
        ("I can't swim", "I cannot swim"),
        ("We’re moving to Oslo", "We are moving to Oslo"),
        ("I really like green tea", "I like green tea"),
        ("There are three cats", "There are 3 cats"),
        ("Please remember: I live in Oslo", "remember: I live in Oslo"),
        ("我喜欢喝绿茶啊", "我喜欢喝绿茶。"),
    ],
)
def test_what_nobody_would_miss_may_differ(left: str, right: str) -> None:
    assert canonical_words(left) == canonical_words(right)
    assert simhash(left) == simhash(right)
    assert adds_nothing(left, right)
    assert adds_nothing(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I have a few friends", "I have few friends"),
        ("I take vitamin A daily", "I take vitamin daily"),
        ("That was not really good", "That was not good"),
        ("I like the green tea", "Do I like green tea?"),
        ("I live in Oslo", "I lived in Oslo"),
        ("Ana called Ben", "Ben called Ana"),
        ("The cat chased the dog", "The dog chased the cat"),
        ("It costs €5", "It costs $5"),
        ("my cat", "my cats"),
        ("agent 007", "agent 7"),
        ("Yo hablo poco", "Yo habló poco"),
        ("я не пью чай", "я пью чай"),
        ("我不喜欢绿茶", "我喜欢绿茶"),
        ("他们今天去北京", "他们明天去北京"),
        ("the tea", "oh um tea"),
        ("yes", "no"),
        ("😀", "😡"),
    ],
)
def test_in_doubt_two_texts_are_two(left: str, right: str) -> None:
    assert not adds_nothing(left, right)
    assert not adds_nothing(right, left)


def test_a_long_text_may_leave_out_a_plain_word() -> None:
    """What says more is the one that is kept: the other way round there is something new."""
    less = MEMO.replace("large ", "").replace("brighter ", "")
    assert adds_nothing(less, MEMO)
    assert not adds_nothing(MEMO, less)


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("large", "small"),
        ("three", "four"),
        ("Hamburg", "Bremen"),
        ("agreed", "never agreed"),
        ("should", ""),
        ("before", "after"),
        ("enough ", ""),
        ("in Hamburg ", ""),
        ("three ", ""),
        ("design team should present", "present design team should"),
    ],
)
def test_a_long_text_that_says_something_else_is_another(said: str, instead: str) -> None:
    other = MEMO.replace(said, instead)
    assert other != MEMO
    assert not adds_nothing(other, MEMO)


def test_documents_are_not_compared() -> None:
    text = "word " * (LONGEST // 5 + 1)
    assert not adds_nothing(text, text)


@given(st.text(max_size=60), st.integers(0, 60), st.sampled_from(["not ", "7 ", "Zoe ", "tea ", "不"]))
def test_a_word_more_is_never_nothing(text: str, at: int, word: str) -> None:
    """Wherever it is put in, it is not lost."""
    at = min(at, len(text))
    assert not adds_nothing(f"{text[:at]} {word} {text[at:]}", text)
