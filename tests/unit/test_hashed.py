"""The built-in embedder: deterministic, never zero, good at spelling."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.embedding.hashed import HashedEmbedder, open_embedder
from hy_memory.embedding.options import EmbedderOptions

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))
EMBEDDER = HashedEmbedder()


def similarity(first: str, second: str) -> float:
    return float(EMBEDDER.embed(first) @ EMBEDDER.embed(second))


@given(ANY_TEXT)
def test_every_text_that_is_not_blank_has_a_unit_vector(text: str) -> None:
    vector = EMBEDDER.embed(text)
    assert vector.dtype == np.float32
    assert vector.shape == (384,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0 if text.split() else 0.0, abs=1e-5)


@pytest.mark.parametrize("text", ["?", "...", "\u200d", "\ud83d", "\x00", "\u0301", "。。", "🙂", "a", "的"])
@pytest.mark.parametrize("dims", [8, 384])
def test_marks_and_symbols_are_not_zero(text: str, dims: int) -> None:
    assert float(np.linalg.norm(HashedEmbedder(dims).embed(text))) == pytest.approx(1.0, abs=1e-5)


def test_a_batch_is_its_texts() -> None:
    texts = ["one two", "备份数据", "", "one two"]
    rows = EMBEDDER.embed_batch(texts)
    assert rows.shape == (4, 384)
    for row, text in zip(rows, texts, strict=True):
        assert row.tolist() == EMBEDDER.embed(text).tolist()
    assert EMBEDDER.embed_documents(texts).tolist() == rows.tolist()
    assert EMBEDDER.embed_query(texts[0]).tolist() == rows[0].tolist()
    assert EMBEDDER.embed_batch([]).shape == (0, 384)


def test_vectors_are_the_same_in_every_process() -> None:
    text = "Straße 42, 备份 fooBar"
    program = (
        "from hy_memory.embedding.hashed import HashedEmbedder; import sys; "
        f"sys.stdout.write(HashedEmbedder().embed({text!r}).tobytes().hex())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    out = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
    )
    assert out.stdout == EMBEDDER.embed(text).tobytes().hex()


def test_spelling_brings_texts_together() -> None:
    assert similarity("I like running in the park", "she runs in a park") > 0.4
    assert similarity("the resturant was great", "a great restaurant") > similarity(
        "a great concert", "the resturant"
    )
    assert similarity("他用 cron 备份数据", "数据备份") > 0.4
    assert similarity("Café Müller", "cafe muller") == pytest.approx(1.0, abs=1e-5)


def test_order_of_words_and_case_do_not_matter() -> None:
    assert similarity("tea or coffee", "Coffee or TEA") == pytest.approx(1.0, abs=1e-5)


MEMORIES = {
    "en": [
        "My sister moved to Lisbon for her new job.",
        "The dentist wants to see me again in six months.",
        "We planted tomatoes, but the snails ate most of them.",
        "The deploy failed because the certificate had expired.",
        "Grandpa grew up on a farm and still keeps bees.",
    ],
    "zh": [
        "姐姐搬到里斯本工作了。",
        "牙医让我半年后复查。",
        "番茄大多被蜗牛吃掉了。",
        "证书过期导致部署失败。",
        "爷爷在农场长大，养蜜蜂。",
    ],
}


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "Where does my sister live after she moved?", 0),
        ("en", "When should I see the dentist?", 1),
        ("en", "why did the deployment fail", 3),
        ("zh", "姐姐搬到哪里了？", 0),
        ("zh", "为什么部署失败？", 3),
    ],
)
def test_a_first_search_finds_what_it_should(language: str, question: str, answer: int) -> None:
    scores = EMBEDDER.calibration(EMBEDDER.embed_batch(MEMORIES[language]) @ EMBEDDER.embed(question))
    assert int(np.argmax(scores)) == answer
    assert scores[answer] >= 0.4


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Which guitar did Omar buy?"),
        ("en", "favourite football club"),
        ("en", "quarterly budget of marketing"),
        ("zh", "周末电影推荐"),
        ("zh", "吉他多少钱买的"),
    ],
)
def test_unrelated_memories_stay_below_the_default_threshold(language: str, question: str) -> None:
    """C40: a question about a sixth topic finds nothing."""
    scores = EMBEDDER.calibration(EMBEDDER.embed_batch(MEMORIES[language]) @ EMBEDDER.embed(question))
    assert (scores < 0.4).all()


def test_it_says_what_it_is() -> None:
    assert (EMBEDDER.name, EMBEDDER.dims, EMBEDDER.get_embedding_dims()) == ("hashed", 384, 384)
    assert EMBEDDER.fingerprint
    opened = open_embedder(EmbedderOptions(dims=64))
    assert (opened.name, opened.dims) == ("hashed", 64)
    assert open_embedder(EmbedderOptions()).dims == 384


@pytest.mark.parametrize("dims", [0, 7, 65_537])
def test_absurd_widths_are_refused(dims: int) -> None:
    with pytest.raises(ValueError, match="dims"):
        HashedEmbedder(dims)
