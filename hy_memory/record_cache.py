"""What was lately read of the ledger, kept as long as nothing at all was written.

Most searches of a conversation return records that the search before returned. The cache is valid
for one `freshness` of the ledger: any commit, by any process, empties it, so that it can never show
what is no longer so.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from hy_memory.ports import Ledger
from hy_memory.values.record import Layer, MemoryRecord, RecordVersion
from hy_memory.values.write import EmbedderIdentity

_CAPACITY = 8192  # records, about a kilobyte each; a full cache starts anew


@dataclass(slots=True)
class _Kept:
    """What is known at one freshness. Filled by many threads, which at worst read the same twice."""

    freshness: int
    records: dict[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    versions: dict[str, tuple[RecordVersion, ...]] = field(
        default_factory=dict[str, tuple[RecordVersion, ...]]
    )
    layers: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    embedder: tuple[EmbedderIdentity | None] | None = None

    @property
    def size(self) -> int:
        """How many things are known."""
        return len(self.records) + len(self.versions) + len(self.layers)


class RecordCache:
    """Reads through to the ledger; thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._kept = _Kept(-1)

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist, by id, as `Ledger.records` does."""
        kept = self._fresh()
        found = {one: kept.records[one] for one in ids if one in kept.records}
        missing = [one for one in ids if one not in found]
        if missing:
            loaded = self._ledger.records(missing)
            found.update(loaded)
            # into the generation it was asked for: a newer one is never given what may be older
            kept.records.update(loaded)
        return found

    def versions(self, memory_id: str) -> tuple[RecordVersion, ...]:
        """Return the texts a record used to have, newest first."""
        kept = self._fresh()
        if memory_id not in kept.versions:
            kept.versions[memory_id] = self._ledger.versions(memory_id)
        return kept.versions[memory_id]

    def embedder(self) -> EmbedderIdentity | None:
        """Return who made the stored vectors: another process may have made them anew."""
        kept = self._fresh()
        if kept.embedder is None:
            kept.embedder = (self._ledger.embedder(),)
        return kept.embedder[0]

    def has_layer(self, user_ids: Sequence[str], layer: Layer) -> bool:
        """Return whether any of the users has a record of `layer`: what most have not is not searched for."""
        kept = self._fresh()
        for user_id in user_ids:
            if user_id not in kept.layers:
                kept.layers[user_id] = frozenset(self._ledger.counts(user_id))
            if layer.value in kept.layers[user_id]:
                return True
        return False

    def _fresh(self) -> _Kept:
        freshness = self._ledger.freshness()
        with self._lock:
            kept = self._kept
            if freshness != kept.freshness or kept.size > _CAPACITY:
                kept = self._kept = _Kept(freshness)
            return kept
