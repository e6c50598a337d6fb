"""Recently read records, kept as long as nothing at all was written.

Most searches of a conversation return records that the search before returned. The cache is valid
for one `freshness` of the ledger: any commit, by any process, empties it, so that it can never show
what is no longer so.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hy_memory.ports import Ledger
from hy_memory.values.record import MemoryRecord

_CAPACITY = 8192  # records, about a kilobyte each; a full cache starts anew


class RecordCache:
    """Reads records through to the ledger; thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._freshness = -1
        self._known: dict[str, MemoryRecord] = {}

    def records(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return the records that exist, by id, as `Ledger.records` does."""
        freshness = self._ledger.freshness()
        with self._lock:
            if freshness != self._freshness:
                self._known, self._freshness = {}, freshness
            known = self._known
        found = {one: known[one] for one in ids if one in known}
        missing = [one for one in ids if one not in found]
        if missing:
            loaded = self._ledger.records(missing)
            found.update(loaded)
            with self._lock:
                # what was loaded may be older than a commit that another thread has already seen
                if self._known is known:
                    if len(known) > _CAPACITY:
                        self._known = known = {}
                    known.update(loaded)
        return found
