"""The `legacy` reader: candidates by vector similarity."""

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
from hy_memory.reading.stages.legs import vector_leg
from hy_memory.reading.stages.recall import recall
from hy_memory.reading.stages.rerank import rerank
from hy_memory.reading.state import Stage

LEGACY: tuple[Stage, ...] = (
    embed,
    vector_leg,
    entity_leg,
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
