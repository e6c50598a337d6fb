"""Reading exchanges that wait for a language model, one at a time; whatever happens, nothing is lost.

An exchange is stored, searchable, and queued in one transaction. What reading it led to is another one: the
facts, its turns, which give way to them (they are kept as evidence, no longer searched for), and the queue.
A crash before it means that the exchange is read again. What was deleted or changed while the model read
fails it, so that no deleted text comes back as a fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hy_memory.errors import ConflictError, InvalidArgumentError, LLMAnswerError
from hy_memory.extract.exchange import Exchange, exchange_of, turn_ids_of
from hy_memory.extract.learn import read_session
from hy_memory.extract.ports import ExtractPorts, Read
from hy_memory.extract.reconcile import said_meanwhile, verdicts_on
from hy_memory.llm.extract import Extracted, Verdict, extract
from hy_memory.pipeline import Guarded, guard
from hy_memory.ranking.bm25 import document_terms
from hy_memory.values.lane import lane_of
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Json, Layer, MemoryRecord, RecordClaim, indexed_text, is_role
from hy_memory.values.write import Entry, Outcome, Pending, Settlement
from hy_memory.writing.compose import Origin, record_of
from hy_memory.writing.messages import Draft
from hy_memory.writing.write import WritePorts, bind, project

PART, EXPERIENCES = "extraction", "experience"
PROVENANCE = "extraction"
"""Key of a fact's metadata that says which model read it, and how plainly it was said."""
_INTENDED = 30 * 86_400.0  # an intention of which nobody says until when holds for a month
_LOCK = "facts"  # held for a look and an insert
_MOST_UNREAD = 100  # exchanges of a user that wait and are looked into: more means that the model is down
_MOST_EVIDENCE = 64  # of one fact: who says the same every day needs no proof of each
_CLAIMED = 600.0  # seconds: a crashed reader's exchange is read by others after that
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 86_400.0  # seconds after a failed attempt; they double


def read_exchange(waiting: Pending, ports: ExtractPorts) -> Read | None:
    """Read one exchange; a failure is noted beside it, with when to try again.

    Returns None where somebody else is reading it.
    """
    ledger, clock = ports.writing.ledger, ports.writing.clock
    if not ledger.claim(waiting, clock.now() + _CLAIMED):
        return None
    is_chat = lane_of(waiting.user_id) is None
    part, read = (PART, _read) if is_chat else (EXPERIENCES, read_session)
    outcome = guard(part, lambda: read(waiting.record_id, ports))
    if not isinstance(outcome, Guarded):
        return outcome
    pause = min(_FIRST_PAUSE * 2.0**waiting.attempts, _LONGEST_PAUSE)
    ledger.postpone(waiting.record_id, outcome.degradation.error, clock.now() + pause)
    is_unreadable = isinstance(outcome.error, LLMAnswerError)
    return Read(degraded=(outcome.degradation,), is_unreadable=is_unreadable)


def _read(record_id: str, ports: ExtractPorts) -> Read:
    writing = ports.writing
    exchange = exchange_of(record_id, writing.ledger)
    if exchange is None or not exchange.turns:  # deleted meanwhile
        writing.ledger.extracted([record_id])
        return Read()
    raw = exchange.raw
    reading = extract(ports.model, exchange.messages, now=raw.event_at, zone=ports.zone)
    if not reading.facts:
        writing.ledger.extracted([record_id])
        return Read(usage=reading.usage)
    records = [_record(one, exchange, ports) for one in reading.facts]
    vectors = writing.embedder.embed_documents([indexed_text(record) for record in records])
    reach = (ports.model, ports.vectors, writing.embedder, writing.ledger)
    said = raw.event_at, _unread(exchange, writing)
    verdicts, more = verdicts_on(reading.facts, records, vectors, said, reach)
    records, vectors = _merged(records, vectors, verdicts, writing)
    usage = reading.usage.plus(more)
    bind(writing)
    with writing.ledger.feeding(_LOCK):  # or two that read the same at once would both store it
        verdicts = said_meanwhile(records, vectors, verdicts, said, reach)
        settlement = _settlement(exchange, reading.shown, (records, vectors, verdicts), writing)
        settled = _settled(settlement, writing)
    if not settled:  # another process read it at the same time, and was first; or it was deleted
        earlier = writing.ledger.outcome(exchange.request_id, raw.user_id)
        return Read(earlier.memory_ids if earlier else (), usage=usage)
    project(writing)
    ids = _ids(records, verdicts)
    new = {entry.record.id for entry in settlement.entries}
    return Read(ids, tuple(one for one in ids if one not in new), usage)


def _settled(settlement: Settlement, ports: WritePorts) -> bool:
    """Store what reading led to. Raises ConflictError, also where a memory to supersede became a raw turn."""
    try:
        return ports.ledger.settle(settlement)
    except InvalidArgumentError as error:  # the caller of a write could not mend that
        raise ConflictError(f"a memory changed while facts were held against it: {error}") from error


def _settlement(
    exchange: Exchange,
    shown: int,
    decided: tuple[Sequence[MemoryRecord], FloatArray, Sequence[Verdict]],
    ports: WritePorts,
) -> Settlement:
    """Return what reading an exchange led to: facts, memories that were said again, turns that give way."""
    records, vectors, verdicts = decided
    raw = exchange.raw
    outcome = Outcome(raw.user_id, exchange.request_id, "", _ids(records, verdicts), ports.clock.now())
    entries = [
        Entry(
            record,
            vectors[at],
            document_terms(record.content, record.context),
            None if verdict.known is None else verdict.known.memory_id,
        )
        for at, (record, verdict) in enumerate(zip(records, verdicts, strict=True))
        if verdict.action != "nothing"
    ]
    return Settlement(
        raw.id,
        raw.version,
        outcome,
        entries=tuple(entries),
        linked=_cited(records, verdicts, ports),
        retired=_given_way(exchange, shown, ports),
    )


def _ids(records: Sequence[MemoryRecord], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the memories that say the facts, each once."""
    said = (
        verdict.known.memory_id if verdict.action == "nothing" and verdict.known else record.id
        for record, verdict in zip(records, verdicts, strict=True)
    )
    return tuple(dict.fromkeys(said))


def _unread(exchange: Exchange, ports: WritePorts) -> frozenset[str]:
    """Return the turns of this exchange, and of others of the user that wait: no facts stand for them yet."""
    waiting = ports.ledger.pending(exchange.raw.user_id, float("inf"), _MOST_UNREAD)
    raws = ports.ledger.records([one.record_id for one in waiting])
    return frozenset(exchange.turn_ids).union(*(turn_ids_of(raw) for raw in raws.values()))


def _record(one: Extracted, exchange: Exchange, ports: ExtractPorts) -> MemoryRecord:
    """Return the record of a fact: of the origin of its turns, with them as evidence."""
    raw, fact = exchange.raw, one.fact
    turn_ids = [exchange.turn_ids[at] for at in one.turns]
    turns = [exchange.turns[turn_id] for turn_id in turn_ids if turn_id in exchange.turns]
    said_at = turns[0].memory_at if turns else raw.memory_at
    is_intention = fact.kind == "intention"
    expires_at = one.expires_at
    if is_intention and expires_at is None:
        expires_at = (raw.created_at if said_at is None else said_at) + _INTENDED
    shared: dict[str, Json] = {key: value for turn in turns for key, value in turn.attributes.items()}
    told: Json = {"model": ports.model.name, "confidence": fact.confidence}
    # a name that nobody in the conversation has is somebody who was spoken of, and no speaker
    owner = fact.owner if exchange.is_named(fact.owner) else "user"
    draft = Draft(
        fact.text,
        role=owner if is_role(owner) else "user",
        speaker="" if is_role(owner) else owner,
        said_at=said_at if one.happened_at is None else one.happened_at,
        tags=tuple(dict.fromkeys([*(tag for turn in turns for tag in turn.tags), *fact.tags])),
        metadata={PROVENANCE: told, **shared},
    )
    origin = Origin(
        user_id=raw.user_id,
        agent_id=raw.agent_id,
        session_id=raw.session_id,
        source=raw.source,
        layer=Layer.L7_INTENTION if is_intention else Layer.L2_FACT,
        expires_at=expires_at if is_intention else (turns[0].expires_at if turns else None),
    )
    clock = ports.writing.clock
    record = record_of(draft, origin, clock.new_id(), clock.now(), (*turn_ids, raw.id))
    claims = [RecordClaim(value.field, value.value, value.is_past) for value in fact.profile]
    claims += [claim for turn in turns for claim in turn.claims]
    return replace(record, claims=tuple(dict.fromkeys(claims)))


def _merged(
    records: Sequence[MemoryRecord], vectors: FloatArray, verdicts: Sequence[Verdict], ports: WritePorts
) -> tuple[list[MemoryRecord], FloatArray]:
    """Return facts, and their vectors, with the texts that say what known memories said too."""
    merged, rows = list(records), vectors.copy()
    for at, verdict in enumerate(verdicts):
        if verdict.text is not None and verdict.text != records[at].content:
            merged[at] = replace(records[at], content=verdict.text)
            rows[at] = ports.embedder.embed_documents([indexed_text(merged[at])])[0]
    return merged, rows


def _cited(
    records: Sequence[MemoryRecord], verdicts: Sequence[Verdict], ports: WritePorts
) -> tuple[Entry, ...]:
    """Return the memories that were said again, resting on what says so too."""
    evidence: dict[str, tuple[str, ...]] = {}
    for record, verdict in zip(records, verdicts, strict=True):
        if verdict.action == "nothing" and verdict.known is not None:
            memory_id = verdict.known.memory_id
            evidence[memory_id] = (*evidence.get(memory_id, ()), *record.evidence_ids)
    points = ports.ledger.searchable(list(evidence))
    cited: list[Entry] = []
    for one in ports.ledger.records(list(evidence)).values():
        rests_on = tuple(dict.fromkeys((*one.evidence_ids, *evidence[one.id])))
        point = points.get(one.id)
        if point is not None and len(rests_on) <= _MOST_EVIDENCE and rests_on != one.evidence_ids:
            cited.append(Entry(replace(one, evidence_ids=rests_on), point.vector, point.terms))
    return tuple(cited)


def _given_way(exchange: Exchange, shown: int, ports: WritePorts) -> tuple[Entry, ...]:
    """Return the first `shown` turns of an exchange as evidence that is no longer searched for."""
    now = ports.clock.now()
    read = set(exchange.turn_ids[:shown])
    turns = [one for one in exchange.turns.values() if one.id in read and one.layer is not Layer.L1_RAW]
    return tuple(
        Entry(replace(one, layer=Layer.L1_RAW, context="", claims=(), updated_at=now)) for one in turns
    )
