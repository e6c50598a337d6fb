"""What a reranker's factory gets to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hy_memory.ports import Reranker


@dataclass(frozen=True, slots=True)
class RerankerOptions:
    """The `recall.local_rerank_…` settings, resolved.

    `batch_size` is pairs in one forward pass, `max_length` tokens of a pair, `timeout` seconds for one
    search (None: no limit). `int8` makes the model's weights eight bits wide, on a CPU only. `cache_mb` (MiB)
    is for what late interaction keeps of the texts it read.
    """

    model: str
    device: str = "auto"
    batch_size: int = 16
    max_length: int = 512
    int8: bool = False
    timeout: float | None = None
    cache_mb: int = 64


class RerankerFactory(Protocol):
    """Opens a reranker: after it returned, nothing is loaded any more."""

    def __call__(self, options: RerankerOptions) -> Reranker:
        """Raise RerankerLoadError naming the model and the cause where it cannot be used."""
        ...
