"""Searching a lane: the facts that answer, and the experiences that fit or that those facts gave rise to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hy_memory.edit_source import Commits, EditSource
from hy_memory.filters.tree import And, Compare, Filter, Not, Op
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.read import read
from hy_memory.reading.request import within
from hy_memory.reading.state import ReadPorts, Stage
from hy_memory.reading.wall import Wall
from hy_memory.text.tokenize import query_tokens, tokenize
from hy_memory.values.lane import FACT
from hy_memory.values.record import Layer
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Degradation, Hit, StageTrace
from hy_memory.work.experience import experience_of
from hy_memory.work.fact import SessionFact, from_json

FACTS = Layer.L2_FACT
EXPERIENCES = Layer.L6_SCHEMA


@dataclass(frozen=True, slots=True)
class FoundExperience:
    """An experience and how it was found: by its own words, or `via` a fact; and which key was asked for."""

    hit: Hit
    via: str
    matched_key: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The history of code beside facts: the block, and the places of the facts that it shows already."""

    text: str = ""
    used: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainPorts:
    """What the history is read from. `commits` is None where no repository is set, `root` is "" then."""

    source: EditSource
    max_tokens: int
    commits: Commits | None = None
    root: str = ""


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What a lane answers; `experience_ids` are those that there are of each fact, by fact id."""

    facts: tuple[Hit, ...] = ()
    experiences: tuple[FoundExperience, ...] = ()
    experience_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    degraded: tuple[Degradation, ...] = ()
    errors: tuple[Exception, ...] = ()
    trace: tuple[StageTrace, ...] = ()
    chain: Chain = Chain()

    def degraded_by(self, *failures: Guarded) -> WorkResult:
        """Return the same with a note on each part that failed besides."""
        return replace(
            self,
            degraded=(*self.degraded, *(one.degradation for one in failures)),
            errors=(*self.errors, *(one.error for one in failures)),
        )


def search_lane(
    stages: Sequence[Stage], request: SearchRequest, experience_min_score: float, ports: ReadPorts
) -> WorkResult:
    """Return what a lane holds on the question; `request` is what its facts are asked, with their threshold.

    Raises what a reader raises; the experiences are an optional part, which only degrades.
    """
    found = read(
        stages, replace(request, where=within(request.where, layered(FACTS, request.asked_at))), ports
    )
    result = WorkResult(found.hits, (), {}, found.degraded, found.errors, found.trace)
    if not ports.records.has_layer(request.where.user_ids, EXPERIENCES):
        return result
    wanted = replace(
        request,
        where=within(request.where, layered(EXPERIENCES, request.asked_at)),
        min_score=experience_min_score,
    )
    learned = guard("experience", lambda: _experiences(stages, wanted, found.hits, ports))
    if isinstance(learned, Guarded):
        return result.degraded_by(learned)
    experiences, by_fact, degraded, errors = learned
    return replace(
        result,
        experiences=experiences,
        experience_ids=by_fact,
        degraded=(*result.degraded, *degraded),
        errors=(*result.errors, *errors),
    )


def layered(layer: Layer, now: float) -> Filter:
    """Return the filter of one of a lane's two kinds at `now`: nothing expired."""
    return And((Compare("layer", Op.EQ, layer.value), Not(Compare("expires_at", Op.LTE, now))))


def fact_of_hit(hit: Hit) -> SessionFact:
    """Return what a fact's record keeps beside its statement; an empty one where somebody else wrote it."""
    kept = hit.record.attributes.get(FACT)
    return from_json(kept) if isinstance(kept, dict) else SessionFact()


def _experiences(
    stages: Sequence[Stage], request: SearchRequest, facts: Sequence[Hit], ports: ReadPorts
) -> tuple[
    tuple[FoundExperience, ...],
    dict[str, tuple[str, ...]],
    tuple[Degradation, ...],
    tuple[Exception, ...],
]:
    """Return the experiences found, best first, those of each fact, and what failed on the way."""
    own = read(stages, request, ports)
    cited = {hit.record.id: fact_of_hit(hit).experience_ids for hit in facts}
    records = ports.records.records(sorted({one for ids in cited.values() for one in ids}))
    confirmed = Wall.of(request.where, request.sources, ports.records).confirmed(records)
    by_fact = {fact_id: tuple(one for one in ids if one in confirmed) for fact_id, ids in cited.items()}
    best: dict[str, FoundExperience] = {
        hit.record.id: FoundExperience(hit, "query", _matched_key(hit, request.query)) for hit in own.hits
    }
    for fact in facts:  # best first: what several facts gave rise to has the score of the best of them
        for one in by_fact[fact.record.id]:
            if one not in best:
                hit = Hit(records[one], fact.score, fact.retrieval_source)
                best[one] = FoundExperience(hit, "fact", _matched_key(hit, request.query))
    ordered = sorted(best.values(), key=_order)
    return tuple(ordered[: request.top_k]), by_fact, own.degraded, own.errors


def _order(found: FoundExperience) -> tuple[float, str]:
    hit = found.hit
    return (-(hit.score if hit.rerank_score is None else hit.rerank_score), hit.record.id)


def _matched_key(hit: Hit, query: str) -> str:
    """Return the search key that shares most words with the question, "" where none shares any."""
    asked = set(query_tokens(query))
    keys = experience_of(hit.record).search_keys
    shared = [(len(asked & set(tokenize(key))), -at) for at, key in enumerate(keys)]
    most, place = max(shared, default=(0, 0))
    return keys[-place] if most else ""
