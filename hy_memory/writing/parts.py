"""Long texts: a root memory that holds all of it, and sections that are found by what stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hy_memory.clock import Clock
from hy_memory.errors import InvalidArgumentError
from hy_memory.text.sections import sections
from hy_memory.text.tokens import estimate_tokens
from hy_memory.values.point import FloatArray
from hy_memory.values.record import MemoryRecord


def is_long(text: str, above_tokens: int) -> bool:
    """Return whether a text is stored in sections too."""
    return len(text) > above_tokens and estimate_tokens(text) > above_tokens


def parts_of(root: MemoryRecord, clock: Clock) -> list[MemoryRecord]:
    """Return the sections of a long memory, in order; each has what the root has but for its text."""
    texts = [one for one in sections(root.content) if one.strip()]
    ids = clock.make_ids(root.created_at, len(texts))
    return [
        replace(root, id=one, content=text, part_of=root.id, position=at, claims=())
        for at, (one, text) in enumerate(zip(ids, texts, strict=True))
    ]


def mean_of(vectors: Sequence[FloatArray]) -> FloatArray:
    """Return the direction of the mean of unit vectors (dims,); the first one where they cancel out."""
    mean = np.mean(np.stack(vectors), axis=0)
    length = float(np.linalg.norm(mean))
    return vectors[0] if length < 1e-6 else np.asarray(mean / length, dtype=np.float32)


def refuse_parts(records: Sequence[MemoryRecord], gone: frozenset[str] = frozenset()) -> None:
    """Refuse to change a section by itself: its words stand in the root too."""
    for one in records:
        if one.part_of is not None and one.part_of not in gone:
            raise InvalidArgumentError(
                "memory_id", one.id, f"this is a section of memory {one.part_of!r}: change or delete that"
            )
