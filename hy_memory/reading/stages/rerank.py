"""Rerank: the confirmed hits in another order, by a model that reads them or by what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hy_memory.errors import RerankError
from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import Reranker, ScoreArray
from hy_memory.ranking.blend import blend
from hy_memory.ranking.fusion import raised
from hy_memory.reading.second_hop import second_hop
from hy_memory.reading.seen import DECIMALS, fused
from hy_memory.reading.state import ReadPorts, SearchState
from hy_memory.values.record import indexed_text
from hy_memory.values.result import Hit


def rerank(state: SearchState, ports: ReadPorts) -> SearchState:
    """Order `hits` by a `rerank_score`, ties by id; `score` stays what it was.

    The model's judgement is the `rerank_score`, or has the share `rerank_blend` in it; without a model the
    second hop alone changes the order. Does nothing where local rerank is off or the request does not want
    it. A failure leaves the order before it and is noted.
    """
    hits = state.hits
    if not hits or not state.request.rerank:
        return state
    scores = guard("rerank", lambda: _scores(state, ports, hits))
    if isinstance(scores, Guarded):
        return replace(state, failures=(*state.failures, scores))
    judged = [replace(hit, rerank_score=score) for hit, score in zip(hits, scores.tolist(), strict=True)]
    order = sorted(range(len(hits)), key=lambda at: (-scores[at], hits[at].record.id))
    return replace(state, hits=tuple(judged[at] for at in order))


def _scores(state: SearchState, ports: ReadPorts, hits: Sequence[Hit]) -> ScoreArray:
    """Return what `hits` are ordered by, (n,) in [0, 1]."""
    judged = None if ports.reranker is None else _judged(ports.reranker, state.request.query, hits)
    if judged is not None and ports.rerank_blend >= 1.0:
        return judged
    candidates = state.candidates
    place = {one: at for at, one in enumerate(candidates.ids)}
    chosen = [place[hit.record.id] for hit in hits]
    own = fused(state, [column[chosen] for column in candidates.by_leg])
    support = sum((column[chosen] for column in candidates.by_support), np.zeros(len(chosen)))
    if ports.keywords is not None and ports.second_hop:
        support = support + ports.second_hop * second_hop(state, ports.keywords, hits, own)
    if judged is None:
        return np.round(raised(own, support), DECIMALS)
    return blend(own, support, judged, ports.rerank_blend)


def _judged(reranker: Reranker, query: str, hits: Sequence[Hit]) -> ScoreArray:
    """Return one score per hit; whatever cannot be one is an error of the reranker."""
    scores = np.asarray(reranker.scores(query, [indexed_text(hit.record) for hit in hits]), dtype=np.float64)
    if scores.shape != (len(hits),):
        raise RerankError(f"the reranker gave scores of shape {scores.shape} for {len(hits)} texts")
    if not ((scores >= 0) & (scores <= 1)).all():  # false for NaN too
        raise RerankError("the reranker gave scores that are NaN, infinite or outside [0, 1]")
    return scores
