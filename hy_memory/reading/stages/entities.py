"""Entities: memories that name what the question names, whether or not meaning or words list them."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.ranking.fusion import as_score
from hy_memory.reading.state import Leg, ReadPorts, SearchState
from hy_memory.text.mentions import mentions_of

ENTITY = "Entity"


def entity_leg(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the entity leg, where it is on."""
    entities, where = ports.entities, state.request.where
    if entities is None or state.request.top_k == 0:
        return state
    mentions, weight = mentions_of(state.request.query), ports.weights.entities
    leg = Leg(
        ENTITY,
        search=lambda top_k: entities.search(mentions, where, top_k),
        score=lambda ids: entities.score(mentions, ids, where),
        calibrate=lambda shares: as_score(weight * shares),  # bounded: all of them say `weight`
    )
    return replace(state, legs=(*state.legs, leg))
