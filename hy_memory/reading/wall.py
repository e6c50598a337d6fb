"""The second wall behind the backend's filter: which of the recalled records the ledger confirms as hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hy_memory.filters.evaluate import Predicate, predicate
from hy_memory.filters.scope import ScopedFilter
from hy_memory.filters.tree import Filter
from hy_memory.reading.state import Records
from hy_memory.values.record import MemoryRecord, Status


@dataclass(frozen=True, slots=True)
class Wall:
    """Built once for a search. `is_allowed` is its source filter, None where it has none."""

    is_admitted: Predicate
    is_allowed: Predicate | None
    records: Records

    @classmethod
    def of(cls, where: ScopedFilter, sources: Filter | None, records: Records) -> Wall:
        """Return the wall of what `where` admits under the source filter `sources`."""
        return cls(where.predicate(), None if sources is None else predicate(sources), records)

    def confirmed(self, records: Mapping[str, MemoryRecord]) -> frozenset[str]:
        """Return the ids of those that may be hits: admitted, and the newest of their chain.

        Under a source filter, the newest of those members of the chain whose source is admitted. The
        rest of the filter has no part in that: what a session, a layer or a date leaves out is no less
        the current text, and the old one is not passed off as it.
        """
        is_admitted, active = self.is_admitted, Status.ACTIVE
        if self.is_allowed is None:
            return frozenset(
                [one.id for one in records.values() if one.status is active and is_admitted(one)]
            )
        admitted = [one for one in records.values() if is_admitted(one)]
        old = [one for one in admitted if one.status is not active]
        overtaken = self._overtaken(old, self.is_allowed)
        return frozenset([one.id for one in admitted if one.id not in overtaken])

    def _overtaken(self, old: Sequence[MemoryRecord], is_allowed: Predicate) -> frozenset[str]:
        """Return the ids of those of whose chain a newer member is allowed; all chains a link at a time."""
        overtaken: set[str] = set()
        above = {one.id: one.superseded_by for one in old if one.superseded_by is not None}
        seen = set(above.items())
        while above:
            loaded = self.records.records(list(dict.fromkeys(above.values())))
            following: dict[str, str] = {}
            for start, one in above.items():
                newer = loaded.get(one)
                if newer is None:
                    continue
                if is_allowed(newer):
                    overtaken.add(start)
                elif newer.superseded_by is not None and (start, newer.superseded_by) not in seen:
                    following[start] = newer.superseded_by
            seen.update(following.items())
            above = following
        return frozenset(overtaken)
