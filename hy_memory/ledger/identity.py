"""The embedder's identity, as the store remembers it."""

from __future__ import annotations

import json

from hy_memory.values.write import EmbedderIdentity

EMBEDDER = "embedder"
"""Its name among the `meta` rows."""


def to_json(identity: EmbedderIdentity) -> str:
    """Return `identity` as it is stored."""
    return json.dumps({"name": identity.name, "dims": identity.dims, "fingerprint": identity.fingerprint})


def from_json(text: str) -> EmbedderIdentity:
    """Return the identity that `text` holds."""
    return EmbedderIdentity(**json.loads(text))
