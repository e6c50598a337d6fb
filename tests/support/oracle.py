"""The right answer of a search, computed from everything by the documented formulas and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np

from hy_memory import HyMemoryClient
from hy_memory.ranking.bm25 import document_terms, idf, query_term_ids
from hy_memory.ranking.calibration import IDENTITY, Calibration
from hy_memory.ranking.fusion import fuse
from hy_memory.values.point import FloatArray, TermVector
from tests.support.embedding import POOL, place_of

GRID = 1e-5
"""Scores are rounded to this."""
_DOUBT = 5e-7 / GRID  # what engines' float32 may differ by, in steps of the grid
_NORMAL = ("l2_fact", "l3_summary", "l4_identity", "l5_knowledge")


@dataclass(frozen=True, slots=True)
class Memory:
    """What the caller said when it was stored; `created_at` is what the store noted."""

    id: str
    user_id: str
    content: str
    created_at: float
    agent_id: str = "default_agent"
    session_id: str = "default_session"
    source: str = "default"
    layer: str = "l2_fact"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    memory_at: float | None = None
    expires_at: float | None = None
    speaker: str = ""
    earlier: tuple[str, ...] = ()
    """The texts it used to have, newest first."""

    @property
    def event_at(self) -> float:
        """When it happened."""
        return self.created_at if self.memory_at is None else self.memory_at

    @property
    def vector(self) -> FloatArray:
        """What the dotted embedder makes of it."""
        return POOL[place_of(self.content)]

    @property
    def terms(self) -> TermVector:
        """Its keywords: the text, and beside it who, when and what is shown (contract §7)."""
        words = [self.speaker]
        if self.memory_at is not None:
            day = datetime.fromtimestamp(self.memory_at, UTC)
            words.append(f"{day.day} {day:%B} {day.year}")
        words += [
            self.metadata[key] for key in ("caption", "place", "location", "title") if key in self.metadata
        ]
        return document_terms(self.content, " ".join(one for one in words if one))


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as the oracle understands it. `admits` is every filter at once, `sources` that of sources."""

    query: str
    user_ids: tuple[str, ...]
    admits: Callable[[Memory], bool] = lambda _: True
    limit: int = 10
    min_score: float = 0.4
    keywords: bool = False
    sources: Callable[[Memory], bool] | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """Every admitted memory's unrounded score, and the hits among them, best first, before `limit`."""

    scores: Mapping[str, float]
    ranked: tuple[tuple[str, float], ...]
    min_score: float

    @property
    def is_doubtful(self) -> bool:
        """Whether float32 decides the last digit of a score somewhere."""
        return any(_is_doubtful(score) for score in self.scores.values())


class Oracle:
    """Everything stored, in a dictionary."""

    def __init__(self, calibration: Calibration = IDENTITY) -> None:
        self.memories: dict[str, Memory] = {}
        self.chains: list[list[str]] = []
        """Ids of memories that superseded each other, oldest first."""
        self._calibration = calibration

    def learn(self, client: HyMemoryClient, memory: Memory) -> None:
        """Keep `memory`, with the time of writing that the store noted for its id."""
        stored = cast("dict[str, Any] | None", client.get(memory.id))
        assert stored is not None
        assert stored["content"] == memory.content
        self.memories[memory.id] = replace(memory, created_at=stored["gmt_created"])

    def supersede(self, new: str, old: str) -> str:
        """Put `new` on top of the chain of `old`; return who was there until now."""
        chain = self.chain(old)
        if len(chain) == 1:
            self.chains.append(chain)
        chain.append(new)
        return chain[-2]

    def forget(self, memory_ids: Collection[str]) -> None:
        """Drop memories; the rest of their chains stays in order."""
        for one in memory_ids:
            del self.memories[one]
        self.chains = [[one for one in chain if one not in memory_ids] for chain in self.chains]

    def chain(self, memory_id: str) -> list[str]:
        """Return the chain of a memory, oldest first; itself alone where it never met another."""
        return next((chain for chain in self.chains if memory_id in chain), [memory_id])

    def is_current(self, memory: Memory, sources: Callable[[Memory], bool] | None) -> bool:
        """Return whether it is the newest of its chain, of those members whose source is admitted."""
        chain = self.chain(memory.id)
        seen = [one for one in chain if sources is None or sources(self.memories[one])]
        return memory.id == seen[-1] if seen else False

    def texts(self, memory_id: str, sources: Callable[[Memory], bool] | None) -> list[tuple[str, str]]:
        """Return the (id, text) that an evolution chain shows, newest first."""
        chain = self.chain(memory_id)
        line = [self.memories[one] for one in reversed(chain[: chain.index(memory_id) + 1])]
        return [
            (one.id, content)
            for one in line
            if sources is None or sources(one)
            for content in (one.content, *one.earlier)
        ]

    def of(self, user_id: str) -> list[Memory]:
        """Return one user's memories."""
        return [one for one in self.memories.values() if one.user_id == user_id]

    def answer(self, asked: Asked, now: float) -> Expected:
        """Return the hits of a search, by brute force."""
        found: dict[str, float] = {}
        terms = query_term_ids(asked.query) if asked.keywords else np.empty(0, dtype=np.uint32)
        for user_id in set(asked.user_ids):
            mine = self.of(user_id)
            weights = _weights(terms, mine)
            for memory in mine:
                if not self.is_current(memory, asked.sources):
                    continue
                if _is_normal(memory, now) and asked.admits(memory):
                    found[memory.id] = self._score(asked, memory, weights)
        rounded = {one: round(score, 5) for one, score in found.items()}
        kept = [(one, score) for one, score in rounded.items() if score >= asked.min_score]
        kept.sort(key=lambda pair: (-pair[1], pair[0]))
        return Expected(found, tuple(kept), asked.min_score)

    def _score(self, asked: Asked, memory: Memory, weights: Mapping[int, float]) -> float:
        query = POOL[place_of(asked.query)].astype(np.float64)
        similarity = float(query @ memory.vector.astype(np.float64))
        dense = min(self._calibration.score(similarity), 0.99999)  # docs/concepts/ranking.md
        if not weights:
            return dense
        held = dict(zip(memory.terms.ids.tolist(), memory.terms.weights.tolist(), strict=True))
        ceiling = math.fsum(weights.values())
        keyword = min(
            1.0, math.fsum(weight * held.get(one, 0.0) for one, weight in weights.items()) / ceiling
        )
        return float(fuse(np.array([dense]), np.array([keyword]), len(weights))[0])


def check_answer(answer: object, expected: Expected, limit: int) -> None:
    """Assert that the answer of a search is the expected one: ids, order and scores."""
    items = cast("Any", answer)["memories"]["normal"]
    got = [(one["memory_id"], one["score"]) for one in items]
    if not expected.is_doubtful:
        assert got == list(expected.ranked[:limit])
        return
    assert got == sorted(got, key=lambda pair: (-pair[1], pair[0]))
    assert len(dict(got)) == len(got) <= limit
    for one, score in got:
        assert abs(score - expected.scores[one]) <= 1.5 * GRID
    bar = got[-1][1] if got and len(got) == limit else expected.min_score
    left_out = [score for one, score in expected.scores.items() if one not in dict(got)]
    assert limit == 0 or all(score <= bar + 1.5 * GRID for score in left_out)


def _is_normal(memory: Memory, now: float) -> bool:
    expired = memory.expires_at is not None and memory.expires_at <= now
    return expired if memory.layer == "l7_intention" else memory.layer in _NORMAL and not expired


def _weights(terms: np.ndarray[Any, np.dtype[np.uint32]], population: Sequence[Memory]) -> dict[int, float]:
    holders = [set(one.terms.ids.tolist()) for one in population]
    distinct: list[int] = terms.tolist()
    frequencies = [sum(one in holder for holder in holders) for one in distinct]
    return dict(zip(distinct, idf(len(population), frequencies).tolist(), strict=True))


def _is_doubtful(score: float) -> bool:
    steps = score / GRID
    return abs(steps - math.floor(steps) - 0.5) < _DOUBT
