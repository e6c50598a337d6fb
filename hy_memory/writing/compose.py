"""From drafts to records, and from a record to what is indexed of it (contract §7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hy_memory.text.normalize import fold
from hy_memory.values.record import NORMAL_LAYERS, Json, Layer, MemoryRecord, RecordClaim
from hy_memory.writing.messages import Draft

_CONTEXT_KEYS = ("caption", "place", "location", "title")
"""Metadata whose text is about the memory: it is searched by keyword, beside the text itself."""

_OWN_ROLE = "user"
_LONGEST_CLAIMING = 2000  # characters: a longer message quotes or pastes, and its "I" may be anybody's

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)  # fmt: skip - strftime would name them in the process's locale, and an index must not depend on that


@dataclass(frozen=True, slots=True)
class Origin:
    """What all memories of one write share."""

    user_id: str
    agent_id: str = "default_agent"
    session_id: str = "default_session"
    source: str = "default"
    layer: Layer = Layer.L2_FACT
    tags: tuple[str, ...] = ()
    memory_at: float | None = None
    expires_at: float | None = None
    evidence_ids: tuple[str, ...] = ()


def record_of(
    draft: Draft, origin: Origin, memory_id: str, now: float, evidence: tuple[str, ...]
) -> MemoryRecord:
    """Return the record of one draft; `evidence` are the raw turns it comes from."""
    memory_at = origin.memory_at if draft.said_at is None else draft.said_at
    owner = draft.speaker or draft.role
    is_theirs = draft.role.lower() == _OWN_ROLE
    return MemoryRecord(
        id=memory_id,
        user_id=origin.user_id,
        content=draft.content,
        agent_id=origin.agent_id,
        session_id=origin.session_id,
        source=origin.source,
        layer=origin.layer,
        owner=owner,
        tags=tuple(dict.fromkeys((*origin.tags, *draft.tags))),
        attributes=dict(draft.metadata),
        context=keyword_context(draft.speaker, memory_at, draft.metadata),
        memory_at=memory_at,
        created_at=now,
        updated_at=now,
        expires_at=origin.expires_at,
        evidence_ids=(*origin.evidence_ids, *evidence),
        claims=claims_of(draft.content, origin.layer, owner, origin.user_id) if is_theirs else (),
    )


def claims_of(content: str, layer: Layer, owner: str, user_id: str) -> tuple[RecordClaim, ...]:
    """Return what a text says of its user, () where it is not plainly the user who speaks.

    The user speaks where the owner is the bare role, or a name that is the user's id. In a chat of two
    named people nobody knows which of them the memory belongs to.
    """
    is_own_voice = owner.lower() == _OWN_ROLE or fold(owner) == fold(user_id)
    if not is_own_voice or layer not in NORMAL_LAYERS or len(content) > _LONGEST_CLAIMING:
        return ()
    from hy_memory.profile.extract import basic_info  # 50 ms of rules, which only a writer needs

    return tuple(RecordClaim(one.field.value, one.value, one.is_past) for one in basic_info(content, True))


def raw_exchange(drafts: Sequence[Draft], memory_ids: Sequence[str]) -> str:
    """Return the exchange as JSON: role, name, content and the memory made of each message.

    The memory's id is kept beside its words so that deleting a memory can take them out here too.
    """
    turns = [
        {"role": draft.role, "name": draft.speaker, "content": draft.content, "memory_id": memory_id}
        for draft, memory_id in zip(drafts, memory_ids, strict=True)
    ]
    return json.dumps(turns, ensure_ascii=False)


def without_memory(exchange: str, memory_ids: frozenset[str]) -> str:
    """Return a raw exchange without the turns of `memory_ids`; "" when none is left."""
    turns: list[dict[str, str]] = json.loads(exchange)
    left = [turn for turn in turns if turn["memory_id"] not in memory_ids]
    return json.dumps(left, ensure_ascii=False) if left else ""


def with_renamed(exchange: str, renamed: Mapping[str, str]) -> str:
    """Return a raw exchange whose turns name other memories (those of a copy)."""
    turns: list[dict[str, str]] = json.loads(exchange)
    moved = [{**turn, "memory_id": renamed.get(turn["memory_id"], turn["memory_id"])} for turn in turns]
    return json.dumps(moved, ensure_ascii=False)


def keyword_context(speaker: str, memory_at: float | None, metadata: Mapping[str, Json]) -> str:
    """Return the words searched by keyword only: who, the day, and what a picture or place is called."""
    words = [speaker, _day(memory_at)]
    words.extend(value for key in _CONTEXT_KEYS if isinstance(value := metadata.get(key), str))
    return " ".join(word for word in words if word)


def _day(moment: float | None) -> str:
    """Return a day as people write it in a question, such as "7 May 2023"; "" beyond the calendar."""
    if moment is None:
        return ""
    try:
        day = datetime.fromtimestamp(moment, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
