"""Reembed: make every vector anew with another embedder; ids, times, texts and history stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hy_memory.clock import Clock
from hy_memory.identity import identity_of
from hy_memory.maintenance.reindex import Progress, last_change, stepwise
from hy_memory.parts import open_backend, open_embedder, open_ledger, projection_name
from hy_memory.ports import Embedder, Ledger
from hy_memory.projection import Feeder
from hy_memory.settings.root import Settings
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Layer, indexed_text
from hy_memory.values.write import EmbedderIdentity

_BATCH = 256  # texts between two reports of progress: about a second with an offline model


@dataclass(frozen=True, slots=True)
class Reembedded:
    """Who made the vectors before (None in a new store) and now, and how many there are."""

    before: EmbedderIdentity | None
    after: EmbedderIdentity
    vectors: int


def reembed(
    settings: Settings,
    *,
    embedder: str | None = None,
    embedding_service: object = None,
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> Reembedded:
    """Replace the vectors of a store by those of the configured embedder, the named one, or your own.

    One transaction: until the last vector is there the store is as it was, and an interruption or an
    error changes nothing. Nobody else can write meanwhile. Then the backend's own copy is brought up
    to date. `progress` hears of memories embedded, then of the backend's steps.

    Raises EmbeddingError, LedgerError, or a ConfigurationError where the embedder cannot be opened.
    """
    if embedder is not None:
        section = settings.embedder.model_copy(update={"provider": embedder})
        settings = settings.model_copy(update={"embedder": section})
    ledger = open_ledger(settings, clock or Clock())
    try:
        before = ledger.embedder()
        # None: `auto` shall mean the best that is installed, not whoever made the old vectors
        model = open_embedder(settings, embedding_service, None)
        after = identity_of(model)
        # opened first: a backend that cannot hold the new vectors must say so before they are made
        backend = open_backend(settings, model.dims, ledger)
        try:
            vectors = ledger.reembed(after, _vectors(ledger, model, progress))
            if backend.fed is not None:
                feeder = Feeder(projection_name(settings, model.dims), backend.fed, ledger)
                feeder.catch_up(stepwise(progress, last_change(ledger)))
        finally:
            backend.close()
        return Reembedded(before, after, vectors)
    finally:
        ledger.close()


def _vectors(
    ledger: Ledger, model: Embedder, progress: Progress | None
) -> Iterator[tuple[Sequence[str], FloatArray]]:
    """Yield batches of ids and their new vectors (n, dims), a user at a time."""
    users = ledger.users()
    counts = [ledger.counts(user_id) for user_id in users]
    total = sum(n for one in counts for layer, n in one.items() if layer != Layer.L1_RAW)
    done = 0
    for user_id in users:
        ids = [point.id for point in ledger.points(user_id).upserted]
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            records = ledger.records(batch)
            yield batch, model.embed_documents([indexed_text(records[one]) for one in batch])
            done += len(batch)
            if progress is not None:
                progress(done, max(done, total))
