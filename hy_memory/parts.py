"""The parts of a client, each opened from its settings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from hy_memory.clock import Clock
from hy_memory.embedding.cached import CachedEmbedder
from hy_memory.embedding.checked import CheckedEmbedder, checked
from hy_memory.embedding.choose import AUTO, choose
from hy_memory.embedding.options import EmbedderFactory, EmbedderOptions
from hy_memory.embedding.service import adapt_service
from hy_memory.errors import MissingExtraError, RerankerLoadError
from hy_memory.identity import check_same, identity_of
from hy_memory.llm.options import LLMFactory, LLMOptions
from hy_memory.llm.port import ChatModel
from hy_memory.plugins import (
    BACKENDS,
    EMBEDDERS,
    LATE_INTERACTION,
    LEDGER,
    LLM,
    LOCAL_ENTITIES,
    LOCAL_RERANKER,
    load,
    load_named,
)
from hy_memory.ports import (
    Backend,
    BackendFactory,
    BackendOptions,
    Closeable,
    Embedder,
    Ledger,
    MentionSource,
    PointSource,
    Reranker,
)
from hy_memory.reading.state import EntityIndex
from hy_memory.reranking.options import RerankerFactory, RerankerOptions
from hy_memory.settings.root import Settings
from hy_memory.values.write import EmbedderIdentity

_log = logging.getLogger("hy_memory")


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


class ClosingEntities(EntityIndex, Closeable, Protocol):
    """An entity index that holds memory of its own."""


def _folder(settings: Settings, dims: int) -> Path:
    store = settings.vector_store
    parent = store.persist_directory or settings.folder() / store.provider
    return parent.expanduser() / f"{store.collection_name}-{dims}"
