"""Bring your own embedder: any object with `embed_batch` and `get_embedding_dims`.

python examples/own_embedder.py
"""

from __future__ import annotations

import math
import tempfile

from hy_memory import HyMemoryClient


class LetterCounts:
    """The simplest embedder there is: how often each letter occurs. Yours calls a model instead."""

    name = "letter-counts"
    """The store remembers it: opening the store with another embedder is an error, not nonsense."""

    def get_embedding_dims(self) -> int:
        """Return the length of a vector."""
        return 26

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text."""
        return [self._counts(text.lower()) for text in texts]

    def _counts(self, text: str) -> list[float]:
        counts = [float(text.count(chr(ord("a") + at))) for at in range(26)]
        length = math.hypot(*counts)
        return [one / length for one in counts] if length else [1.0] + [0.0] * 25


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        HyMemoryClient({"data_dir": folder}, embedding_service=LetterCounts()) as memory,
    ):
        memory.add_extracted(["zebra crossing", "tea and toast", "a lazy zebra"], user_id="maya")
        for item in memory.search("zebra", user_ids=["maya"], min_score=0.6)["memories"]["normal"]:
            print(f"{item['score']:.2f}  {item['content']}")
