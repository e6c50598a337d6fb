"""Evolve: what keeps coming back in a user's memories becomes a schema that rests on them.

Without a language model a schema is found by clustering and stated by quoting: the memory at the
centre of the group speaks for it. The same memories lead to the same schemas, so that running it
again changes nothing; new memories extend the schema they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from hy_memory.errors import ConflictError
from hy_memory.identity import identity_of
from hy_memory.ports import Embedder, Ledger
from hy_memory.ranking.bm25 import document_terms
from hy_memory.ranking.clusters import clusters
from hy_memory.reading.request import MIXED
from hy_memory.values.point import Point
from hy_memory.values.record import NORMAL_LAYERS, Layer, MemoryRecord, Status
from hy_memory.values.write import Entry
from hy_memory.writing.quotes import INDUCED, induced_schemas
from hy_memory.writing.write import WritePorts, project

_RELATED = 0.6  # calibrated score of two memories on one subject: well above "may be related" (0.4)
_ATTEMPTS = 20  # runs that other writers may overtake before it gives up
_SMALLEST = 3  # memories: twice may be chance, three times is a habit
_SAME = 0.5  # share of members (Jaccard) from which a group is the grown form of an earlier schema
_NEWEST = 5000  # memories clustered at once: 25 million comparisons, about a second


class Evolution(TypedDict):
    """What became of a user's schemas; ids of those made, changed, left as they were, and gone."""

    success: bool
    created: list[str]
    updated: list[str]
    unchanged: list[str]
    removed: list[str]


@dataclass(frozen=True, slots=True)
class _Group:
    """Members of a pattern: the one that speaks for it, and all ids."""

    centre: MemoryRecord
    ids: frozenset[str]
    source: str


def evolve(user_id: str, ports: WritePorts) -> Evolution:
    """Bring the schemas of `user_id` up to date with their memories; what no memories carry any more goes.

    Where another writer comes in between it looks again; raises ConflictError where that never ends.
    """
    created: list[str] = []
    for _ in range(_ATTEMPTS):
        answer: Evolution = {"success": True, "created": [], "updated": [], "unchanged": [], "removed": []}
        try:
            _evolve(user_id, ports, answer)
        except ConflictError:
            created += answer["created"]
            continue
        here = set(created) - set(answer["removed"])
        answer["created"] = [*(one for one in created if one in here), *answer["created"]]
        for kind in ("updated", "unchanged"):
            answer[kind] = [one for one in answer[kind] if one not in here]
        return answer
    raise ConflictError(f"the schemas of {user_id!r} are being changed too often at once; try again")


def _evolve(user_id: str, ports: WritePorts, answer: Evolution) -> None:
    """Do it once, and fill `answer` as far as it comes."""
    groups = _groups(user_id, ports.ledger, ports.embedder)
    held = induced_schemas(user_id, ports.ledger)
    for group in groups:
        earlier = _closest(group, held)
        if earlier is None:
            answer["created"].append(_create(group, user_id, ports))
            continue
        held.remove(earlier)
        if frozenset(earlier.evidence_ids) == group.ids and earlier.content == group.centre.content:
            answer["unchanged"].append(earlier.id)
        else:
            _extend(earlier, group, ports)
            answer["updated"].append(earlier.id)
    if held:
        answer["removed"] = [one.id for one in held]
        ports.ledger.delete(answer["removed"])
    if answer["created"] or answer["updated"] or answer["removed"]:
        project(ports)


def _groups(user_id: str, ledger: Ledger, embedder: Embedder) -> list[_Group]:
    """Return the groups among the user's newest memories, the same for the same memories."""
    normal = frozenset(NORMAL_LAYERS)
    points = [
        one
        for one in ledger.points(user_id).upserted
        if one.payload.layer in normal and one.payload.status is Status.ACTIVE
    ]
    points = sorted(points, key=lambda one: (one.payload.event_at, one.id))[-_NEWEST:]
    if len(points) < _SMALLEST:
        return []
    found = clusters(
        np.stack([one.vector for one in points]),
        [one.id for one in points],
        least=_cosine_of(_RELATED, embedder),
        smallest=_SMALLEST,
    )
    return [_group([points[row] for row in rows], ledger) for rows in found]


def _cosine_of(score: float, embedder: Embedder) -> float:
    """Return the smallest cosine, on a grid of 0.001, that the embedder's calibration gives `score`."""
    cosines = np.linspace(-1.0, 1.0, 2001)
    return float(cosines[np.argmax(embedder.calibration(cosines) >= score)])


def _group(members: Sequence[Point], ledger: Ledger) -> _Group:
    centre = ledger.records([members[0].id])[members[0].id]
    sources = {one.payload.source for one in members}
    return _Group(centre, frozenset(one.id for one in members), sources.pop() if len(sources) == 1 else MIXED)


def _closest(group: _Group, held: Sequence[MemoryRecord]) -> MemoryRecord | None:
    """Return the schema whose members are most like the group's, if they are enough alike."""
    if not held:
        return None
    shares = [(_share(group.ids, frozenset(one.evidence_ids)), one.id) for one in held]
    best = max(range(len(held)), key=lambda at: (shares[at][0], shares[at][1]))
    return held[best] if shares[best][0] >= _SAME else None


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right)


def _create(group: _Group, user_id: str, ports: WritePorts) -> str:
    now = ports.clock.now()
    record = MemoryRecord(
        id=ports.clock.new_id(),
        user_id=user_id,
        content=group.centre.content,
        agent_id=group.centre.agent_id,
        session_id=group.centre.session_id,
        source=group.source,
        layer=Layer.L6_SCHEMA,
        owner=group.centre.owner,
        attributes={INDUCED: True},
        created_at=now,
        updated_at=now,
        evidence_ids=tuple(sorted(group.ids)),
    )
    ports.ledger.bind_embedder(identity_of(ports.embedder))
    ports.ledger.insert([_entry(record, ports)])
    return record.id


def _extend(earlier: MemoryRecord, group: _Group, ports: WritePorts) -> None:
    fresh = replace(
        earlier,
        content=group.centre.content,
        owner=group.centre.owner,
        source=group.source,
        evidence_ids=tuple(sorted(group.ids)),
        updated_at=ports.clock.now(),
    )
    # rewritten, not replaced: no version may keep the words of a memory that was deleted since
    ports.ledger.delete([], [_entry(fresh, ports)])


def _entry(record: MemoryRecord, ports: WritePorts) -> Entry:
    vector = ports.embedder.embed_documents([record.content])[0]
    return Entry(record, vector, document_terms(record.content))
