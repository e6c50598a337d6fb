"""From what is stored of a memory to its turn."""

from __future__ import annotations

from sys import intern
from typing import TypeAlias

from hy_memory.text.normalize import fold, normalize
from hy_memory.values.record import Layer
from hy_memory.values.turn import KEPT, Turn

Kind: TypeAlias = tuple[str, str, str, Layer, "float | None"]
"""Agent, session, source, layer, and when it expires."""


def turn_of(id_: str, kind: Kind, moments: tuple[float, float | None], said: tuple[str, str]) -> Turn:
    """Return the turn of a memory: `moments` are when it was stored and when it happened, if that is known.

    `said` is its text and who says it. The names are the same few in most memories: one text for each saves
    a fifth of the space.
    """
    agent, session, source, layer, expires_at = kind
    (created_at, memory_at), (content, owner) = moments, said
    return Turn(
        id_,
        intern(agent),
        intern(session),
        intern(source),
        layer,
        expires_at,
        created_at if memory_at is None else memory_at,
        created_at,
        "?" in content or "\uff1f" in content,  # of ASCII, and of full width
        intern(fold(normalize(owner))),
        len(content.encode()),
        content if len(content) <= KEPT else None,
        intern(owner),
        memory_at,
    )
