"""The `hybrid` reader: `legacy` with the backend's keyword candidates beside the vector's."""

from __future__ import annotations

from hy_memory.reading.stages.adjust import adjust
from hy_memory.reading.stages.buckets import intentions, schemas
from hy_memory.reading.stages.chains import chains
from hy_memory.reading.stages.cut import cut
from hy_memory.reading.stages.embed import embed
from hy_memory.reading.stages.entities import entity_leg
from hy_memory.reading.stages.episodes import episodes
from hy_memory.reading.stages.fold import fold
from hy_memory.reading.stages.hydrate import hydrate
from hy_memory.reading.stages.legs import keyword_leg, vector_leg
from hy_memory.reading.stages.neighbours import neighbours
from hy_memory.reading.stages.recall import recall
from hy_memory.reading.stages.rerank import rerank
from hy_memory.reading.stages.speakers import speakers
from hy_memory.reading.stages.times import times
from hy_memory.reading.stages.turns import turns
from hy_memory.reading.state import Stage

HYBRID: tuple[Stage, ...] = (
    embed,
    vector_leg,
    keyword_leg,
    entity_leg,
    turns,
    neighbours,
    speakers,
    times,
    adjust,
    recall,
    hydrate,
    fold,
    rerank,
    cut,
    schemas,
    intentions,
    chains,
    episodes,
)
