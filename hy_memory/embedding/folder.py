"""What a model folder says about itself: pooling, longest input, and its forms for questions and texts.

The files are those of the sentence-transformers layout; what is missing has the usual default.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from hy_memory.errors import ConfigurationError


class Pooling(StrEnum):
    """How token vectors become the vector of a text."""

    MEAN = "mean"
    CLS = "cls"
    MAX = "max"
    LASTTOKEN = "lasttoken"


_POOLING_KEYS = {
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_lasttoken": Pooling.LASTTOKEN,
}
_MODULES = ("Transformer", "Pooling", "Normalize")
_USUAL_LENGTH = 512  # positions of BERT and its relatives
_LONGEST = 8192  # tokens; `model_max_length` is 10^30 where nobody set it, and attention grows quadratically
FILES = (
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config.json",
    "config_sentence_transformers.json",
)
"""Where a folder describes itself; all of them are optional."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How texts go into a model and how a vector comes out; `longest` is in tokens."""

    pooling: Pooling = Pooling.MEAN
    longest: int = _USUAL_LENGTH
    query_prefix: str = ""
    document_prefix: str = ""


def read_settings(folder: Path) -> ModelSettings:
    """Return what the files in `folder` say.

    Raises ConfigurationError for a file that cannot be read and for a model with parts that are
    neither encoder, pooling nor normalisation: its vectors would silently be other ones.
    """
    files = {name: _read(folder / name) for name in FILES}
    _check_modules(files["modules.json"], folder)
    described = _mapping(files["config_sentence_transformers.json"])
    prompts = _mapping(described.get("prompts"))
    return ModelSettings(
        _pooling(_mapping(files["1_Pooling/config.json"]), folder),
        _length(files),
        _first_text(prompts, ("query",)),
        _first_text(prompts, ("document", "passage")),
    )


def pool(
    hidden: npt.NDArray[np.floating], mask: npt.NDArray[np.int64], how: Pooling
) -> npt.NDArray[np.float64]:
    """Return one row (n, dims) per text from its token vectors (n, tokens, dims), padding left out.

    `mask` (n, tokens) is 1 for tokens and 0 for padding, which stands behind them.
    """
    tokens = hidden.astype(np.float64)
    if how is Pooling.CLS:
        return tokens[:, 0]
    if how is Pooling.LASTTOKEN:
        return tokens[np.arange(len(tokens)), mask.sum(axis=1) - 1]
    inside = mask[:, :, None] > 0
    if how is Pooling.MAX:
        return np.where(inside, tokens, -np.inf).max(axis=1)
    return np.where(inside, tokens, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None]


def by_length(lengths: Sequence[int], batch_size: int) -> Iterable[list[int]]:
    """Yield positions in batches of like lengths, so that little of a batch is padding."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _read(file: Path) -> object:
    if not file.is_file():
        return None
    try:
        return cast("object", json.loads(file.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read as JSON; the model folder is damaged") from error


def _mapping(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _check_modules(modules: object, folder: Path) -> None:
    listed = cast("list[object]", modules) if isinstance(modules, list) else []
    kinds = [str(_mapping(one).get("type", "")).rsplit(".", 1)[-1] for one in listed]
    strange = [kind for kind in kinds if kind not in _MODULES]
    if strange:
        raise ConfigurationError(
            f"the model in {folder} has a part {strange[0]!r}; only {', '.join(_MODULES)} are known. Serve "
            f"it by an OpenAI-compatible endpoint, or pass it as embedding_service"
        )


def _pooling(config: dict[str, object], folder: Path) -> Pooling:
    asked = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    named = config.get("pooling_mode")  # how newer files say it
    if not asked and named is None:
        return Pooling.MEAN
    if len(asked) == 1 and asked[0] in _POOLING_KEYS:
        return _POOLING_KEYS[asked[0]]
    if not asked and named in tuple(Pooling):
        return Pooling(str(named))
    raise ConfigurationError(
        f"the model in {folder} asks for a pooling other than one of {', '.join(Pooling)}, which is not known"
    )


def _length(files: dict[str, object]) -> int:
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    ):
        value = _mapping(files[name]).get(key)
        if isinstance(value, int) and 1 < value <= _LONGEST:
            return value
    return _USUAL_LENGTH


def _first_text(prompts: dict[str, object], names: Sequence[str]) -> str:
    found = (prompts.get(name) for name in names)
    return next((text for text in found if isinstance(text, str)), "")
