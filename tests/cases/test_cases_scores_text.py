"""Public cases of scores and of languages: C17, C21, C23, C29, C30, C33."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from tests.support.embedding import UninformedEmbedding, text
from tests.support.stores import (
    BACKENDS,
    EVERYWHERE,
    KEYWORD_BACKENDS,
    READERS,
    contents,
    ids,
    normal,
    open_client,
)

Clients = Mapping[str, HyMemoryClient]
readers = pytest.mark.parametrize("reader", READERS)


@pytest.mark.parametrize("backend", EVERYWHERE)
@readers
def test_c17_scores_are_similarities_and_min_score_keeps_the_best(
    everywhere: Clients, backend: str, reader: str
) -> None:
    """C17: identical, 60°, 90° and opposite give 1, 0.5, 0 and 0, in this order; 0.4 keeps two."""
    client = everywhere[backend]
    user_id = f"c17-{backend}-{reader}"
    made = client.add_extracted([text("alpha", at) for at in (3, 2, 1, 0)], user_id=user_id)["memory_ids"]
    asked: dict[str, Any] = {"user_ids": [user_id], "reader": reader}
    found = normal(client.search("zzz", min_score=0, **asked))
    assert [one["score"] for one in found] == [0.99999, 0.5, 0.0, 0.0]
    assert ids(client.search("zzz", min_score=0.4, **asked)) == [made[3], made[2]]


@pytest.mark.parametrize("backend", KEYWORD_BACKENDS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 10])
def test_c21_a_rare_word_counts_in_the_smallest_store(folder: Path, backend: str, size: int) -> None:
    """C21: also where half of the memories hold it; an embedder that knows nothing does not hide it."""
    with open_client(backend, folder, UninformedEmbedding()) as client:
        client.add_extracted(
            [f"note number {at} about the weather" for at in range(size - 1)] + ["the Xylofon-42 arrived"],
            user_id="u",
        )
        answer = client.search("Xylofon-42", user_ids=["u"], reader="hybrid", explain=True)
        best = normal(answer)[0]
        assert best["content"] == "the Xylofon-42 arrived"
        keyword = {one["leg"]: one["score"] for one in best["evidence"]}["BM25"]
        assert keyword > 0.2


@pytest.mark.parametrize("backend", BACKENDS)
def test_c23_an_exact_match_in_both_channels_is_near_1(folder: Path, backend: str) -> None:
    """C23: with the built-in embedder and default min_score; hybrid finds no fewer than legacy."""
    with HyMemoryClient(
        {"data_dir": str(folder), "vector_store": {"provider": backend}, "embedder": {"provider": "hashed"}}
    ) as client:
        texts = [
            "My passport number is K4491",
            "Ann plays the violin on Sundays",
            "The trams of Lisbon are yellow",
        ]
        for one in texts:
            client.add(one, user_id="u")
        for one in texts:
            found = normal(client.search(one, user_ids=["u"], reader="hybrid"))
            assert found[0]["content"] == one
            assert 0.95 <= found[0]["score"] <= 1.0
            plain = ids(client.search(one, user_ids=["u"], reader="legacy"))
            assert set(plain) <= {item["memory_id"] for item in found}


@pytest.mark.parametrize("backend", KEYWORD_BACKENDS)
@pytest.mark.parametrize(
    ("query", "wanted", "other"),
    [
        ("备份", "他每天做复盘并用 cron 备份数据", "周末去爬山"),
        ("爬山", "周末去爬山", "他每天做复盘并用 cron 备份数据"),
        ("cron", "他每天做复盘并用 cron 备份数据", "周末去爬山"),
        ("臺北", "我住在臺北", "我住在高雄"),
        ("京都", "来週は京都へ旅行します", "毎朝コーヒーを飲む"),
        ("コーヒー", "毎朝コーヒーを飲む", "来週は京都へ旅行します"),
        ("서울", "저는 서울에 살아요", "바이올린을 연주합니다"),
        ("バイオリン", "妹はﾊﾞｲｵﾘﾝを弾く", "犬が好き"),
        ("Москва", "я живу в МОСКВА рядом", "у меня есть собака"),
        ("straße", "Sie wohnt in der Hauptstrasse, STRASSE 5", "Der Hund schläft"),
    ],
)
def test_c29_words_of_every_script_are_found(
    folder: Path, backend: str, query: str, wanted: str, other: str
) -> None:
    """C29: no dictionary needed; half-width and case do not matter."""
    with open_client(backend, folder, UninformedEmbedding()) as client:
        client.add_extracted([other, wanted], user_id="u")
        found = normal(client.search(query, user_ids=["u"], reader="hybrid"))
        assert found[0]["content"] == wanted
        assert found[0]["score"] > found[-1]["score"] or len(found) == 1


TOKENS = ("don't forget", "state-of-the-art", "chat-send", "C++", '"quoted phrase"', "50%", "a_b", "#tag")
ODD = (
    *TOKENS,
    "foo@example.org",
    "(x)",
    "x') OR 1=1 --",
    "*",
    "?",
    "~",
    "^",
    "a AND OR NOT b",
    "[1 TO",
    "\\",
    "{}",
)


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("query", ODD)
def test_c30_no_query_is_a_syntax_error(everywhere: Clients, backend: str, query: str) -> None:
    """C30: punctuation is text; a memory that holds the same token is found."""
    client = everywhere[backend]
    user_id = f"c30-{backend}-{ODD.index(query)}"
    client.add_extracted([text("something else", 2), text(f"remember {query} please", 2)], user_id=user_id)
    for reader in READERS:
        answer = client.search(query, user_ids=[user_id], reader=reader, min_score=0)
        assert "degraded" not in answer
    has_word = any(one.isalnum() for one in query)
    if has_word and backend in KEYWORD_BACKENDS:
        found = normal(client.search(query, user_ids=[user_id], reader="hybrid"))
        assert found[0]["content"] == text(f"remember {query} please", 2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("hi \ud83d", "hi \ufffd"),
        ("\ude00 hi", "\ufffd hi"),
        ("hi \ud83d\ude00 there", "hi 😀 there"),
        ("👨‍👩‍👧 🇫🇷", "👨‍👩‍👧 🇫🇷"),
        ("nul \0 byte", "nul \ufffd byte"),
        ("right \u202e left", "right \u202e left"),
        ("café", "café"),
        (unicodedata.normalize("NFD", "café"), unicodedata.normalize("NFD", "café")),
        ("line\r\nbreak\tand\u2028more", "line\r\nbreak\tand\u2028more"),
        ("  kept as it is  ", "  kept as it is  "),
    ],
    ids=ascii,
)
def test_c33_any_string_is_stored_by_one_rule(folder: Path, backend: str, given: str, stored: str) -> None:
    """C33: what UTF-8 cannot hold becomes U+FFFD, everything else stays as it was given."""
    with open_client(backend, folder) as client:
        memory_id = client.add(given, user_id="u", tags=[given], metadata={given: given})["memory_id"]
        for reader in READERS:
            (found,) = normal(client.search(given, user_ids=["u"], reader=reader))
            assert (found["content"], found["tags"], found["meta"]) == (stored, [stored], {stored: stored})
        client.update(memory_id, f"again {given}")
    with open_client(backend, folder) as client:
        assert contents(client.search(given, user_ids=["u"])) == [f"again {stored}"]


@pytest.mark.parametrize("backend", KEYWORD_BACKENDS)
def test_c33_composed_and_decomposed_find_each_other(folder: Path, backend: str) -> None:
    """C33: NFC finds NFD and the other way round."""
    with open_client(backend, folder, UninformedEmbedding()) as client:
        for form in ("NFC", "NFD"):
            client.add(unicodedata.normalize(form, f"the café of Zoë {form}"), user_id="u")
        for form in ("NFC", "NFD"):
            query = unicodedata.normalize(form, "café Zoë")
            answer = client.search(query, user_ids=["u"], reader="hybrid", explain=True)
            legs = [{one["leg"]: one["score"] for one in item["evidence"]} for item in normal(answer)]
            assert [one["BM25"] > 0 for one in legs] == [True, True]
