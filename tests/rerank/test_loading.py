"""What the constructor loads, what it refuses, and that nothing is loaded afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("torch", reason="torch is not installed (extra 'rerank')")
pytest.importorskip("transformers", reason="transformers is not installed (extra 'rerank')")

from hy_memory import HyMemoryClient
from hy_memory.errors import ConfigurationError, RerankerLoadError
from tests.rerank.models import save_random, torch, transformers
from tests.support.stores import READERS, config_for, ids, normal, open_client


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random(tmp_path_factory.mktemp("model") / "random")


def settings(model: object, **more: object) -> dict[str, object]:
    return {"recall": {"local_rerank_enabled": True, "local_rerank_model": str(model), **more}}


def _plain_bert(folder: Path) -> None:
    save_random(folder, "BertModel")


def _language_model(folder: Path) -> None:
    save_random(folder, "BertForMaskedLM")


def _changed(folder: Path, **entries: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config.update(entries)
    (folder / "config.json").write_text(json.dumps(config))


def _plain_weights_called_classifier(folder: Path) -> None:
    save_random(folder, "BertModel")
    _changed(folder, architectures=["BertForSequenceClassification"])


def _plain_weights_called_nothing(folder: Path) -> None:
    save_random(folder, "BertModel")
    _changed(folder, architectures=None)


def _other_shape(folder: Path) -> None:
    save_random(folder)
    _changed(folder, id2label={"0": "a", "1": "b", "2": "c"}, label2id={"a": 0, "b": 1, "c": 2})


def _no_weights(folder: Path) -> None:
    save_random(folder)
    (folder / "model.safetensors").unlink()


def _damaged_weights(folder: Path) -> None:
    save_random(folder)
    (folder / "model.safetensors").write_bytes(b"no weights at all")


def _no_tokenizer(folder: Path) -> None:
    save_random(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink(missing_ok=True)


def _infinite_weights(folder: Path) -> None:
    save_random(folder)
    classifier = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        classifier.classifier.bias.fill_(torch.inf)
    classifier.save_pretrained(folder)


def _a_folder_of_something_else(folder: Path) -> None:
    folder.mkdir()
    (folder / "readme.txt").write_text("nothing here")


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: None, "there is no folder"),
    "empty": (Path.mkdir, "config"),
    "no model": (_a_folder_of_something_else, "config"),
    "encoder": (_plain_bert, "BertModel, not a sequence classifier"),
    "language model": (_language_model, "BertForMaskedLM, not a sequence classifier"),
    "encoder called classifier": (_plain_weights_called_classifier, r"lacks weights.*classifier\."),
    "encoder called nothing": (_plain_weights_called_nothing, r"lacks weights.*classifier\."),
    "head of another shape": (_other_shape, "RuntimeError|shape"),
    "no weights": (_no_weights, "no file named"),
    "damaged weights": (_damaged_weights, "SafetensorError"),
    "no tokenizer": (_no_tokenizer, "tokenizer"),
    "infinite weights": (_infinite_weights, "finite: False"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_cross_encoder_is_refused(wrong: str, tmp_path: Path) -> None:
    """C26: RuntimeError in the constructor with model and cause, and nothing of a store is made."""
    make, cause = WRONG[wrong]
    folder, store = tmp_path / "a-model", tmp_path / "store"
    make(folder)
    with pytest.raises(RuntimeError, match=cause) as raised:
        HyMemoryClient.from_config({**config_for("faiss", store), **settings(folder)})
    assert isinstance(raised.value, RerankerLoadError)
    assert isinstance(raised.value, ConfigurationError)
    message = str(raised.value)
    assert str(folder) in message
    assert len(message.partition(": ")[2]) > 10, "there is a cause"
    assert not store.exists()


@pytest.mark.parametrize("device", ["no-such-device", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(device: str, model: Path, folder: Path) -> None:
    with pytest.raises(RuntimeError, match="local rerank cannot use the model"):
        open_client("memory", folder, config=settings(model, local_rerank_device=device))


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("reader", READERS)
def test_no_search_loads_anything(
    reader: str, int8: bool, model: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract §4: after construction neither a file of the model nor a module of its libraries is opened."""
    with open_client("faiss", folder, config=settings(model, local_rerank_int8=int8)) as client:
        client.add_extracted(["the car", "the automobile in lyon", "the sofa"], user_id="u")
        client.search("car", user_ids=["u"], reader=reader, rerank=False)

        def refuse(*arguments: object, **more: object) -> None:
            raise AssertionError("a search loads something")

        for name in ("AutoConfig", "AutoTokenizer", "AutoModelForSequenceClassification"):
            monkeypatch.setattr(getattr(transformers, name), "from_pretrained", refuse)
        for kind in (transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase):
            monkeypatch.setattr(kind, "from_pretrained", refuse)
        monkeypatch.setattr(torch, "load", refuse)
        moved = model.with_name("moved")
        model.rename(moved)
        before = set(sys.modules)
        try:
            answer: Any = client.search("where did we see the car", user_ids=["u"], reader=reader)
        finally:
            moved.rename(model)
        assert "degraded" not in answer
        assert len(normal(answer)) == 3
        assert all(0 <= item["rerank_score"] <= 1 for item in normal(answer))
        heavy = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub")
        assert not [one for one in set(sys.modules) - before if one.startswith(heavy)]


def test_a_model_that_turns_out_nan_keeps_the_order(model: Path, folder: Path) -> None:
    """C27: a real model whose weights were damaged in memory fails open."""
    with open_client("memory", folder, config=settings(model)) as client:
        client.add_extracted(["the car", "the automobile in lyon", "the sofa"], user_id="u")
        plain = client.search("car", user_ids=["u"], rerank=False)
        reranker = cast("Any", client)._open().reading.reranker
        with torch.no_grad():
            reranker._model.classifier.weight.fill_(torch.nan)
        answer: Any = client.search("car", user_ids=["u"])
        assert ids(answer) == ids(plain)
        assert [one["part"] for one in answer["degraded"]] == ["rerank"]


def test_a_hub_name_is_found_in_the_cache(model: Path, tmp_path: Path) -> None:
    """A model that was downloaded once is opened by its name, without a network."""
    cached = tmp_path / "hub" / "models--someone--tiny"
    shutil.copytree(model, cached / "snapshots" / "abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc")
    code = (
        "from hy_memory import HyMemoryClient\n"
        "with HyMemoryClient({'embedder': {'provider': 'hashed'}}) as client:\n"
        "    client.add('the car in lyon', user_id='u')\n"
        "    hits = client.search('car', user_ids=['u'])['memories']['normal']\n"
        "    print(*(hit['rerank_score'] > 0 for hit in hits))\n"
    )
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "MEMORY_DATA_DIR": str(tmp_path / "store"),
        "MEMORY_LOCAL_RERANK_ENABLED": "true",
        "MEMORY_LOCAL_RERANK_MODEL": "someone/tiny",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, timeout=120, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True"]
