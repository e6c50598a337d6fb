"""What the ledger's contract stores: entries by the word, and records with everything in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import EVERYTHING, Compare, Filter, Op
from hy_memory.ports import Ledger
from hy_memory.testing.strategies import ODD_IDS, payloads
from hy_memory.values.point import FloatArray, Payload, Point, TermVector
from hy_memory.values.record import Json, Layer, MemoryRecord, RecordClaim, Status
from hy_memory.values.write import EmbedderIdentity, Entry, ListQuery

DIMS = 8
IDENTITY = EmbedderIdentity("first", DIMS, "print-1")
ALL = ListQuery(limit=10_000, offset=0, ascending=True)
DAY = 1_700_000_000.0


def vector(seed: int, dims: int = DIMS) -> FloatArray:
    """Return some unit vector (dims,)."""
    row = np.random.default_rng(seed).standard_normal(dims).astype(np.float32)
    return (row / np.linalg.norm(row)).astype(np.float32)


def terms(*ids: int) -> TermVector:
    """Return a term vector of weights 0.5."""
    return TermVector(np.array(ids, np.uint32), np.full(len(ids), 0.5, np.float32))


def entry(memory_id: str, user_id: str, content: str = "likes tea", **fields: object) -> Entry:
    """Return a searchable entry; `fields` are those of the record."""
    record = replace(
        MemoryRecord(memory_id, user_id, content, created_at=DAY, updated_at=DAY),
        **fields,  # type: ignore[arg-type]
    )
    return Entry(record, vector(len(memory_id) + sum(map(ord, memory_id))), terms(3, 5, 1 << 31))


def kept(memory_id: str, user_id: str, content: str = "user: I like tea", **fields: object) -> Entry:
    """Return a raw turn, which is kept and never searched."""
    return Entry(entry(memory_id, user_id, content, layer=Layer.L1_RAW, **fields).record)


def updated(old: Entry, content: str, at: float = DAY + 60) -> Entry:
    """Return the next version of an entry with another text."""
    record = replace(old.record, content=content, updated_at=at, version=old.record.version + 1)
    return Entry(record, old.vector, old.terms)


def whole(*user_ids: str) -> ScopedFilter:
    """Return the scope of everything of some users."""
    return scoped(user_ids, EVERYTHING)


def within(user_id: str, field: str, value: str) -> ScopedFilter:
    """Return the scope of a user's records with one value."""
    return scoped((user_id,), Compare(field, Op.EQ, value))


def listed(ledger: Ledger, user_id: str, tree: Filter = EVERYTHING) -> list[str]:
    """Return a user's ids, oldest first."""
    return [record.id for record in ledger.page(scoped((user_id,), tree), ALL).records]


def point_bytes(points: Sequence[Point]) -> dict[str, tuple[bytes, bytes, bytes, Payload]]:
    """Return points in a form that can be compared bit by bit."""
    return {
        one.id: (one.vector.tobytes(), one.terms.ids.tobytes(), one.terms.weights.tobytes(), one.payload)
        for one in points
    }


def texts() -> st.SearchStrategy[str]:
    """Every text that all engines can hold (the writing stage replaces NUL and lone surrogates)."""
    anything = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
    odd = ("", " ", "👨‍👩‍👧 🇫🇷", "\u202eabc", "cafe\u0301", "a\r\nb")
    return st.one_of(anything, st.sampled_from((*ODD_IDS, *odd)))


def json_values() -> st.SearchStrategy[Json]:
    """Nested JSON with what is easily lost: big integers, every finite float, odd keys, lone surrogates."""
    numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
    strings = st.one_of(st.text(max_size=8), st.sampled_from(["\ud83d", "\0"]))
    flat = st.one_of(st.none(), st.booleans(), numbers, strings)
    return st.recursive(
        flat,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=6,
    )


@st.composite
def records(draw: st.DrawFn, memory_id: str, user_id: str) -> MemoryRecord:
    """Draw a record in which every field varies over everything it may hold."""
    moments = st.floats(-1e11, 1e11)
    names = st.lists(texts(), max_size=3).map(tuple)
    return MemoryRecord(
        memory_id,
        user_id,
        content=draw(texts()),
        agent_id=draw(texts()),
        session_id=draw(texts()),
        source=draw(texts()),
        layer=draw(st.sampled_from(tuple(Layer))),
        owner=draw(texts()),
        tags=draw(names),
        attributes=draw(st.dictionaries(texts(), json_values(), max_size=3)),
        context=draw(texts()),
        memory_at=draw(st.one_of(st.none(), moments)),
        created_at=draw(moments),
        updated_at=draw(moments),
        expires_at=draw(st.one_of(st.none(), moments)),
        status=draw(st.sampled_from(tuple(Status))),
        supersedes=draw(st.one_of(st.none(), texts())),
        superseded_by=draw(st.one_of(st.none(), texts())),
        evidence_ids=draw(names),
        version=draw(st.integers(1, 2**31)),
        claims=draw(st.lists(st.builds(RecordClaim, texts(), texts(), st.booleans()), max_size=2).map(tuple)),
    )


@st.composite
def filterable(draw: st.DrawFn, prefix: str, user_ids: Sequence[str]) -> list[MemoryRecord]:
    """Draw records whose payloads come from the pools that `strategies.filters` asks about."""
    return [
        MemoryRecord(
            f"{prefix}/{number}",
            one.user_id,
            "text",
            agent_id=one.agent_id,
            session_id=one.session_id,
            source=one.source,
            layer=one.layer,
            tags=one.tags,
            attributes=one.attributes,
            memory_at=None if one.event_at == one.created_at else one.event_at,
            created_at=one.created_at,
            expires_at=one.expires_at,
            status=one.status,
        )
        for number, one in enumerate(draw(st.lists(payloads(user_ids), max_size=12)))
    ]
