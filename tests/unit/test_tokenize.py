"""The tokenizer: what finds what, and that nothing breaks it."""

from __future__ import annotations

import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.text.normalize import fold, normalize, repair
from hy_memory.text.tokenize import query_tokens, stem, stop_terms, tokenize

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))  # surrogates too


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("GOALS.md", {"goals.md", "goal", "md"}),
        ("v2.0.6", {"v2.0.6", "2", "0", "6"}),
        ("foo_bar", {"foo_bar", "foo", "bar"}),
        ("fooBar", {"foobar", "foo", "bar"}),
        ("HTMLParser", {"htmlparser", "html", "parser"}),
        ("GPT4", {"gpt4", "gpt", "4"}),
        ("C++", {"c++", "c"}),
        ("C#", {"c#", "c"}),
        ("state-of-the-art", {"state-of-the-art", "state", "art"}),
        ("#tag", {"#tag", "tag"}),
        ("foo@example.org", {"foo@example.org", "foo", "org"}),
        ("50%", {"50%", "50"}),
        ("a_b", {"a_b", "a", "b"}),
        ("don't", {"don't"}),
        ("don’t", {"don't"}),
        ("John's", {"john"}),
        ("l'avion", {"l'avion", "avion"}),
        ("10:30", {"10:30", "10", "30"}),
        ("1,000,000", {"1000000"}),
        ("Xylofon-42", {"xylofon-42", "xylofon", "42"}),
        ("(x)", {"x"}),
        ('"quoted phrase"', {"quot", "phrase"}),
        ("__init__", {"init"}),
        ("Ｆｕｌｌ１２３", {"full123", "full", "123"}),
        ("❤️", {"❤"}),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text: str, terms: set[str]) -> None:
    """C30: a name is found by itself and by its pieces."""
    assert terms <= set(tokenize(text))


@pytest.mark.parametrize(
    ("stored", "question"),
    [
        ("他每天做复盘并用 cron 备份数据", "备份"),
        ("日本語の文章を検索する", "検索"),
        ("한국어 문장을 검색한다", "검색"),
        ("ฉันชอบกินข้าวผัด", "ข้าว"),
        ("मुझे हिन्दी पसंद है", "हिन्दी"),
        ("שָׁלוֹם עולם", "שלום"),
        ("كِتَاب جديد", "كتاب"),
        ("Ёлка на площади", "елка"),
        ("Straße", "STRASSE"),
        ("running shoes", "run"),
        ("happy memories", "memory"),
    ],
)
def test_words_of_all_scripts_are_found(stored: str, question: str) -> None:
    """C29: no script is one long token."""
    assert set(query_tokens(question)) <= set(tokenize(stored))


def test_runs_become_characters_and_pairs() -> None:
    assert tokenize("备份了") == ["备", "份", "了", "备份", "份了"]
    assert tokenize("T恤") == ["t", "恤"]


def test_accents_are_folded_in_both_normal_forms() -> None:
    """C33: "café" in NFC, NFD, capitals and without its accent is one word."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert tokenize(composed) == tokenize(decomposed) == tokenize("CAF\u00c9") == tokenize("cafe") == ["cafe"]


def test_hangul_jamo_meet_syllables() -> None:
    assert tokenize(unicodedata.normalize("NFD", "검색")) == tokenize("검색")


def test_invisible_characters_do_not_split_words() -> None:
    assert tokenize("co\u00adop\u200deration \u202eabc\u202c") == tokenize("cooperation abc")


@pytest.mark.parametrize(
    "text", ["hi \ud83d", "\udc00\ud800", "a\x00b", "\u202e\u202e", "👨‍👩‍👧 🇫🇷", "\u0301", "", " \n"]
)
def test_odd_characters_are_harmless(text: str) -> None:
    """C33: cut emoji, NUL, bidi controls, lone marks."""
    terms = tokenize(text)
    assert all(terms)
    "".join(terms).encode()


def test_surrogates_are_joined_or_replaced() -> None:
    assert repair("\ud83d\ude00") == "😀"
    assert repair("hi \ud83d") == "hi \ufffd"
    assert repair("plain ü") == "plain ü"


@given(ANY_TEXT)
def test_any_text_has_encodable_terms_and_finds_itself(text: str) -> None:
    terms = tokenize(text)
    assert all(terms)
    "\n".join(terms).encode()
    asked = query_tokens(text)
    assert set(asked) <= set(terms)
    assert len(asked) == len(set(asked))
    assert bool(asked) == bool(terms)


@given(ANY_TEXT)
def test_normal_forms_are_equal(text: str) -> None:
    text = normalize(text)
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(text)


@given(ANY_TEXT)
def test_normalising_and_folding_are_idempotent(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert fold(fold(once)) == fold(once)


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20))
def test_no_word_is_unfindable(word: str) -> None:
    """Only Arabic's tatweel, a stroke that lengthens words, is a letter that means nothing."""
    stripped = normalize(word).replace("\u0640", "")
    assert tokenize(word) or not any(c.isalnum() for c in fold(stripped))


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "Nd"]), min_size=1), max_size=8))
def test_words_do_not_depend_on_their_neighbours(words: list[str]) -> None:
    assert tokenize(" ".join(words)) == [term for word in words for term in tokenize(word)]


def test_stop_words_leave_the_query_but_not_the_index() -> None:
    assert query_tokens("What does she like to eat?") == ["like", "eat"]
    assert query_tokens("我喜欢的颜色")[:3] == ["喜", "欢", "颜"]
    assert {"to", "be"} <= set(tokenize("to be"))


def test_a_query_of_stop_words_keeps_them() -> None:
    assert query_tokens("to be or not to be") == ["to", "be", "or", "not"]
    assert set(query_tokens("to be")) <= stop_terms()
    assert query_tokens("???") == []


def test_stems_do_not_depend_on_threads() -> None:
    """C51: the stemmer keeps its word in itself; sharing one between threads mixes words up."""
    words = [
        f"{root}{end}"
        for root in ("walk", "relat", "nation", "hop", "bak")
        for end in ("ing", "ed", "es", "ional")
    ]
    words = [prefix + word for prefix in "abcdefghij" for word in words]
    alone = [stem.__wrapped__(word) for word in words]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words)) == alone


@pytest.mark.parametrize(
    "unit",
    ["a", "ab ", "汉", "a.", "_", "aB1", "क़ि", "\u0301", "a'", "1,", "a\u0301", "#", "-", "ำ\u0300", "é"],
)
def test_a_megabyte_is_linear(unit: str) -> None:
    started = time.process_time()
    tokenize(unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 10
