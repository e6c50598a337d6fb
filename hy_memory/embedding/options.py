"""What an embedder's factory gets to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from hy_memory.errors import ConfigurationError
from hy_memory.ports import Embedder


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """The `embedder` settings, resolved. What an adapter has no use for it ignores.

    `timeout` is in seconds for one call, retries included. `threads` are those of one forward
    pass of a local model; searches run in parallel anyway, so one is the fastest under load.
    """

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dims: int | None = None
    timeout: float = 30.0
    batch_size: int = 64
    device: str = "auto"
    threads: int = 1


class EmbedderFactory(Protocol):
    """The entry point of an embedder (group ``hy_memory.embedders``)."""

    def __call__(self, options: EmbedderOptions) -> Embedder:
        """Open the embedder; raises a ConfigurationError that says what to do where it cannot."""
        ...


def require_dims(options: EmbedderOptions, name: str, dims: int) -> None:
    """Raise ConfigurationError where the caller asks a model of fixed width `dims` for another width."""
    if options.dims not in (None, dims):
        raise ConfigurationError(
            f"the embedder {name!r} makes vectors of {dims} numbers, MEMORY_EMBEDDING_DIMS asks for "
            f"{options.dims}; leave it unset or set it to {dims}"
        )
