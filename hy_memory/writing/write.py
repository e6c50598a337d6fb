"""The writing verbs: embed, then one transaction of the ledger, then the projections.

Nothing is stored before everything that can fail without the ledger has succeeded; once the ledger
has it, it is safe, and a projection that is down catches up later.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hy_memory.errors import ConflictError, InvalidArgumentError, MemoryNotFoundError, RepeatedError
from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import EVERYTHING, Compare, Op, all_of
from hy_memory.identity import check_same, identity_of
from hy_memory.pipeline import Guarded, guard
from hy_memory.ports import Ledger
from hy_memory.ranking.bm25 import document_terms
from hy_memory.values.lane import partitions, user_of
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Json, Layer, MemoryRecord, indexed_text, is_reserved, speaker_of
from hy_memory.values.use import Lesson, LessonKind
from hy_memory.values.write import Entry, ListQuery, Outcome, Written
from hy_memory.writing.compose import (
    claims_of,
    keyword_context,
    with_renamed,
    without_memory,
)
from hy_memory.writing.entries import WritePorts, entries_of
from hy_memory.writing.evidence import is_lone_turn, orphaned, unlearned
from hy_memory.writing.lineage import relinked, whole_chains
from hy_memory.writing.parts import refuse_parts
from hy_memory.writing.quotes import quoting_schemas
from hy_memory.writing.repeats import all_new, only, told_apart
from hy_memory.writing.request import AddRequest, Changed

_log = logging.getLogger(__name__)
_ATTEMPTS = 20  # updates of one memory that may overtake this one before it gives up
_LONG = (
    "this is a long text, stored in sections: store the new one with"
    " add_extracted([{'content': …, 'supersedes': memory_id}])"
)
_COPIED_AT_ONCE = 500  # records of a clone in one transaction


def add(request: AddRequest, ports: WritePorts, vectors: FloatArray | None = None) -> Written:
    """Store the drafts, searchable on return; `vectors` (n, dims) saves embedding them.

    A draft that supersedes a memory takes the place of whatever is newest in that memory's chain.

    Raises ConflictError where the request id was used with other content; MemoryNotFoundError where a
    memory to supersede is not this user's, EmbeddingError and LedgerError, all with nothing stored.
    """
    user_id = request.origin.user_id
    if request.request_id:
        earlier = ports.ledger.outcome(request.request_id, user_id)
        if earlier is not None:
            return as_before(earlier, request.content_hash, ports)
    for draft in request.drafts:
        if draft.supersedes is not None:  # the ledger checks again; here it saves embedding in vain
            existing(draft.supersedes, ports.ledger, user_id)
    for _ in range(_ATTEMPTS):
        try:
            return _stored(request, ports, vectors)
        except RepeatedError:
            continue  # somebody else said the same a moment ago
    raise ConflictError(f"the same words of {user_id!r} come and go too often at once; try again")


def _stored(request: AddRequest, ports: WritePorts, vectors: FloatArray | None) -> Written:
    """Store what a write says that is new; raises RepeatedError where others say it at the same time."""
    told = all_new(request)
    if ports.merges_repeats:
        told = told_apart(request, ports.ledger, with_near=ports.merges_near)
    entries: list[Entry] = []
    if told.fresh:
        rows = None if vectors is None else vectors[list(told.fresh)]
        entries = entries_of(only(request, told.fresh), ports, rows, [told.marks[at] for at in told.fresh])
        bind(ports)
    new = [one.record.id for one in entries if one.vector is not None and one.record.part_of is None]
    memory_ids = told.ids(new)
    request_id, now = request.request_id or ports.clock.new_id(), ports.clock.now()
    outcome = Outcome(request.origin.user_id, request_id, request.content_hash, memory_ids, now)
    earlier = ports.ledger.insert(entries, outcome)
    if earlier is not None:
        return as_before(earlier, request.content_hash, ports)
    if told.known:
        ports.ledger.learn([Lesson(one, now, kind=LessonKind.RESTATED) for one in told.known.values()])
    old = _superseded_by(entries, ports)
    stale = [*_schemas_of(old, ports), *ports.ledger.parts([one.id for one in old])]
    if stale:
        ports.ledger.delete(stale)
    return Written(memory_ids, request_id, project(ports), tuple(dict.fromkeys(told.known.values())))


def update(memory_id: str, changed: Changed, ports: WritePorts, user_id: str | None = None) -> MemoryRecord:
    """Store a new version of a memory and return it; on an error the old one stands untouched."""
    made: dict[str, FloatArray] = {}
    for _ in range(_ATTEMPTS):
        record = existing(memory_id, ports.ledger, user_id)
        if record.layer is Layer.L1_RAW:
            raise InvalidArgumentError(
                "memory_id", memory_id, "this is a raw turn, which is kept as it was said"
            )
        refuse_parts([record])
        if ports.ledger.parts([memory_id]):
            raise InvalidArgumentError("memory_id", memory_id, _LONG)
        fresh = _changed(record, changed, ports.clock.now())
        vector = _vector_after(record, fresh, made, ports)
        try:
            terms = document_terms(fresh.content, fresh.context)
            ports.ledger.replace(Entry(fresh, vector, terms), expected_version=record.version)
        except ConflictError:
            continue  # somebody else's update came first; this one goes on top of it
        if fresh.content != record.content:
            ports.ledger.delete(_schemas_of([record], ports))
        project(ports)
        return fresh
    raise ConflictError(f"memory {memory_id!r} is being updated too often at once; try again")


def _vector_after(
    record: MemoryRecord, fresh: MemoryRecord, made: dict[str, FloatArray], ports: WritePorts
) -> FloatArray:
    """Return the vector of a changed record: the stored one where its text stays, else one made once."""
    text = indexed_text(fresh)
    if text == indexed_text(record):
        stored = ports.ledger.searchable([record.id]).get(record.id)
        if stored is not None:
            return stored.vector
    if text not in made:
        made[text] = ports.embedder.embed_documents([text])[0]
        bind(ports)
    return made[text]


def delete(memory_ids: Sequence[str], ports: WritePorts, user_id: str | None = None) -> int:
    """Remove memories everywhere, out of the raw exchange that quotes them too; returns how many."""
    for _ in range(_ATTEMPTS):
        found = [
            record
            for record in ports.ledger.records(memory_ids).values()
            if user_id is None or user_of(record.user_id) == user_id
        ]
        if not found:
            return 0
        refuse_parts(found, frozenset(one.id for one in found))
        parts = ports.ledger.parts([one.id for one in found])
        count = len(found)
        found += orphaned(found, {record.id for record in found}, ports.ledger)
        orphans, retold = unlearned(found, {record.id for record in found}, ports.ledger)
        found += orphans
        gone = frozenset(record.id for record in found)
        emptied, rewritten = _quoting(found, gone, ports)
        rewritten += retold
        emptied += _schemas_of(found, ports)
        try:
            ports.ledger.delete([*sorted(gone), *parts, *emptied], rewritten)
        except ConflictError:
            continue  # another delete took something out of the same exchange; look again
        project(ports)
        return count
    raise ConflictError(
        f"{len(memory_ids)} memories could not be deleted: too many deletes at once; try again"
    )


def _superseded_by(entries: Sequence[Entry], ports: WritePorts) -> list[MemoryRecord]:
    """Return the records whose place stored entries took."""
    new = [entry.record.id for entry in entries if entry.supersedes is not None]
    if not new:
        return []
    old = [one.supersedes for one in ports.ledger.records(new).values() if one.supersedes is not None]
    return list(ports.ledger.records(old).values())


def _schemas_of(said: Sequence[MemoryRecord], ports: WritePorts) -> list[str]:
    """Return the schemas that speak in the words of `said`; `evolve` makes them anew from what is left."""
    users = sorted({one.user_id for one in said})
    return [
        schema
        for user_id in users
        for schema in quoting_schemas([one for one in said if one.user_id == user_id], ports.ledger)
    ]


def _quoting(
    found: Sequence[MemoryRecord], gone: frozenset[str], ports: WritePorts
) -> tuple[list[str], list[Entry]]:
    """Return the raw exchanges of which nothing is left without `gone`, and the others without them."""
    emptied: list[str] = []
    rewritten: list[Entry] = []
    quoted = sorted({one for record in found for one in record.evidence_ids} - gone)
    for raw in ports.ledger.records(quoted).values():
        if raw.layer is not Layer.L1_RAW or is_lone_turn(raw):
            continue
        left = without_memory(raw.content, gone)
        if left:
            rewritten.append(Entry(replace(raw, content=left, updated_at=ports.clock.now())))
        else:
            emptied.append(raw.id)
    return emptied, rewritten


def delete_all(where: ScopedFilter, ports: WritePorts) -> int:
    """Remove everything of a scope, raw turns and outcomes too; returns how many memories there were."""
    raw = scoped(where.user_ids, all_of(where.tree, Compare("layer", Op.EQ, Layer.L1_RAW.value)))
    turns = ports.ledger.page(raw, ListQuery(1, 0, ascending=True)).total
    removed = ports.ledger.delete_all(where)
    project(ports)
    return max(0, removed - turns)


def clone_user(source_user: str, target_user: str, ports: WritePorts) -> int:
    """Copy every record of one user to another, links among them included; returns how many were copied."""
    keys = zip(partitions(source_user), partitions(target_user), strict=True)
    copied = sum(_clone(source, target, ports) for source, target in keys)
    project(ports)
    return copied


def _clone(source_user: str, target_user: str, ports: WritePorts) -> int:
    where = scoped((source_user,), EVERYTHING)
    total = ports.ledger.page(where, ListQuery(1, 0, ascending=True)).total
    records: list[MemoryRecord] = []
    while len(records) < total:
        page = ports.ledger.page(where, ListQuery(_COPIED_AT_ONCE, len(records), ascending=True)).records
        if not page:
            break
        records.extend(page)
    fresh = ports.clock.make_ids(ports.clock.now(), len(records))
    renamed = {record.id: one for record, one in zip(records, fresh, strict=True)}
    ports.ledger.copy_closings(source_user, target_user)
    for batch in whole_chains(relinked(records), _COPIED_AT_ONCE):
        points = ports.ledger.searchable([record.id for record in batch])
        entries: list[Entry] = []
        for record in batch:
            point = points.get(record.id)
            copy = _copied(record, target_user, renamed)
            entries.append(Entry(copy, point.vector, point.terms) if point else Entry(copy))
        ports.ledger.insert(entries)
    ports.ledger.copy_edits(source_user, target_user, renamed)
    ports.ledger.copy_uses(renamed, target_user)
    ports.ledger.copy_facts(source_user, target_user, renamed)
    return len(records)


def project(ports: WritePorts) -> bool:
    """Bring the fed projection up to date; False, and a warning, where it is down: the ledger is safe."""
    if ports.feeder is None:
        return True
    fed = guard("projection", ports.feeder.catch_up)
    if isinstance(fed, Guarded):
        _log.warning("the write is stored, but not yet searchable: %s", fed.degradation.error)
        return False
    return True


def existing(memory_id: str, ledger: Ledger, user_id: str | None) -> MemoryRecord:
    """Return a record; raises MemoryNotFoundError where there is none, or it is another user's."""
    record = ledger.records([memory_id]).get(memory_id)
    if record is None or (user_id is not None and user_id not in (record.user_id, user_of(record.user_id))):
        raise MemoryNotFoundError(memory_id)
    return record


def as_before(earlier: Outcome, content_hash: str, ports: WritePorts) -> Written:
    """Return the first outcome again; it is searchable only while what it stored is still there.

    Raises ConflictError where its content was another one.
    """
    if earlier.content_hash != content_hash:
        raise ConflictError(
            f"request_id {earlier.request_id!r} was used for other content; new content needs a new id"
        )
    is_whole = len(ports.ledger.records(earlier.memory_ids)) == len(earlier.memory_ids)
    return Written(earlier.memory_ids, earlier.request_id, project(ports) and is_whole)


def bind(ports: WritePorts) -> None:
    """Make sure that the ledger's vectors are this embedder's, also when another process was first."""
    ours = identity_of(ports.embedder)
    check_same(ports.ledger.bind_embedder(ours), ours)


def _changed(record: MemoryRecord, changed: Changed, now: float) -> MemoryRecord:
    memory_at = record.memory_at if changed.memory_at is None else changed.memory_at
    ours = {key: value for key, value in record.attributes.items() if is_reserved(record, key)}
    attributes = record.attributes if changed.attributes is None else {**changed.attributes, **ours}
    content, claims = record.content, record.claims
    if changed.content is not None:
        content = changed.content
        claims = claims_of(content, record.layer, record.owner, record.user_id)
    return replace(
        record,
        content=content,
        tags=record.tags if changed.tags is None else changed.tags,
        attributes=attributes,
        memory_at=memory_at,
        expires_at=record.expires_at if changed.expires_at is None else changed.expires_at,
        context=record.context if ours else keyword_context(speaker_of(record), memory_at, attributes),
        updated_at=now,
        version=record.version + 1,
        claims=claims,
    )


def _copied(record: MemoryRecord, user_id: str, renamed: dict[str, str]) -> MemoryRecord:
    is_raw = record.layer is Layer.L1_RAW
    return replace(
        record,
        id=renamed[record.id],
        user_id=user_id,
        content=with_renamed(record.content, renamed) if is_raw else record.content,
        supersedes=renamed.get(record.supersedes or ""),
        superseded_by=renamed.get(record.superseded_by or ""),
        evidence_ids=tuple(renamed[one] for one in record.evidence_ids if one in renamed),
        part_of=renamed.get(record.part_of or ""),
        attributes={
            key: _with_ids(value, renamed) if is_reserved(record, key) else value
            for key, value in record.attributes.items()
        },
    )


def _with_ids(value: Json, renamed: Mapping[str, str]) -> Json:
    """Return what we keep of a record with the ids of other records that it names exchanged."""
    if isinstance(value, dict):
        return {key: _with_ids(one, renamed) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_ids(one, renamed) for one in value]
    return renamed.get(value, value) if isinstance(value, str) else value
