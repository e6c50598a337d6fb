"""Keyword weights: pure, bounded, and equal to BM25 where the formulas coincide."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from hy_memory.ranking.bm25 import (
    document_terms,
    idf,
    keyword_score,
    keyword_scores,
    query_term_ids,
    saturation,
    term_id,
    weigh_query,
)
from hy_memory.text.tokenize import query_tokens, tokenize

WORD = st.sampled_from(
    ["apple", "pear", "plum", "fig", "grape", "lemon", "melon", "berry", "苹果", "梨", "v2.0"]
)
WORDS = st.lists(WORD, min_size=1, max_size=60)


def test_term_ids_are_crc32() -> None:
    """They are stored: they may never change."""
    assert term_id("hello") == zlib.crc32(b"hello") == 907060870
    assert 0 <= term_id("\ud83d") < 2**32


@given(st.text(), st.text(max_size=30))
def test_weights_are_bounded_sorted_and_of_the_right_types(text: str, context: str) -> None:
    terms = document_terms(text, context)
    assert terms.ids.dtype == np.uint32
    assert terms.weights.dtype == np.float32
    assert (np.diff(terms.ids.astype(np.int64)) > 0).all()
    assert ((terms.weights > 0) & (terms.weights <= 1)).all()
    assert set(terms.ids.tolist()) == {term_id(token) for token in tokenize(text) + tokenize(context)}


@given(WORDS, st.data())
def test_weights_depend_on_counts_alone(words: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(words))
    first, second = document_terms(" ".join(words)), document_terms(" ".join(shuffled))
    assert first.ids.tolist() == second.ids.tolist()
    assert first.weights.tolist() == second.weights.tolist()


@given(WORDS, WORDS)
def test_context_counts_like_text(text: list[str], context: list[str]) -> None:
    apart = document_terms(" ".join(text), " ".join(context))
    joined = document_terms(" ".join(text + context))
    assert apart.weights.tolist() == joined.weights.tolist()


def test_an_empty_text_has_no_terms() -> None:
    assert len(document_terms("").ids) == 0
    assert len(document_terms("?!").weights) == 0


def weight(text: str, term: str) -> float:
    terms = document_terms(text)
    return float(terms.weights[terms.ids == term_id(term)][0])


def test_repetition_helps_and_length_costs() -> None:
    assert weight("plum plum tree", "plum") > weight("plum green tree", "plum")
    assert weight("plum tree", "plum") > weight("plum " + "tree " * 80, "plum")
    assert weight("plum " + "tree " * 5_000, "plum") == pytest.approx(0.2)


def test_short_turns_hardly_pay_for_length() -> None:
    """b is near 0 for a chat turn, near 1 for a long message."""
    assert saturation(10) / saturation(20) > 0.9
    assert saturation(400) / saturation(800) == pytest.approx(0.25, abs=0.03)


@given(st.integers(0, 10_000), st.data())
def test_idf_is_positive_and_falls_with_frequency(total: int, data: st.DataObject) -> None:
    df = data.draw(st.lists(st.integers(0, total), min_size=2, max_size=2).map(sorted))
    few, many = idf(total, df).tolist()
    assert few >= many > 0


def test_idf_is_lucenes() -> None:
    assert idf(10, [3])[0] == pytest.approx(math.log(1 + (10 - 3 + 0.5) / (3 + 0.5)))


@given(
    st.lists(st.lists(WORD, min_size=12, max_size=12), min_size=3, max_size=12),
    st.lists(WORD, min_size=1, max_size=4),
)
def test_scores_equal_rank_bm25_where_the_formulas_coincide(
    corpus: list[list[str]], asked: list[str]
) -> None:
    """Documents of one length: the average is the length, b plays no part, and none is at the floor."""
    length = 40
    texts = [" ".join(words) for words in corpus]
    texts = [text + " filler" * (length - len(tokenize(text))) for text in texts]
    documents = [tokenize(text) for text in texts]
    queries = list(dict.fromkeys(query_tokens(" ".join(asked))))
    reference = BM25Okapi(documents, k1=saturation(length), b=0.75)
    total = len(documents)
    df = {term: sum(term in tokens for tokens in documents) for term in queries}
    reference.idf = {term: float(idf(total, [df[term]])[0]) for term in queries}
    expected = np.asarray(reference.get_scores(queries)) / (saturation(length) + 1)

    ids = np.array(sorted(term_id(term) for term in queries), dtype=np.uint32)
    by_id = {term_id(term): count for term, count in df.items()}
    query = weigh_query(ids, total, [by_id[int(one)] for one in ids])
    found = np.array([keyword_score(document_terms(text), query) for text in texts]) * query.ceiling
    assert found == pytest.approx(expected, rel=1e-5)


def test_our_idf_is_rank_bm25s_with_one_added_inside() -> None:
    corpus = [["a", "b"], ["b", "c"], ["c", "d"], ["e"], ["f"]]
    theirs = BM25Okapi(corpus).idf
    assert idf(5, [1])[0] == pytest.approx(math.log1p(math.exp(theirs["a"])))
    assert idf(5, [2])[0] == pytest.approx(math.log1p(math.exp(theirs["b"])))


@given(WORDS, WORDS, st.integers(0, 500))
def test_a_score_is_a_share_and_a_full_match_has_at_least_the_floor(
    text: list[str], asked: list[str], others: int
) -> None:
    ids = query_term_ids(" ".join(asked))
    document = document_terms(" ".join(text) + " pad" * others)
    query = weigh_query(ids, 10, [1] * len(ids))
    score = keyword_score(document, query)
    assert 0.0 <= score <= 1.0
    assert score > 0.0 or not set(ids.tolist()) & set(document.ids.tolist())
    if set(ids.tolist()) <= set(document.ids.tolist()):
        assert score >= 0.2 - 1e-6


def test_unknown_words_lower_certainty() -> None:
    document = document_terms("we keep bees")
    known = weigh_query(query_term_ids("bees"), 5, [1])
    ids = query_term_ids("bees submarine")
    df = [int(one in document.ids) for one in ids]
    assert keyword_score(document, weigh_query(ids, 5, df)) < keyword_score(document, known) / 2


def test_a_query_without_terms_scores_nothing() -> None:
    query = weigh_query(query_term_ids("?"), 3, [])
    assert keyword_scores(np.array([0.0, 1.0]), query).tolist() == [0.0, 0.0]
    assert keyword_score(document_terms("text"), query) == 0.0
