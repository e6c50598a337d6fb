"""A sequence classifier of the Hugging Face layout that reads question and text together.

Everything is loaded, placed and tried out by the constructor; afterwards threads share the model and
nothing has a lock: the forward pass changes nothing, and the tokenizer is only read.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hy_memory.errors import HyMemoryError, MissingExtraError, RerankerLoadError, RerankError
from hy_memory.ports import ScoreArray
from hy_memory.reranking.int8 import to_int8
from hy_memory.reranking.options import RerankerOptions
from hy_memory.reranking.pairs import Pair, PairTokenizer, by_length
from hy_memory.reranking.relevance import probabilities, relevance_label
from hy_memory.text.normalize import repair

try:
    import torch
    import transformers
except ImportError as error:
    raise MissingExtraError("rerank", error.name or "transformers") from error

_CLASSIFIER = "ForSequenceClassification"


class CrossEncoder:
    """A model in evaluation mode, in 32 bits unless the options ask for eight."""

    def __init__(self, options: RerankerOptions) -> None:
        self._options = options
        where = _where(options.model)
        self._device = _device(options.device)
        self._model = _load_model(where).to(self._device).float().eval()
        if options.int8 and self._device == "cpu":
            to_int8(self._model)
        tokenizer = _load_tokenizer(where)
        self._pairs = PairTokenizer(tokenizer, _length(options.max_length, tokenizer, self._model.config))
        names = cast("Mapping[int, str]", self._model.config.id2label)
        self._labels, self._label = len(names), relevance_label(names)
        self._try()

    def scores(self, query: str, texts: Sequence[str]) -> ScoreArray:
        """See `Reranker`. Equal texts have equal scores, and are read once."""
        with _translated(self._options.model):
            return self._scores(_printable(query), [_printable(text) for text in texts])

    def _scores(self, query: str, texts: Sequence[str]) -> ScoreArray:
        ends = None if self._options.timeout is None else time.monotonic() + self._options.timeout
        place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        pairs = [self._pairs.read(query, text) for text in place]
        scores = np.empty(len(pairs))
        for batch in by_length(pairs, self._options.batch_size):
            if ends is not None and time.monotonic() > ends:
                raise RerankError(f"the reranker took longer than {self._options.timeout:g} s")
            scores[batch] = probabilities(self._forward([pairs[at] for at in batch]), self._label)
        return scores[[place[text] for text in texts]]

    def _forward(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """Return the logits (n, labels)."""
        inputs = {
            name: torch.from_numpy(value).to(self._device) for name, value in self._pairs.table(pairs).items()
        }
        with torch.inference_mode():
            return self._model(**inputs).logits.float().cpu().numpy()

    def _try(self) -> None:
        """One forward pass over a short and a longest pair: what fails here would fail in a search."""
        longest = "text " * self._options.max_length
        pairs = [self._pairs.read("query", text) for text in ("text", longest)]
        logits = self._forward(pairs)
        if logits.shape != (len(pairs), self._labels) or not np.isfinite(logits).all():
            raise RerankerLoadError(
                self._options.model,
                f"a trial gave logits of shape {logits.shape}, finite: {bool(np.isfinite(logits).all())}; "
                f"{(len(pairs), self._labels)} finite ones were due",
            )


def open_reranker(options: RerankerOptions) -> CrossEncoder:
    """Return the cross-encoder `options.model`, a local folder or a hub name, ready to use.

    Raises RerankerLoadError (a RuntimeError) naming the model and the cause: a folder that is not
    there, a model that is no sequence classifier or lacks its weights, a device this machine lacks.
    """
    try:
        return CrossEncoder(options)
    except RerankerLoadError:
        raise
    except Exception as error:  # transformers raises whatever the file, the network or torch raised
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise RerankerLoadError(options.model, cause) from error


@contextmanager
def _translated(model: str) -> Generator[None]:
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:
        # torch's own words may quote the input; they stay in the chained exception
        raise RerankError(f"the reranker {model!r} raised {type(error).__name__}; see the cause") from error


def _printable(text: str) -> str:
    """Return `text` without what a tokenizer in Rust cannot take."""
    return repair(text).replace("\0", "\ufffd")


def _where(model: str) -> str:
    """Return the folder or hub name to load; what can only be a folder is never asked of the hub."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return str(folder)
    if folder.is_absolute() or model.startswith(".") or "\\" in model or model.count("/") > 1:
        raise RerankerLoadError(model, f"there is no folder {folder}")
    return model


def _device(wanted: str) -> str:
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def _load_model(where: str) -> Any:
    """Return the classifier; one whose head would be made up from random numbers is refused."""
    config = cast("Any", transformers.AutoConfig.from_pretrained(where, trust_remote_code=False))
    architectures = cast("list[str]", config.architectures or [])
    if architectures and not any(one.endswith(_CLASSIFIER) for one in architectures):
        raise RerankerLoadError(where, f"it is a {architectures[0]}, not a sequence classifier")
    loader = cast("Any", transformers.AutoModelForSequenceClassification)
    model, loaded = loader.from_pretrained(where, output_loading_info=True, trust_remote_code=False)
    absent = sorted(str(one) for one in (*loaded["missing_keys"], *loaded["mismatched_keys"]))
    if absent:
        raise RerankerLoadError(
            where, f"it lacks weights of a sequence classifier, or has them in another shape: {absent[0]}"
        )
    return model


def _load_tokenizer(where: str) -> Any:
    tokenizer = cast("Any", transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False))
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise RerankerLoadError(where, "its tokenizer has no vocabulary; are its files missing?")
    return tokenizer


def _length(wanted: int, tokenizer: Any, config: Any) -> int:
    """Return the tokens that the setting, the tokenizer and the model's positions all allow."""
    positions = getattr(config, "max_position_embeddings", None)
    allowed = [wanted, int(tokenizer.model_max_length)]
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its relatives number positions from the padding id on, and so hold fewer
        allowed.append(positions if config.model_type == "bert" else positions - 2)
    return min(allowed)
