"""The buckets beside `normal`: schemas that fit the question or rest on a hit, and open intentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hy_memory.pipeline import Guarded, guard
from hy_memory.ranking.fusion import dense_scores
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.reading.wall import Wall
from hy_memory.values.record import MemoryRecord
from hy_memory.values.request import BucketRequest, Explain
from hy_memory.values.result import Hit, LegEvidence

SCHEMA = "Schema"
INTENTION = "Intention"
_MOST = 256  # looked at in one search: more patterns or plans than that are no summary of anybody
_DECIMALS = 5  # the grid of `ports.TIE`


def schemas(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `schemas`: those above their own threshold, and those that cite a hit, whatever their score."""
    asked = state.request.schemas
    found = guard("schema", lambda: _recalled(state, ports, asked))
    if isinstance(found, Guarded):
        return replace(state, failures=(*state.failures, found))
    shown = {(hit.record.user_id, hit.record.id) for hit in state.hits or ()}
    kept = [
        Hit(one, score, SCHEMA, _evidence(state, score, cited))
        for one, score in found
        if (cited := _cited(one, shown)) or score >= asked.min_score
    ]
    return replace(state, schemas=_cut(kept, asked.limit))


def intentions(state: SearchState, ports: ReadPorts) -> SearchState:
    """Fill `intentions`: open ones that fit the question; an expired one is an ordinary fact by then."""
    asked = state.request.intentions
    found = guard("intention", lambda: _recalled(state, ports, asked))
    if isinstance(found, Guarded):
        return replace(state, failures=(*state.failures, found))
    kept = [Hit(one, score, INTENTION) for one, score in found if score >= asked.min_score]
    return replace(state, intentions=_cut(kept, asked.limit))


def is_open(asked: BucketRequest, ports: ReadPorts) -> bool:
    """Return whether a bucket is wanted and could hold anything."""
    return asked.where is not None and ports.records.has_layer(asked.where.user_ids, asked.layer)


def _recalled(state: SearchState, ports: ReadPorts, asked: BucketRequest) -> list[tuple[MemoryRecord, float]]:
    """Return the confirmed records of a bucket's layer with their scores, best first."""
    if asked.where is None or state.vector is None or not is_open(asked, ports):
        return []
    ranking = ports.vectors.search(state.vector, asked.where, _MOST)
    scores = np.round(dense_scores(ranking.scores, ports.embedder.calibration), _DECIMALS).tolist()
    records = ports.records.records(ranking.ids)
    confirmed = Wall.of(asked.where, state.request.sources, ports.records).confirmed(records)
    return [(records[one], score) for one, score in zip(ranking.ids, scores, strict=True) if one in confirmed]


def _cited(schema: MemoryRecord, shown: set[tuple[str, str]]) -> frozenset[str]:
    """Return which of the hits a schema rests on; only those of its own user count."""
    return frozenset(one for one in schema.evidence_ids if (schema.user_id, one) in shown)


def _evidence(state: SearchState, score: float, cited: frozenset[str]) -> tuple[LegEvidence, ...]:
    """Return the score that similarity gave, and which hits the schema rests on, where the caller asks."""
    if state.request.explain is Explain.NO:
        return ()
    return (
        LegEvidence(SCHEMA, None, score),
        *(LegEvidence(f"cites {one}", None, 1.0) for one in sorted(cited)),
    )


def _cut(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Return the best `limit` hits in the order of all answers; a negative limit is no limit."""
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.record.id))
    return tuple(ordered if limit < 0 else ordered[:limit])
