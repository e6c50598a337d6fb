"""A write as a value: every argument is checked before anything is touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hy_memory.errors import InvalidArgumentError
from hy_memory.ports import Embedder
from hy_memory.values import check
from hy_memory.values.instant import to_epoch
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Json, Layer
from hy_memory.values.vectors import unit_rows
from hy_memory.writing.compose import Origin
from hy_memory.writing.messages import Draft, parse_messages, parse_metadata

_NOT_WRITTEN = (Layer.L0_BASIC_INFO, Layer.L1_RAW)


@dataclass(frozen=True, slots=True)
class Changed:
    """What an update sets; None leaves a field as it is."""

    content: str | None = None
    tags: tuple[str, ...] | None = None
    attributes: dict[str, Json] | None = None
    memory_at: float | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class AddRequest:
    """Drafts of one origin. `keeps_raw` stores the exchange as L1 beside them; `is_pending` queues it.

    `request_id` is the caller's (then the write is idempotent) or ""; `content_hash` covers
    everything the caller passed.
    """

    drafts: tuple[Draft, ...]
    origin: Origin
    request_id: str
    content_hash: str
    keeps_raw: bool
    is_pending: bool = False


def conversation(data: object, *, metadata: object, request_id: object, **origin: object) -> AddRequest:
    """Return the request for `add`: a text or messages, the exchange kept raw beside the memories."""
    shared = parse_metadata("metadata", metadata)
    drafts = tuple(_with_metadata(draft, shared) for draft in parse_messages(data))
    return _request(drafts, parse_origin(**origin), request_id, keeps_raw=True)


def facts(contents: object, *, metadata: object, request_id: object, **origin: object) -> AddRequest:
    """Return the request for `add_extracted`: ready facts, each a text or ``{"content", …}``.

    A fact's ``supersedes`` names the memory whose place it takes.
    """
    if not isinstance(contents, list | tuple) or not contents:
        raise InvalidArgumentError("contents", contents, "give a non-empty list of texts")
    shared = parse_metadata("metadata", metadata)
    drafts = tuple(_with_metadata(_fact(f"contents[{at}]", one), shared) for at, one in enumerate(contents))
    return _request(drafts, parse_origin(**origin), request_id, keeps_raw=False)


def parse_origin(
    *,
    user_id: object,
    agent_id: object,
    session_id: object,
    source: object,
    tags: object,
    layer: object,
    memory_at: object,
    expires_at: object,
    evidence_ids: object,
) -> Origin:
    """Return whose memories these are, from where, and of what kind."""
    return Origin(
        user_id=check.identifier("user_id", user_id),
        agent_id=check.identifier("agent_id", agent_id),
        session_id=check.identifier("session_id", session_id),
        source=check.source_name("source", source),
        layer=_layer(layer),
        tags=check.texts("tags", tags),
        memory_at=None if memory_at is None else to_epoch("memory_at", memory_at),
        expires_at=None if expires_at is None else to_epoch("expires_at", expires_at),
        evidence_ids=check.optional_identifiers("evidence_ids", evidence_ids),
    )


def parse_changes(
    content: object, tags: object, metadata: object, memory_at: object, expires_at: object
) -> Changed:
    """Return what an update sets; at least one field must be given."""
    if all(one is None for one in (content, tags, metadata, memory_at, expires_at)):
        raise InvalidArgumentError(
            "content", content, "give what to change: content, tags, metadata or a time"
        )
    return Changed(
        content=None if content is None else check.text("content", content),
        tags=None if tags is None else check.texts("tags", tags),
        attributes=None if metadata is None else parse_metadata("metadata", metadata),
        memory_at=None if memory_at is None else to_epoch("memory_at", memory_at),
        expires_at=None if expires_at is None else to_epoch("expires_at", expires_at),
    )


def parse_vectors(name: str, value: object, count: int, embedder: Embedder) -> FloatArray | None:
    """Return the caller's own vectors (count, dims) at unit length; None where they are to be made."""
    return None if value is None else unit_rows(name, value, count, embedder.dims)


def _layer(layer: object) -> Layer:
    if layer is None:
        return Layer.L2_FACT
    allowed = [one.value for one in Layer if one not in _NOT_WRITTEN]
    if not isinstance(layer, str) or layer not in allowed:
        raise InvalidArgumentError("layer", layer, f"give one of {', '.join(allowed)}")
    return Layer(str(layer))


def _fact(name: str, value: object) -> Draft:
    if isinstance(value, str):
        return Draft(check.text(name, value))
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(name, value, "give a text, or a mapping with 'content'")
    check.text(f"{name}.content", value.get("content"))
    superseded = check.optional_identifier(f"{name}.supersedes", value.get("supersedes"))
    return replace(parse_messages(dict(value))[0], supersedes=superseded)


def _with_metadata(draft: Draft, shared: Mapping[str, Json]) -> Draft:
    """Return the draft with the call's metadata under its own, which wins."""
    return replace(draft, metadata={**shared, **draft.metadata}) if shared else draft


def _request(drafts: tuple[Draft, ...], origin: Origin, request_id: object, *, keeps_raw: bool) -> AddRequest:
    known = parse_request_id(request_id)
    return AddRequest(drafts, origin, known, content_hash(drafts, origin) if known else "", keeps_raw)


def parse_request_id(value: object) -> str:
    """Return the caller's id of a write, "" where it has none."""
    return "" if value is None else check.identifier("request_id", value)


def content_hash(drafts: tuple[Draft, ...], origin: Origin, beside: str = "") -> str:
    """Return a digest of everything a caller passed; `beside` is what else there was."""
    told = [[d.content, d.role, d.speaker, d.said_at, d.tags, dict(d.metadata)] for d in drafts]
    for one, draft in zip(told, drafts, strict=True):
        if draft.supersedes is not None:  # only then: outcomes stored before there was such a key stay valid
            one.append(draft.supersedes)
    whole = json.dumps([told, repr(origin), *([beside] if beside else [])], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()
