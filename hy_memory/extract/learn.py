"""Reading a session of an agent: what was learned becomes experiences, linked with the session's fact.

The messages and the fact are stored, searchable, before. The experiences, their links and the end of the
waiting are one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.extract.ports import ExtractPorts, Read
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import And, Compare, Op
from hy_memory.llm.learn import Learned, Lesson, learn
from hy_memory.ranking.bm25 import document_terms
from hy_memory.ranking.fusion import dense_scores
from hy_memory.values.lane import FACT
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Json, Layer, MemoryRecord, Status
from hy_memory.values.write import Entry, Outcome, Settlement
from hy_memory.work.experience import Experience, as_json, experience_of
from hy_memory.work.fact import from_json, with_experiences
from hy_memory.work.scope import EXPERIENCE, LEARNED, place_of
from hy_memory.work.write import SESSIONS
from hy_memory.writing.evidence import extraction_id
from hy_memory.writing.write import WritePorts, bind, project

_NEAREST = 5  # known experiences shown to the model
_LOOKED_AT = 40  # hits among which those of the same place are
_RELATED = 0.4  # the score from which on memories are related at all (contract §2, `min_score`)
_MOST_FACTS = 64  # that one experience rests on: the newest


@dataclass(frozen=True, slots=True)
class _Session:
    """A raw turn, its messages as lines, and the fact that stands for the session now."""

    raw: MemoryRecord
    messages: tuple[str, ...]
    fact: MemoryRecord


def read_session(record_id: str, ports: ExtractPorts) -> Read:
    """Store what a model learns from a session. Raises LLMError, ConflictError, and what writing raises."""
    writing = ports.writing
    session = _session_of(record_id, writing)
    if session is None:  # deleted meanwhile
        writing.ledger.extracted([record_id])
        return Read()
    known = _alike(session.fact, ports)
    shown = [_told(experience_of(one)) for one in known]
    learned, usage = learn(ports.model, session.fact.content, session.messages, shown)
    worth = [one for one in learned if one.lesson.value >= ports.least_value]
    made = [_experience(one, known, session) for one in worth]
    bind(writing)
    vectors = [*writing.embedder.embed_documents([one.content for one in made])] if made else []
    with writing.ledger.feeding(SESSIONS):  # or a write to the session would go on from a fact without links
        settlement = _settlement(session, list(zip(worth, made, vectors, strict=True)), known, ports)
        if settlement is None or not writing.ledger.settle(settlement):
            return Read(usage=usage)
    project(writing)
    return Read(settlement.outcome.memory_ids if settlement.outcome else (), usage=usage)


def _session_of(record_id: str, ports: WritePorts) -> _Session | None:
    raw = ports.ledger.records([record_id]).get(record_id)
    if raw is None:
        return None
    said: list[dict[str, str]] = json.loads(raw.content)
    fact = _newest(said[0]["memory_id"], ports)
    messages = tuple(f"{one['name'] or one['role']}: {one['content']}" for one in said)
    return None if fact is None else _Session(raw, messages, fact)


def _newest(fact_id: str, ports: WritePorts) -> MemoryRecord | None:
    """Return the fact at the head of a chain, None where it is gone."""
    seen: set[str] = set()
    fact = ports.ledger.records([fact_id]).get(fact_id)
    while fact is not None and fact.superseded_by is not None and fact.id not in seen:
        seen.add(fact.id)
        fact = ports.ledger.records([fact.superseded_by]).get(fact.superseded_by)
    return fact


def _alike(fact: MemoryRecord, ports: ExtractPorts) -> list[MemoryRecord]:
    """Return the experiences of the same place and source that are most like a fact, the nearest first."""
    writing, place = ports.writing, place_of(fact)
    point = writing.ledger.searchable([fact.id]).get(fact.id)
    if point is None:
        return []
    current = And(
        (
            Compare("status", Op.EQ, Status.ACTIVE.value),
            Compare("layer", Op.EQ, Layer.L6_SCHEMA.value),
            Compare("source", Op.EQ, fact.source),
            *place.filters(),
        )
    )
    ranking = ports.vectors.search(point.vector, scoped((fact.user_id,), current), _LOOKED_AT)
    scores = dense_scores(ranking.scores, writing.embedder.calibration)
    near = [ranking.ids[at] for at in np.flatnonzero(scores >= _RELATED).tolist()]
    records = writing.ledger.records(near)
    here = [records[one] for one in near if one in records]
    return [one for one in here if EXPERIENCE in one.attributes and place.holds(one)][:_NEAREST]


def _told(one: Experience) -> str:
    return f"{one.task}\n{one.solution}"


def _experience(learned: Learned, known: Sequence[MemoryRecord], session: _Session) -> Experience:
    """Return the experience of a lesson; of files, only those that the session knows."""
    lesson = learned.lesson
    before = Experience("", "") if learned.known is None else experience_of(known[learned.known])
    files = [one for one in lesson.files if one in from_json(_kept(session.fact)).files]
    return Experience(
        task=_line(lesson.task),
        solution=lesson.solution,
        search_keys=_unique(before.search_keys, [_line(one) for one in lesson.search_keys]),
        boundary=_unique(before.boundary, lesson.boundary),
        confidence=lesson.confidence,
        files=_unique(before.files, files),
        fact_ids=_unique(before.fact_ids, [session.fact.id])[-_MOST_FACTS:],
    )


def _settlement(
    session: _Session,
    made: Sequence[tuple[Learned, Experience, FloatArray]],
    known: Sequence[MemoryRecord],
    ports: ExtractPorts,
) -> Settlement | None:
    """Return what is stored, None where the session's fact is gone; must be called under the lock."""
    writing, raw = ports.writing, session.raw
    fact = _newest(session.fact.id, writing)
    if fact is None:
        return None
    new: list[Entry] = []
    changed: list[Entry] = []
    ids: list[str] = []
    for learned, one, vector in made:
        experience = replace(
            one, fact_ids=_unique([i for i in one.fact_ids if i != session.fact.id], [fact.id])
        )
        old = None if learned.known is None else known[learned.known]
        record = _record(experience, learned.lesson, fact, old, ports)
        entry = Entry(record, vector, document_terms(record.content, record.context))
        (new if old is None else changed).append(entry)
        ids.append(record.id)
    linked = _carried(fact, ids, writing)
    before = from_json(_kept(fact)).experience_ids
    point = writing.ledger.searchable([fact.id]).get(fact.id)
    if point is not None and not set(ids) <= set(before):
        linked.append(Entry(with_experiences(fact, _unique(before, ids)), point.vector, point.terms))
    outcome = Outcome(raw.user_id, extraction_id(raw.id), "", tuple(ids), writing.clock.now())
    return Settlement(raw.id, raw.version, outcome, tuple(new), tuple(changed), tuple(linked))


def _record(
    experience: Experience, lesson: Lesson, fact: MemoryRecord, old: MemoryRecord | None, ports: ExtractPorts
) -> MemoryRecord:
    """Return the record of an experience, of the origin of the fact; or the next version of a known one."""
    clock = ports.writing.clock
    now = clock.now()
    told: dict[str, Json] = {"model": ports.model.name, "value": lesson.value}
    whole: dict[str, Json] = {EXPERIENCE: as_json(experience), LEARNED: told}
    context = " ".join((*experience.files, *experience.boundary, experience.solution))
    if old is not None:
        return replace(
            old,
            content=experience.content,
            attributes={**old.attributes, **whole},
            context=context,
            evidence_ids=experience.fact_ids,
            updated_at=now,
        )
    return MemoryRecord(
        id=clock.new_id(),
        user_id=fact.user_id,
        content=experience.content,
        agent_id=fact.agent_id,
        session_id=fact.session_id,
        source=fact.source,
        layer=Layer.L6_SCHEMA,
        owner="assistant",
        attributes={**place_of(fact).attributes(), **whole},
        context=context,
        created_at=now,
        updated_at=now,
        evidence_ids=experience.fact_ids,
    )


def _carried(fact: MemoryRecord, others: Sequence[str], ports: WritePorts) -> list[Entry]:
    """Return the experiences of a session's earlier fact, resting on the one that took its place too."""
    ids = [one for one in from_json(_kept(fact)).experience_ids if one not in others]
    points = ports.ledger.searchable(ids)
    return [
        Entry(
            replace(one, evidence_ids=(*one.evidence_ids, fact.id)[-_MOST_FACTS:]),
            points[one.id].vector,
            points[one.id].terms,
        )
        for one in ports.ledger.records(ids).values()
        if one.id in points and fact.id not in one.evidence_ids
    ]


def _kept(fact: MemoryRecord) -> dict[str, Json]:
    kept = fact.attributes[FACT]
    if not isinstance(kept, dict):
        raise TypeError(f"{FACT} holds a {type(kept).__name__}")
    return kept


def _line(text: str) -> str:
    """Return a text on one line: an experience's content has its task and its keys on a line each."""
    return " ".join(text.split())


def _unique(first: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))
