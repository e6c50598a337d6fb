"""Chains among records on their way to another user: complete in each transaction, and linked both ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hy_memory.values.record import MemoryRecord, Status


def relinked(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Return `records` with those links alone that both ends agree on.

    They were read a page at a time, while others may have written: one end of a link may be missing.
    """
    by_id = {one.id: one for one in records}
    older: dict[str, str] = {}
    newer: dict[str, str] = {}
    for one in records:
        before = by_id.get(one.supersedes or "")
        if before is not None and before.superseded_by in (None, one.id) and before.id not in newer:
            older[one.id], newer[before.id] = before.id, one.id
    return [
        replace(
            one,
            supersedes=older.get(one.id),
            superseded_by=newer.get(one.id),
            status=Status.SUPERSEDED if one.id in newer else Status.ACTIVE,
        )
        for one in records
    ]


def whole_chains(records: Sequence[MemoryRecord], size: int) -> Iterator[list[MemoryRecord]]:
    """Yield `records` in batches of at least `size`, but for the last; no batch ends within a chain."""
    by_id = {one.id: one for one in records}
    batch: list[MemoryRecord] = []
    for one in records:
        if one.supersedes is not None:
            continue  # it comes with the oldest of its chain
        member: MemoryRecord | None = one
        while member is not None:
            batch.append(member)
            member = by_id.get(member.superseded_by or "")
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
