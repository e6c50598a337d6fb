"""A client's parts, put together from its settings and taken apart again: the one composition root."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, cast

from hy_memory.clock import Clock
from hy_memory.code_history import open_history
from hy_memory.conversations.index import Conversations, TurnSource
from hy_memory.deadline import Workers
from hy_memory.errors import ConfigurationError, InvalidArgumentError
from hy_memory.extract.ports import ExtractPorts
from hy_memory.index_checks import CheckedKeywords, CheckedVectors
from hy_memory.learner import Learner
from hy_memory.llm.port import ChatModel
from hy_memory.parts import (
    check_identity,
    open_backend,
    open_embedder,
    open_entities,
    open_index,
    open_ledger,
    open_llm,
    open_reranker,
    projection_name,
)
from hy_memory.plugins import (
    LOCAL_KEYWORDS,
    READERS,
    is_known,
    load,
    load_named,
)
from hy_memory.ports import (
    Backend,
    Closeable,
    Embedder,
    KeywordIndex,
    Ledger,
    PointSource,
    VectorIndex,
)
from hy_memory.projection import Feeder, FreshKeywords, FreshVectors
from hy_memory.ranking.weights import RankingWeights, UseWeights
from hy_memory.reading.as_of import Moments
from hy_memory.reading.request import Asked
from hy_memory.reading.stages.adjust import adjust
from hy_memory.reading.stages.entities import entity_leg
from hy_memory.reading.stages.fold import fold
from hy_memory.reading.stages.neighbours import neighbours
from hy_memory.reading.stages.speakers import speakers
from hy_memory.reading.stages.times import times
from hy_memory.reading.stages.turns import turns
from hy_memory.reading.state import EntityIndex, ReadPorts, Stage
from hy_memory.reading.timed import timed
from hy_memory.record_cache import RecordCache
from hy_memory.settings.root import Settings
from hy_memory.temporal.calendar import zone_of
from hy_memory.use_cache import UseCache
from hy_memory.values.request import SearchRequest
from hy_memory.work.search import ChainPorts
from hy_memory.writing.write import WritePorts

_log = logging.getLogger("hy_memory")


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything a client works with. It owns what it opened; `closing` closes it, in reverse order."""

    settings: Settings
    clock: Clock
    ledger: Ledger
    embedder: Embedder
    backend: Backend
    feeder: Feeder | None
    conversations: Conversations
    reading: ReadPorts
    moments: Moments
    writing: WritePorts
    llm: ChatModel | None
    chain: ChainPorts
    learner: Learner | None
    uses: UseCache | None
    switched_off: frozenset[Stage]
    closing: ExitStack

    def reader(self, name: str) -> Sequence[Stage]:
        """Return the stages of a reader; an unknown name warns and means `legacy`."""
        wanted = name or self.settings.reader
        if not is_known("readers", wanted, READERS):
            _log.warning("unknown reader %r; using 'legacy' (known: %s)", wanted, ", ".join(READERS))
            wanted = "legacy"
        stages = cast("Sequence[Stage]", load_named("readers", wanted, READERS))
        return [stage for stage in stages if stage not in self.switched_off]

    def ports(self, request: SearchRequest) -> ReadPorts:
        """Return what the stages of `request` may reach: the memories of now, or of its moment."""
        if request.as_of is None:
            return self.reading
        return self.moments.ports(self.reading, request.where.user_ids, request.as_of)

    def extracting(self, *, in_any_mode: bool = False) -> ExtractPorts | None:
        """Return what reading exchanges may reach, None in the mode `lite`, which reads none by itself."""
        if self.llm is None or (self.settings.mode == "lite" and not in_any_mode):
            return None
        settings = self.settings
        least_value = settings.llm.experience_min_value
        return ExtractPorts(self.llm, self.reading.vectors, self.writing, settings.timezone, least_value)

    def asked(self) -> Asked:
        """Return what a search that is asked for now takes from this client."""
        recall = self.settings.recall
        return Asked(
            now=self.clock.now(),
            new_id=self.clock.new_id,
            embedder=self.embedder,
            reranks=recall.local_rerank_enabled,
            pool_factor=recall.local_rerank_pool_factor,
            neighbours=self.settings.episodes.neighbours,
        )

    def close(self) -> None:
        """Close what was opened; closing twice is no error."""
        self.closing.close()


def open_runtime(settings: Settings, service: object = None, clock: Clock | None = None) -> Runtime:
    """Return the parts for `settings`; `service` is the caller's own embedder, if any.

    Raises a ConfigurationError that says what to do; whatever was opened until then is closed.
    """
    clock = clock or Clock()
    reranker = open_reranker(settings)  # first: it may fail, and holds nothing that must be closed
    with ExitStack() as opened:
        ledger = open_ledger(settings, clock)
        opened.callback(ledger.close)
        embedder = open_embedder(settings, service, ledger.embedder())
        opened.callback(embedder.close)
        check_identity(embedder, ledger)
        backend = open_backend(settings, embedder.dims, ledger)
        opened.callback(backend.close)
        llm = _llm(settings, opened)
        keywords = _keywords(settings, backend, ledger, opened)
        conversations = _conversations(settings, ledger)
        opened.callback(conversations.close)
        entities = _entities(settings, ledger, opened)
        workers = _workers(settings, opened)
        learner, uses = _learning(settings, ledger, opened)
        closing = opened.pop_all()
    feeder = _feeder(settings, backend, embedder.dims, ledger)
    vectors, keywords = _kept_fresh(backend, keywords, feeder)
    reading = ReadPorts(
        records=RecordCache(ledger),
        embedder=embedder,
        vectors=CheckedVectors(vectors, backend.name),
        keywords=CheckedKeywords(keywords, backend.name) if keywords else None,
        reranker=reranker,
        rerank_blend=settings.recall.blend(),
        second_hop=settings.recall.local_rerank_second_hop,
        conversations=conversations,
        entities=entities,
        weights=_weights(settings),
        folds_near=settings.ranking.fold_near,
        timezone=_timezone(settings),
        uses=uses,
        use_weights=UseWeights(settings.dynamics.salience_weight, settings.dynamics.recency_weight),
    )
    chain = open_history(settings.coding, ledger, workers)
    return Runtime(
        settings=settings,
        clock=clock,
        ledger=ledger,
        embedder=embedder,
        backend=backend,
        feeder=feeder,
        conversations=conversations,
        reading=timed(reading, workers),
        moments=open_moments(settings, ledger, embedder, workers),
        writing=_writing(settings, WritePorts(ledger, embedder, clock, feeder, chain.root)),
        chain=chain,
        learner=learner,
        uses=uses,
        llm=workers.timed(llm) if workers and llm else llm,
        switched_off=_switched_off(settings),
        closing=closing,
    )


def _feeder(settings: Settings, backend: Backend, dims: int, ledger: Ledger) -> Feeder | None:
    return None if backend.fed is None else Feeder(projection_name(settings, dims), backend.fed, ledger)


def _kept_fresh(
    backend: Backend, keywords: KeywordIndex | None, feeder: Feeder | None
) -> tuple[VectorIndex, KeywordIndex | None]:
    """Return the legs, those of a fed backend caught up before each use."""
    if feeder is None:
        return backend.vectors, keywords
    if keywords is not None and keywords is backend.keywords:
        keywords = FreshKeywords(keywords, feeder)
    return FreshVectors(backend.vectors, feeder), keywords


def _llm(settings: Settings, opened: ExitStack) -> ChatModel | None:
    llm = open_llm(settings)
    if llm is not None:
        opened.callback(llm.close)
    return llm


def _workers(settings: Settings, opened: ExitStack) -> Workers | None:
    if settings.recall.timeout is None:
        return None
    workers = Workers(settings.threads)
    opened.callback(workers.close)
    return workers


def open_moments(settings: Settings, ledger: Ledger, embedder: Embedder, workers: Workers | None) -> Moments:
    """Return what searches of earlier moments read, within the deadline of a search."""
    moments = Moments(
        ledger,
        embedder,
        open_index=partial(open_index, settings, embedder.dims),
        open_conversations=partial(_conversations, settings),
        open_entities=partial(open_entities, settings),
    )
    return workers.timed(moments) if workers else moments


def _entities(settings: Settings, ledger: Ledger, opened: ExitStack) -> EntityIndex | None:
    if not settings.ranking.entities:
        return None
    entities = open_entities(settings, ledger)
    opened.callback(entities.close)
    return entities


def _writing(settings: Settings, ports: WritePorts) -> WritePorts:
    """Return what writing may reach, with what it is to do with repeats and long texts."""
    section = settings.dynamics
    return replace(
        ports,
        merges_repeats=section.merge_repeats,
        merges_near=section.merge_near,
        section_above_tokens=section.section_above_tokens,
    )


def _learning(
    settings: Settings, ledger: Ledger, opened: ExitStack
) -> tuple[Learner | None, UseCache | None]:
    """Return what gathers what searches teach, and what they read of it; None where nothing is learned."""
    section = settings.dynamics
    if not section.enabled:
        return None, None
    uses = UseCache(ledger, (settings.vector_store.memory_budget_mb << 20) // 8)
    opened.callback(uses.close)
    learner = Learner(ledger, section.learn_seconds)
    opened.callback(learner.close)
    return learner, uses


def _weights(settings: Settings) -> RankingWeights:
    return RankingWeights(**settings.ranking.model_dump(exclude={"fold_duplicates", "fold_near"}))


def _timezone(settings: Settings) -> str:
    """Return the asker's zone, known to exist."""
    try:
        zone_of(settings.timezone)
    except InvalidArgumentError as error:
        raise ConfigurationError(f"timezone (MEMORY_TIMEZONE): {error}") from error
    return settings.timezone


def _switched_off(settings: Settings) -> frozenset[Stage]:
    """Return the stages that no reader of this client runs: what weighs nothing."""
    ranking = settings.ranking
    weights: dict[Stage, float | bool] = {
        fold: ranking.fold_duplicates or ranking.fold_near,
        neighbours: ranking.neighbours,
        turns: ranking.neighbours + ranking.named_speaker + ranking.own_words + ranking.time,
        speakers: ranking.named_speaker + ranking.own_words,
        times: ranking.time,
        entity_leg: ranking.entities,
        adjust: settings.dynamics.enabled
        and settings.dynamics.salience_weight + settings.dynamics.recency_weight,
    }
    return frozenset(stage for stage, weight in weights.items() if not weight)


def _conversations(settings: Settings, source: TurnSource) -> Conversations:
    # a user's turns take a quarter of what their vectors do: so much more keeps the same users in memory
    budget = (settings.vector_store.memory_budget_mb << 20) // 4
    return Conversations(source, settings.episodes.gap_hours * 3600, budget)


def _keywords(
    settings: Settings, backend: Backend, source: PointSource, opened: ExitStack
) -> KeywordIndex | None:
    if settings.vector_store.keyword_index == "backend":
        return backend.keywords
    local = cast("Callable[[PointSource, int], ClosingIndex]", load(LOCAL_KEYWORDS))
    index = local(source, settings.vector_store.memory_budget_mb << 20)
    opened.callback(index.close)
    return index


class ClosingIndex(KeywordIndex, Closeable, Protocol):
    """A keyword index that holds memory of its own."""
