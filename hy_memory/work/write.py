"""Storing what a session did: its messages as they were, and one fact that stands for all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from hy_memory.errors import ConflictError, InvalidArgumentError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import And, Compare, Op
from hy_memory.ports import Ledger
from hy_memory.ranking.bm25 import document_terms
from hy_memory.values import check
from hy_memory.values.code import Ground
from hy_memory.values.lane import FACT, RESERVED, Lane, lane_of, partition
from hy_memory.values.record import Json, Layer, MemoryRecord, Status, indexed_text
from hy_memory.values.write import Entry, ListQuery, Outcome, Written
from hy_memory.work.fact import SessionFact, as_json, fact_of, from_json
from hy_memory.work.scope import Place
from hy_memory.work.trace import Trace, has_tools, parse_trace
from hy_memory.writing.compose import Origin, raw_exchange, record_of
from hy_memory.writing.messages import Draft, parse_messages, parse_metadata
from hy_memory.writing.request import content_hash, parse_origin, parse_request_id
from hy_memory.writing.write import WritePorts, as_before, bind, project

UNNAMED = "default_session"
"""The session of those who name none: each of their writes is a session of its own."""
_OPEN_FACTS = 1000  # current facts of one session id, over all workspaces and branches
_ATTEMPTS = 20  # writes to one session that may overtake this one before it gives up
SESSIONS = "sessions"
"""The lock held for a look and an insert, so that of two writes one goes on from the other."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A session, or more of one. `digest` is of its messages alone: the same ones again add nothing.

    `is_pending`: a language model is to read it.
    """

    trace: Trace
    drafts: tuple[Draft, ...]
    origin: Origin
    place: Place
    request_id: str
    content_hash: str
    digest: str
    is_pending: bool = False

    @property
    def is_coding(self) -> bool:
        """Whether what it did to files is kept."""
        return lane_of(self.origin.user_id) is Lane.CODING


def parse_session(
    data: object,
    lane: Lane,
    place: Place,
    *,
    metadata: object,
    request_id: object,
    user_id: object,
    layer: object,
    **origin: object,
) -> SessionRequest:
    """Return the request for `add` with the scene `working` or `coding`."""
    if layer is not None:
        raise InvalidArgumentError("layer", layer, "only chat memory has layers to choose; leave it out")
    drafts = parse_messages(data)
    if lane is Lane.CODING and not has_tools(data):
        raise InvalidArgumentError(
            "scene", lane.value, "a coding session has tool calls, these messages have none; use 'chat'"
        )
    shared = parse_metadata("metadata", metadata)
    for key in (*shared, *(key for draft in drafts for key in draft.metadata)):
        if key.startswith(RESERVED):
            raise InvalidArgumentError("metadata", key, f"keys may not begin with {RESERVED!r} here")
    mine = partition(check.identifier("user_id", user_id), lane)
    where = replace(parse_origin(user_id=user_id, layer=None, **origin), user_id=mine)  # pyright: ignore
    known = parse_request_id(request_id)
    return SessionRequest(
        trace=parse_trace(data).renumbered({draft.at: place for place, draft in enumerate(drafts)}),
        drafts=tuple(replace(draft, metadata={**shared, **draft.metadata}) for draft in drafts),
        origin=where,
        place=place,
        request_id=known,
        content_hash=content_hash(drafts, where, repr((shared, place))) if known else "",
        digest=_digests(drafts)[-1],
    )


def add_session(request: SessionRequest, ports: WritePorts) -> Written:
    """Store a session's messages and its fact, which takes the place of the session's earlier one.

    Raises what `writing.write.add` raises, with nothing stored.
    """
    user_id = request.origin.user_id
    if request.request_id:
        earlier = ports.ledger.outcome(request.request_id, user_id)
        if earlier is not None:
            return as_before(earlier, request.content_hash, ports)
    request_id = request.request_id or ports.clock.new_id()
    for _ in range(_ATTEMPTS):
        before = _current(request, ports.ledger)
        known = None if before is None else from_json(_mapping(before.attributes[FACT]))
        if before is not None and known is not None and request.digest in known.digests:
            if request.request_id:  # the id is used up all the same
                ports.ledger.insert([], _outcome(request, request_id, before.id, ports.clock.now()))
            return Written((before.id,), request_id, project(ports), deduplicated=(before.id,))
        entries = _entries(request, before, known, ports)
        fact = entries[-1].record
        bind(ports)
        is_alone = request.origin.session_id == UNNAMED and not request.is_coding
        with nullcontext() if is_alone else ports.ledger.feeding(SESSIONS):
            if _current(request, ports.ledger) != before:
                continue  # another write to this session came first; this one goes on from it
            if request.is_coding:
                entries[0] = _with_edits(entries[0], request, known, ports)
            earlier = ports.ledger.insert(entries, _outcome(request, request_id, fact.id, fact.created_at))
        if earlier is not None:
            return as_before(earlier, request.content_hash, ports)
        return Written((fact.id,), request_id, project(ports))
    raise ConflictError(
        f"session {request.origin.session_id!r} is being written too often at once; try again"
    )


def _outcome(request: SessionRequest, request_id: str, fact_id: str, now: float) -> Outcome:
    return Outcome(request.origin.user_id, request_id, request.content_hash, (fact_id,), now)


def _current(request: SessionRequest, ledger: Ledger) -> MemoryRecord | None:
    """Return the fact of the session that is being gone on with, None where it begins."""
    origin = request.origin
    if origin.session_id == UNNAMED:
        return None
    mine = And(
        (
            Compare("session_id", Op.EQ, origin.session_id),
            Compare("agent_id", Op.EQ, origin.agent_id),
            Compare("layer", Op.EQ, Layer.L2_FACT.value),
            Compare("status", Op.EQ, Status.ACTIVE.value),
        )
    )
    page = ledger.page(scoped((origin.user_id,), mine), ListQuery(_OPEN_FACTS, 0, ascending=False))
    for record in page.records:
        if request.place.holds(record) and record.source == origin.source and FACT in record.attributes:
            return record
    return None


def _entries(
    request: SessionRequest, before: MemoryRecord | None, known: SessionFact | None, ports: WritePorts
) -> list[Entry]:
    """Return the messages as they were, and the session's fact."""
    now, origin = ports.clock.now(), request.origin
    raw_id, fact_id = ports.clock.new_id(), ports.clock.new_id()
    raw = _raw(
        request.drafts, replace(origin, layer=Layer.L1_RAW, tags=(), expires_at=None), raw_id, fact_id, now
    )
    fact = fact_of(request.trace, raw_id, request.digest, known)
    evidence = (raw_id,) if before is None else (*before.evidence_ids, raw_id)
    attributes: dict[str, Json] = {
        **_shared(request.drafts),
        **request.place.attributes(),
        FACT: as_json(fact),
    }
    statement = fact.statement or request.drafts[0].content  # a tool's bare call, or only its result
    draft = Draft(statement, role="assistant", metadata=attributes)
    record = record_of(draft, origin, fact_id, now, evidence)
    context = " ".join((record.context, *fact.files, *fact.commands)).strip()
    record = replace(record, context=context)
    vector = ports.embedder.embed_documents([indexed_text(record)])[0]
    return [
        Entry(raw, is_pending=request.is_pending),
        Entry(record, vector, document_terms(record.content, context), before.id if before else None),
    ]


def _with_edits(raw: Entry, request: SessionRequest, known: SessionFact | None, ports: WritePorts) -> Entry:
    """Return the raw turn with what the session did to files; held under the lock, so that none is missed."""
    from hy_memory.work.observe import Observer  # reads diffs, which costs 30 ms that chat need not wait

    asked = known.tasks[-1] if known is not None and known.tasks else ""
    seen = 0 if known is None else _seen(request.drafts, known.digests)
    ground = Ground(request.origin.user_id, request.place.workspace_id or "", request.place.branch or "")
    made = (ground, request.origin.source, raw.record.created_at)
    observer = Observer(ports.ledger, ports.code_root)
    return replace(raw, edits=observer.edits(request.trace.since(seen), asked, raw.record.id, made))


def _seen(drafts: Sequence[Draft], digests: Sequence[str]) -> int:
    """Return how many messages an earlier write to the session began with: some agents send all anew."""
    known = set(digests)
    return max((at for at, one in enumerate(_digests(drafts), start=1) if one in known), default=0)


def _digests(drafts: Sequence[Draft]) -> list[str]:
    """Return a digest of the first message, of the first two, and so on."""
    told, found = hashlib.sha256(b"["), list[str]()
    for draft in drafts:
        told.update(json.dumps([draft.role, draft.speaker, draft.content]).encode())
        whole = told.copy()
        whole.update(b"]")
        found.append(whole.hexdigest()[:32])
        told.update(b", ")
    return found


def _raw(drafts: Sequence[Draft], origin: Origin, raw_id: str, fact_id: str, now: float) -> MemoryRecord:
    exchange = replace(
        drafts[0], content=raw_exchange(drafts, [fact_id] * len(drafts)), metadata={}, speaker="", tags=()
    )
    return replace(record_of(exchange, origin, raw_id, now, ()), context="", claims=())


def _shared(drafts: Sequence[Draft]) -> dict[str, Json]:
    """Return the metadata of all messages in one; where they differ, the last one's."""
    return {
        key: value
        for draft in drafts
        for key, value in draft.metadata.items()
        if not key.startswith(RESERVED)
    }


def _mapping(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError(f"{FACT} holds a {type(value).__name__}")
    return value
