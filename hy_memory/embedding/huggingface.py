"""Any encoder of the Hugging Face layout, a folder or a hub name, by transformers and torch.

It is loaded by the constructor: importing torch takes seconds anyway, and what is wrong with a model
is best said there. A hub name downloads the model once, into the cache of transformers.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.folder import FILES, ModelSettings, by_length, pool, read_settings
from hy_memory.embedding.options import EmbedderOptions, require_dims
from hy_memory.errors import ConfigurationError, HyMemoryError, MissingExtraError
from hy_memory.ranking.calibration import IDENTITY, Calibration

try:
    import huggingface_hub
    import torch
    import transformers
except ImportError as error:
    raise MissingExtraError("rerank", error.name or "transformers") from error

_SAMPLE = 64  # weights of each tensor that enter the fingerprint; training changes all of them


class _HuggingFace:
    """An encoder in evaluation mode. Threads share it: only the tokenizer, which is stateful, has a lock."""

    calibration: Calibration = IDENTITY

    def __init__(self, options: EmbedderOptions) -> None:
        model = options.model or ""
        folder = Path(model).expanduser()
        local = folder.is_dir()
        where = str(folder) if local else model
        self.name = f"huggingface:{folder.resolve().name if local else model}"
        with _opening(model):
            self._settings = read_settings(folder if local else _described(model))
            self._device = _device(options.device)
            # Foreign objects without usable types from here on; what leaves them is cast.
            self._tokenizer = cast("Any", transformers.AutoTokenizer.from_pretrained(where))
            encoder = cast("Any", transformers.AutoModel.from_pretrained(where))
            self._encoder = encoder.to(self._device).eval()
        self.dims = int(self._encoder.config.hidden_size)
        self.fingerprint = _fingerprint(self._encoder, self._settings)
        self._longest = _longest(self._settings, self._tokenizer, self._encoder)
        self._batch_size = max(1, options.batch_size)
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return one row per text."""
        return self._rows([self._settings.document_prefix + text for text in texts])

    def embed_query(self, text: str) -> npt.ArrayLike:
        """Return one row."""
        return self._rows([self._settings.query_prefix + text])[0]

    def _rows(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        rows = np.empty((len(texts), self.dims), dtype=np.float64)
        for batch in by_length([len(text) for text in texts], self._batch_size):
            rows[batch] = self._forward([texts[at] for at in batch])
        return rows

    def _forward(self, texts: list[str]) -> npt.NDArray[np.float64]:
        with self._lock:
            inputs = self._tokenizer(
                texts,
                padding=True,
                padding_side="right",
                truncation=True,
                max_length=self._longest,
                return_tensors="pt",
            )
        mask = cast("npt.NDArray[np.int64]", inputs["attention_mask"].numpy())
        with torch.inference_mode():
            hidden = self._encoder(**inputs.to(self._device)).last_hidden_state
        return pool(hidden.float().cpu().numpy(), mask, self._settings.pooling)


def open_embedder(options: EmbedderOptions) -> CheckedEmbedder:
    """Return the encoder `options.model`, a local folder or a hub name (entry point `huggingface`).

    Raises ConfigurationError naming the model where it cannot be loaded.
    """
    if not options.model:
        raise ConfigurationError(
            "MEMORY_EMBEDDER_MODEL is not set; the provider 'huggingface' needs a folder or a hub name"
        )
    embedder = CheckedEmbedder(_HuggingFace(options))
    require_dims(options, embedder.name, embedder.dims)
    return embedder


@contextmanager
def _opening(model: str) -> Generator[None]:
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:  # transformers raises whatever the file, the network or torch raised
        raise ConfigurationError(
            f"the embedding model {model!r} cannot be loaded ({type(error).__name__}): "
            f"MEMORY_EMBEDDER_MODEL takes a folder with config, weights and tokenizer, or a hub name; "
            f"MEMORY_EMBEDDER_DEVICE a device of this machine"
        ) from error


def _described(model: str) -> Path:
    """Return the cached folder of a hub model with the files that describe it."""
    return Path(huggingface_hub.snapshot_download(model, allow_patterns=list(FILES)))


def _device(wanted: str) -> str:
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def _longest(settings: ModelSettings, tokenizer: Any, encoder: Any) -> int:
    """Return the tokens that the settings, the tokenizer and the encoder's positions all allow."""
    positions = getattr(encoder.config, "max_position_embeddings", None) or settings.longest
    # RoBERTa and its relatives number positions from the padding id on, and so hold fewer.
    reserved = 0 if encoder.config.model_type == "bert" else 2
    return max(2, min(settings.longest, int(tokenizer.model_max_length), int(positions) - reserved))


def _fingerprint(encoder: Any, settings: ModelSettings) -> str:
    digest = hashlib.blake2b(f"{encoder.config.model_type} {settings}".encode(), digest_size=8)
    weights = cast("Iterable[tuple[str, torch.Tensor]]", encoder.named_parameters())
    for name, tensor in weights:
        sample = tensor.detach().flatten()[:_SAMPLE].float().cpu().numpy()
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(np.asarray(sample, dtype="<f4").tobytes())
    return digest.hexdigest()
