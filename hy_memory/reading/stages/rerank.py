"""Rerank: a model reads the question with each confirmed hit, and its judgement orders them, or helps to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hy_memory.errors import RerankError
from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import Reranker, ScoreArray
from hy_memory.ranking.blend import blend
from hy_memory.reading.seen import fused
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.record import indexed_text
from hy_memory.values.result import Hit


def rerank(state: SearchState, ports: ReadPorts) -> SearchState:
    """Order `hits` by a `rerank_score`, ties by id; `score` stays what it was.

    The model's judgement is the `rerank_score`, or has the share `rerank_blend` in it. Does nothing where
    local rerank is off or the request does not want it. A failure leaves the order before it and is noted.
    """
    reranker, hits = ports.reranker, state.hits
    if reranker is None or not hits or not state.request.rerank:
        return state
    scores = guard("rerank", lambda: _scores(reranker, state.request.query, hits))
    if isinstance(scores, Guarded):
        return replace(state, failures=(*state.failures, scores))
    if ports.rerank_blend < 1.0:
        scores = blend(*_known(state, hits), scores, ports.rerank_blend)
    judged = [replace(hit, rerank_score=score) for hit, score in zip(hits, scores.tolist(), strict=True)]
    order = sorted(range(len(hits)), key=lambda at: (-scores[at], hits[at].record.id))
    return replace(state, hits=tuple(judged[at] for at in order))


def _known(state: SearchState, hits: Sequence[Hit]) -> tuple[ScoreArray, ScoreArray]:
    """Return what the legs alone score of each hit, and the evidence of all supports together."""
    candidates = state.candidates
    place = {one: at for at, one in enumerate(candidates.ids)}
    chosen = [place[hit.record.id] for hit in hits]
    own = fused(state, [column[chosen] for column in candidates.by_leg])
    return own, sum((column[chosen] for column in candidates.by_support), np.zeros(len(chosen)))


def _scores(reranker: Reranker, query: str, hits: Sequence[Hit]) -> ScoreArray:
    """Return one score per hit; whatever cannot be one is an error of the reranker."""
    scores = np.asarray(reranker.scores(query, [indexed_text(hit.record) for hit in hits]), dtype=np.float64)
    if scores.shape != (len(hits),):
        raise RerankError(f"the reranker gave scores of shape {scores.shape} for {len(hits)} texts")
    if not ((scores >= 0) & (scores <= 1)).all():  # false for NaN too
        raise RerankError("the reranker gave scores that are NaN, infinite or outside [0, 1]")
    return scores
