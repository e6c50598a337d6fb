"""A client's parts, put together from its settings and taken apart again: the one composition root."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from hy_memory.clock import Clock
from hy_memory.code_history import open_history
from hy_memory.conversations.index import Conversations, TurnSource
from hy_memory.deadline import Workers
from hy_memory.embedding.cached import CachedEmbedder
from hy_memory.embedding.checked import CheckedEmbedder, checked
from hy_memory.embedding.choose import AUTO, choose
from hy_memory.embedding.options import EmbedderFactory, EmbedderOptions
from hy_memory.embedding.service import adapt_service
from hy_memory.errors import ConfigurationError, InvalidArgumentError, MissingExtraError, RerankerLoadError
from hy_memory.extract.ports import ExtractPorts
from hy_memory.identity import check_same, identity_of
from hy_memory.index_checks import CheckedKeywords, CheckedVectors
from hy_memory.llm.options import LLMFactory, LLMOptions
from hy_memory.llm.port import ChatModel
from hy_memory.plugins import (
    BACKENDS,
    EMBEDDERS,
    LATE_INTERACTION,
    LEDGER,
    LLM,
    LOCAL_ENTITIES,
    LOCAL_KEYWORDS,
    LOCAL_RERANKER,
    READERS,
    is_known,
    load,
    load_named,
)
from hy_memory.ports import (
    Backend,
    BackendFactory,
    BackendOptions,
    Closeable,
    Embedder,
    KeywordIndex,
    Ledger,
    MentionSource,
    PointSource,
    Reranker,
)
from hy_memory.projection import Feeder, FreshKeywords, FreshVectors
from hy_memory.ranking.weights import RankingWeights
from hy_memory.reading.as_of import Moments
from hy_memory.reading.request import Asked
from hy_memory.reading.stages.entities import entity_leg
from hy_memory.reading.stages.fold import fold
from hy_memory.reading.stages.neighbours import neighbours
from hy_memory.reading.stages.speakers import speakers
from hy_memory.reading.stages.times import times
from hy_memory.reading.stages.turns import turns
from hy_memory.reading.state import EntityIndex, ReadPorts, Stage
from hy_memory.reading.timed import timed
from hy_memory.record_cache import RecordCache
from hy_memory.reranking.options import RerankerFactory, RerankerOptions
from hy_memory.settings.root import Settings
from hy_memory.temporal.calendar import zone_of
from hy_memory.values.request import SearchRequest
from hy_memory.values.write import EmbedderIdentity
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
        llm = open_llm(settings)
        if llm is not None:
            opened.callback(llm.close)
        keywords = _keywords(settings, backend, ledger, opened)
        conversations = _conversations(settings, ledger)
        opened.callback(conversations.close)
        entities = _entities(settings, ledger, opened)
        workers = _workers(settings, opened)
        closing = opened.pop_all()
    vectors, feeder = backend.vectors, None
    if backend.fed is not None:
        feeder = Feeder(projection_name(settings, embedder.dims), backend.fed, ledger)
        vectors = FreshVectors(vectors, feeder)
        keywords = FreshKeywords(keywords, feeder) if keywords is backend.keywords and keywords else keywords
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
        timezone=_timezone(settings),
    )
    moments = open_moments(settings, ledger, embedder)
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
        moments=workers.timed(moments) if workers else moments,
        writing=WritePorts(ledger, embedder, clock, feeder, chain.root),
        chain=chain,
        llm=workers.timed(llm) if workers and llm else llm,
        switched_off=_switched_off(settings),
        closing=closing,
    )


def _workers(settings: Settings, opened: ExitStack) -> Workers | None:
    if settings.recall.timeout is None:
        return None
    workers = Workers(settings.threads)
    opened.callback(workers.close)
    return workers


def open_moments(settings: Settings, ledger: Ledger, embedder: Embedder) -> Moments:
    """Return what searches of earlier moments read."""
    return Moments(
        ledger,
        embedder,
        open_index=partial(open_index, settings, embedder.dims),
        open_conversations=partial(_conversations, settings),
        open_entities=partial(open_entities, settings),
    )


def open_ledger(settings: Settings, clock: Clock) -> Ledger:
    """Return the ledger at its URL, or the SQLite file in the data folder."""
    opener = cast("Callable[..., Ledger]", load(LEDGER))
    url = settings.ledger.url.get_secret_value() if settings.ledger.url else None
    return opener(url, path=settings.folder(), synchronous=settings.ledger.synchronous, clock=clock)


def open_embedder(
    settings: Settings, service: object, remembered: EmbedderIdentity | None
) -> CachedEmbedder | CheckedEmbedder:
    """Return the embedder: the caller's, else the configured one, checked and cached."""
    section = settings.embedder
    if service is not None:
        embedder = adapt_service(service)
    else:
        choice = choose(section.provider, remembered)
        if section.provider == AUTO:
            _log.info("embedder: %s. %s", choice.provider, choice.advice)
        factory = cast("EmbedderFactory", load_named("embedders", choice.provider, EMBEDDERS))
        options = EmbedderOptions(
            model=section.model,
            base_url=section.base_url,
            api_key=section.api_key.get_secret_value() if section.api_key else None,
            dims=section.embedding_dims,
            timeout=section.timeout,
            batch_size=section.batch_size,
            device=section.device,
        )
        embedder = checked(factory(options))
    return (
        CachedEmbedder(embedder, section.cache_size, section.batch_size) if section.cache_size else embedder
    )


def open_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker of the chosen kind, loaded, or None where local rerank is off or needs none.

    Raises RerankerLoadError, also where its extra is missing.
    """
    section = settings.recall
    if not section.local_rerank_enabled or section.local_rerank_kind == "second_hop":
        return None
    options = RerankerOptions(
        model=section.local_rerank_model,
        device=section.local_rerank_device,
        batch_size=section.local_rerank_batch_size,
        max_length=section.max_length(),
        int8=section.local_rerank_int8,
        timeout=section.local_rerank_timeout,
        cache_mb=section.local_rerank_cache_mb,
    )
    kind = LOCAL_RERANKER if section.local_rerank_kind == "cross_encoder" else LATE_INTERACTION
    try:
        factory = cast("RerankerFactory", load(kind))
    except MissingExtraError as error:
        raise RerankerLoadError(options.model, str(error)) from error
    return factory(options)


def open_llm(settings: Settings) -> ChatModel | None:
    """Return the language model, None where none is configured."""
    section = settings.llm
    if not section.is_configured:
        return None
    factory = cast("LLMFactory", load(LLM))
    key = section.api_key.get_secret_value() if section.api_key else None
    return factory(LLMOptions(section.model, section.base_url, key, section.timeout))


def check_identity(embedder: Embedder, ledger: Ledger) -> None:
    """Raise EmbedderMismatchError where the ledger holds another embedder's vectors."""
    theirs, ours = ledger.embedder(), identity_of(embedder)
    if ledger.users():
        check_same(theirs, ours)
    elif theirs not in (None, ours):
        ledger.reembed(ours, ())  # an empty store keeps no old dimension


def open_backend(settings: Settings, dims: int, source: PointSource) -> Backend:
    """Return the configured backend, opened."""
    store = settings.vector_store
    factory = cast("BackendFactory", load_named("backends", store.provider, BACKENDS))
    options = BackendOptions(
        dims=dims,
        path=None if store.url else str(_folder(settings, dims)),
        url=store.url,
        api_key=store.api_key.get_secret_value() if store.api_key else None,
        collection=store.collection_name,
        timeout=store.timeout,
        memory_budget=store.memory_budget_mb << 20,
    )
    return factory(options, source)


def open_index(settings: Settings, dims: int, source: PointSource) -> Backend:
    """Return an exact index in memory over `source`, whatever the configured backend is."""
    factory = cast("BackendFactory", load(BACKENDS["faiss"]))
    return factory(BackendOptions(dims, memory_budget=settings.vector_store.memory_budget_mb << 20), source)


def projection_name(settings: Settings, dims: int) -> str:
    """Return what the ledger calls a fed projection: another place, or other vectors, are fed anew."""
    store = settings.vector_store
    return f"{store.provider}:{store.url or _folder(settings, dims)}:{store.collection_name}:{dims}"


def open_entities(settings: Settings, source: MentionSource) -> ClosingEntities:
    """Return the entity index over `source`."""
    local = cast("Callable[[MentionSource, int], ClosingEntities]", load(LOCAL_ENTITIES))
    return local(source, settings.vector_store.memory_budget_mb << 20)


def _entities(settings: Settings, ledger: Ledger, opened: ExitStack) -> EntityIndex | None:
    if not settings.ranking.entities:
        return None
    entities = open_entities(settings, ledger)
    opened.callback(entities.close)
    return entities


def _weights(settings: Settings) -> RankingWeights:
    return RankingWeights(**settings.ranking.model_dump(exclude={"fold_duplicates"}))


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
        fold: ranking.fold_duplicates,
        neighbours: ranking.neighbours,
        turns: ranking.neighbours + ranking.named_speaker + ranking.own_words + ranking.time,
        speakers: ranking.named_speaker + ranking.own_words,
        times: ranking.time,
        entity_leg: ranking.entities,
    }
    return frozenset(stage for stage, weight in weights.items() if not weight)


def _conversations(settings: Settings, source: TurnSource) -> Conversations:
    # a user's turns take a quarter of what their vectors do: so much more keeps the same users in memory
    budget = (settings.vector_store.memory_budget_mb << 20) // 4
    return Conversations(source, settings.episodes.gap_hours * 3600, budget)


def _folder(settings: Settings, dims: int) -> Path:
    store = settings.vector_store
    parent = store.persist_directory or settings.folder() / store.provider
    return parent.expanduser() / f"{store.collection_name}-{dims}"


def _keywords(
    settings: Settings, backend: Backend, source: PointSource, opened: ExitStack
) -> KeywordIndex | None:
    if settings.vector_store.keyword_index == "backend":
        return backend.keywords
    local = cast("Callable[[PointSource, int], ClosingIndex]", load(LOCAL_KEYWORDS))
    index = local(source, settings.vector_store.memory_budget_mb << 20)
    opened.callback(index.close)
    return index


class ClosingEntities(EntityIndex, Closeable, Protocol):
    """An entity index that holds memory of its own."""


class ClosingIndex(KeywordIndex, Closeable, Protocol):
    """A keyword index that holds memory of its own."""
