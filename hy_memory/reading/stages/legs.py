"""The legs of a search: each stage adds one source of candidates to those already there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hy_memory.ports import ScoreArray
from hy_memory.ranking.bm25 import query_term_ids
from hy_memory.ranking.fusion import dense_scores
from hy_memory.reading.state import Leg, ReadPorts, SearchState

VECTOR = "VDB"
KEYWORD = "BM25"


def vector_leg(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the vector leg, if the query could be embedded."""
    vector, where = state.vector, state.request.where
    if vector is None or state.request.top_k == 0:
        return state
    leg = Leg(
        VECTOR,
        search=lambda top_k: ports.vectors.search(vector, where, top_k),
        score=lambda ids: ports.vectors.score(vector, ids, where),
        calibrate=lambda cosines: dense_scores(cosines, ports.embedder.calibration),
    )
    return replace(state, legs=(*state.legs, leg))


def keyword_leg(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the keyword leg, where the backend has one and the query has terms."""
    keywords, where = ports.keywords, state.request.where
    if keywords is None or state.request.top_k == 0:
        return state
    terms = query_term_ids(state.request.query)
    if not len(terms):
        return state
    leg = Leg(
        KEYWORD,
        search=lambda top_k: keywords.search(terms, where, top_k),
        score=lambda ids: keywords.score(terms, ids, where),
        calibrate=_unchanged,
    )
    return replace(state, legs=(*state.legs, leg), terms=len(terms))


def _unchanged(scores: ScoreArray) -> ScoreArray:
    """Keyword scores are shares of what the query could reach: in [0, 1] as they come."""
    return np.asarray(scores, dtype=np.float64)
