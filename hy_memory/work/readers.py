"""The readers of working and coding memory: those of chat, without what only conversations have.

A lane holds one fact a session, so there are no turns to stand beside one another, no speakers, and no
other buckets; everything else is the same stages.
"""

from __future__ import annotations

from collections.abc import Sequence

from hy_memory.reading.stages.buckets import intentions, schemas
from hy_memory.reading.stages.chains import chains
from hy_memory.reading.stages.episodes import episodes
from hy_memory.reading.stages.neighbours import neighbours
from hy_memory.reading.stages.speakers import speakers
from hy_memory.reading.stages.times import times
from hy_memory.reading.stages.turns import turns
from hy_memory.reading.state import Stage

_OF_CHAT = frozenset((turns, neighbours, speakers, times, schemas, intentions, chains, episodes))


def for_work(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages of a reader, anybody's, that serve a lane too."""
    return tuple(stage for stage in stages if stage not in _OF_CHAT)
