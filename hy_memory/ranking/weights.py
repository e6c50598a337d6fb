"""How much each thing that speaks for a memory beside the legs weighs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """Multiples of evidence (-log(1 - score)); 0 says nothing. What each gains: docs/concepts/ranking.md."""

    neighbours: float = 1.0
    named_speaker: float = 0.2
    own_words: float = 1.0
    time: float = 0.2
    entities: float = 0.0


@dataclass(frozen=True, slots=True)
class UseWeights:
    """The same for what a memory learned from use, and for how recent it is."""

    salience: float = 0.0
    recency: float = 0.0
