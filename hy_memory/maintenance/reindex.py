"""Reindex: fill a backend's own copy anew from the ledger, also that of a backend not yet in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hy_memory.clock import Clock
from hy_memory.parts import open_backend, open_ledger, projection_name
from hy_memory.ports import Ledger
from hy_memory.projection import Feeder
from hy_memory.settings.root import Settings

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


@runtime_checkable
class SupportsCompact(Protocol):
    """A fed index that can put itself in order after a large change."""

    def compact(self) -> None:
        """Reclaim room and build what makes large scopes fast."""
        ...


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What was done. `rebuilt` is False for a backend that reads the ledger and keeps no copy.

    `points` is how many memories the copy holds; `missing` and `stray` are those that it lacks or
    should not have, both 0 unless something is wrong.
    """

    backend: str
    rebuilt: bool
    points: int = 0
    missing: int = 0
    stray: int = 0

    @property
    def sound(self) -> bool:
        """Whether the copy and the ledger agree."""
        return not self.missing and not self.stray


def reindex(
    settings: Settings,
    *,
    vectors: str | None = None,
    url: str | None = None,
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> Reindexed:
    """Rebuild the projection of the configured backend, or of the backend `vectors` (at `url`).

    Another backend is filled where it will look for its data once `MEMORY_VECTOR_STORE` (and
    `MEMORY_VECTOR_STORE_URL`) name it, so that the switch is safe and immediate. The vectors come
    from the ledger: no embedder is opened. Raises a ConfigurationError where the backend cannot be
    opened; a rebuild that is interrupted is completed by the next search or by the next reindex.
    """
    settings = towards(settings, vectors, url)
    backend_name = settings.vector_store.provider
    ledger = open_ledger(settings, clock or Clock())
    try:
        made_by = ledger.embedder()
        if made_by is None:  # nothing was ever stored: there is no size to open a backend with
            return Reindexed(backend_name, rebuilt=False)
        backend = open_backend(settings, made_by.dims, ledger)
        try:
            if backend.fed is None:
                return Reindexed(backend_name, rebuilt=False)
            feeder = Feeder(projection_name(settings, made_by.dims), backend.fed, ledger)
            feeder.rebuild(stepwise(progress, last_change(ledger)))
            if isinstance(backend.fed, SupportsCompact):
                backend.fed.compact()
            missing, stray = feeder.differences()
            points = sum(1 for _ in backend.fed.ids())
            return Reindexed(backend_name, True, points, len(missing), len(stray))
        finally:
            backend.close()
    finally:
        ledger.close()


def stepwise(progress: Progress | None, total: int) -> Callable[[int], None] | None:
    """Return what a feeder is given so that `progress` hears of its steps and of `total`."""
    return None if progress is None else lambda done: progress(min(done, total), total)


def last_change(ledger: Ledger) -> int:
    """Return the newest sequence number of any user's change, 0 where there is none."""
    newest = (ledger.history(user_id=user_id, limit=1) for user_id in ledger.users())
    return max((changes[0].seq for changes in newest if changes), default=0)


def towards(settings: Settings, vectors: str | None, url: str | None) -> Settings:
    """Return the settings of the backend to fill: another one does not live at this one's place."""
    store = settings.vector_store
    if vectors is not None and vectors != store.provider:
        store = store.model_copy(update={"provider": vectors, "url": None, "persist_directory": None})
    if url is not None:
        store = store.model_copy(update={"url": url})
    return settings.model_copy(update={"vector_store": store})
