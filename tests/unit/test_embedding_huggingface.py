"""Encoders of the Hugging Face layout, by a tiny BERT that is built and saved here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra 'rerank')")
pytest.importorskip("transformers", reason="transformers is not installed (extra 'rerank')")

import torch
import transformers

from hy_memory.embedding.huggingface import open_embedder
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError
from hy_memory.ports import Embedder

SENTENCE = "i like tea and coffee in the morning we moved to lyon last spring printer toner"
WORDS = SENTENCE.split(" ")


def build(folder: Path, seed: int = 0) -> Path:
    """Save a random BERT of two layers and its word tokenizer."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=40,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def embedder(model: Path) -> Embedder:
    return open_embedder(EmbedderOptions(str(model), batch_size=2))


def test_the_mean_of_the_token_vectors_is_the_vector(model: Path, embedder: Embedder) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    encoder = transformers.AutoModel.from_pretrained(model).eval()
    with torch.no_grad():
        hidden = encoder(**tokenizer("I like tea", return_tensors="pt")).last_hidden_state[0].numpy()
    mean = hidden.mean(axis=0)
    np.testing.assert_allclose(embedder.embed_query("I like tea"), mean / np.linalg.norm(mean), atol=1e-5)
    assert (embedder.name, embedder.dims) == ("huggingface:tiny", 32)


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    """Law 10: padding and neighbours change nothing; dropout is off."""
    texts = ["tea", "we moved to Lyon last spring", "i like coffee", "tea and coffee " * 4, ""]
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_long_texts_are_cut_at_the_model_s_positions(embedder: Embedder) -> None:
    rows = embedder.embed_documents(["tea " * 38, "tea " * 5000])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)


def test_the_fingerprint_follows_the_weights(model: Path, embedder: Embedder, tmp_path: Path) -> None:
    """C59: another model of the same name and width is told apart; a copy is the same."""
    copy = Path(shutil.copytree(model, tmp_path / "tiny"))
    assert open_embedder(EmbedderOptions(str(copy))).fingerprint == embedder.fingerprint
    other = open_embedder(EmbedderOptions(str(build(tmp_path / "b" / "tiny", seed=1))))
    assert (other.name, other.dims) == (embedder.name, embedder.dims)
    assert other.fingerprint != embedder.fingerprint


def test_the_folder_s_description_is_heeded(model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(model, tmp_path / "tiny"))
    (copy / "1_Pooling").mkdir()
    (copy / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    prompts = {"prompts": {"query": "coffee ", "document": ""}}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = open_embedder(EmbedderOptions(str(copy)))
    np.testing.assert_allclose(
        embedder.embed_query("tea"), embedder.embed_documents(["coffee tea"])[0], atol=1e-5
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    encoder = transformers.AutoModel.from_pretrained(model).eval()
    with torch.no_grad():
        first = encoder(**tokenizer("tea", return_tensors="pt")).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(embedder.embed_documents(["tea"])[0], first / np.linalg.norm(first), atol=1e-5)


def test_threads_share_the_model(embedder: Embedder) -> None:
    """C51: the tokenizer's state is guarded; no thread sees another's text."""
    texts = [" ".join(WORDS[at:]) for at in range(6)]
    expected = embedder.embed_documents(texts)

    def embed(at: int) -> bool:
        vectors = [embedder.embed_query(texts[at]) for _ in range(15)]
        return all(np.allclose(one, expected[at], atol=1e-5) for one in vectors)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(embed, range(6)))


def test_what_cannot_be_loaded_is_named(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_MODEL"):
        open_embedder(EmbedderOptions())
    with pytest.raises(ConfigurationError, match=r"cannot be loaded.*MEMORY_EMBEDDER_MODEL"):
        open_embedder(EmbedderOptions(str(tmp_path)))
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_DEVICE"):
        open_embedder(EmbedderOptions(str(model), device="no-such-device"))
    with pytest.raises(ConfigurationError, match=r"32.*MEMORY_EMBEDDING_DIMS.*64"):
        open_embedder(EmbedderOptions(str(model), dims=64))


def test_a_hub_name_is_found_in_the_cache(model: Path, embedder: Embedder, tmp_path: Path) -> None:
    """A model that was downloaded once opens by its name without a network."""
    cached = tmp_path / "hub" / "models--someone--tiny"
    shutil.copytree(model, cached / "snapshots" / "abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc")
    code = (
        "from hy_memory.embedding.huggingface import open_embedder\n"
        "from hy_memory.embedding.options import EmbedderOptions\n"
        "embedder = open_embedder(EmbedderOptions('someone/tiny'))\n"
        "print(embedder.name, embedder.fingerprint)\n"
    )
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, timeout=120, capture_output=True, text=True
    )
    assert done.stdout.split() == ["huggingface:someone/tiny", embedder.fingerprint]
