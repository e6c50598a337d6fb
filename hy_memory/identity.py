"""Whose vectors they are: vectors of two embedders must never be compared."""

from __future__ import annotations

from hy_memory.errors import EmbedderMismatchError
from hy_memory.ports import Embedder
from hy_memory.values.write import EmbedderIdentity


def identity_of(embedder: Embedder) -> EmbedderIdentity:
    """Return what the ledger remembers of an embedder."""
    return EmbedderIdentity(embedder.name, embedder.dims, embedder.fingerprint)


def check_same(theirs: EmbedderIdentity | None, ours: EmbedderIdentity) -> None:
    """Raise EmbedderMismatchError where the stored vectors are another embedder's; None is nobody's."""
    if theirs is not None and theirs != ours:
        raise EmbedderMismatchError(mismatch(theirs, ours))


def mismatch(theirs: EmbedderIdentity, ours: EmbedderIdentity) -> str:
    """Return what to tell somebody who uses a store with another embedder than its own."""
    return (
        f"this store's vectors were made by {_shown(theirs)}, but {_shown(ours)} is configured; set "
        f"MEMORY_EMBEDDER_PROVIDER={theirs.name}, or run `hy-memory reembed` to make all vectors anew"
    )


def _shown(one: EmbedderIdentity) -> str:
    return f"{one.name} ({one.dims} dimensions{f', {one.fingerprint}' if one.fingerprint else ''})"
