"""Messages as chat backends send them, turned into drafts: one per message, text and speaker."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.values.check import storable, text, texts
from hy_memory.values.instant import to_epoch
from hy_memory.values.record import Json

_FIX = "give a text, or OpenAI-style messages such as [{'role': 'user', 'content': '…'}]"
_METADATA_DEPTH = 32  # deeper nesting is no metadata a person wrote, and would reach the recursion limit


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be: `speaker` is a person's name ("" where only a role is known).

    `supersedes` is the id of a memory whose place it is to take; `at` is the message's place among all.
    """

    content: str
    role: str = "user"
    speaker: str = ""
    said_at: float | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    supersedes: str | None = None
    at: int = 0


def parse_messages(data: object) -> tuple[Draft, ...]:
    """Return the drafts of a text, a message, or a list of messages, in order; blank messages are left out.

    A message is ``{"role", "content"}`` with optional ``name`` (the speaker's), ``timestamp``
    (when it was said), ``tags`` (beside those of the call), ``metadata``, and ``tool_calls``,
    which read as ``function(arguments)``. Calls and results of tools may stand as parts of a content or
    as items of their own too, as other services write them. Raises InvalidArgumentError where nothing
    that could be remembered is left.
    """
    if isinstance(data, str):
        return (Draft(text("data", data)),)
    if isinstance(data, Mapping):
        data = [data]
    if not isinstance(data, list | tuple):
        raise InvalidArgumentError("data", data, _FIX)
    drafts = [
        replace(_parse_message(f"data[{at}]", one), at=at)
        for at, one in enumerate(cast("Sequence[object]", data))
    ]
    kept = tuple(draft for draft in drafts if draft.content.strip())
    if not kept:
        raise InvalidArgumentError("data", data, f"there is no text to remember; {_FIX}")
    return kept


def parse_metadata(name: str, value: object) -> dict[str, Json]:
    """Return the caller's own fields as JSON values with storable texts; None gives none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(name, value, "give a mapping of text to JSON values")
    clean = _json(name, dict(cast("Mapping[object, object]", value)), 0)
    return cast("dict[str, Json]", clean)


def _parse_message(name: str, message: object) -> Draft:
    if isinstance(message, str):
        return Draft(storable(message))
    if not isinstance(message, Mapping):
        raise InvalidArgumentError(name, message, _FIX)
    fields = _as_message(cast("Mapping[str, object]", message))
    role, name_given = fields.get("role", "user"), fields.get("name")
    speaker = "" if name_given is None else name_given
    for key, value in (("role", role), ("name", speaker)):
        if not isinstance(value, str):
            raise InvalidArgumentError(f"{name}.{key}", value, "give a text")
    said_at = fields.get("timestamp")
    parts = [_content(f"{name}.content", fields.get("content")), _tool_calls(name, fields.get("tool_calls"))]
    return Draft(
        content=storable("\n".join(part for part in parts if part)),
        role=storable(str(role)),
        speaker=storable(str(speaker)).strip(),
        said_at=None if said_at is None else to_epoch(f"{name}.timestamp", said_at),
        tags=texts(f"{name}.tags", fields.get("tags")),
        metadata=parse_metadata(f"{name}.metadata", fields.get("metadata")),
    )


def _as_message(item: Mapping[str, object]) -> Mapping[str, object]:
    """Return a call or its result that stands as an item of its own as the message it would be."""
    kind = item.get("type")
    if kind in ("function_call", "custom_tool_call"):
        call = {"name": item.get("name"), "arguments": item.get("arguments", item.get("input", ""))}
        return {**item, "role": "assistant", "name": None, "content": None, "tool_calls": [call]}
    if kind in ("function_call_output", "custom_tool_call_output"):
        return {**item, "role": "tool", "content": item.get("output")}
    return item


def _content(name: str, content: object) -> str:
    """Return the text of a content: a text, None beside tool calls, or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InvalidArgumentError(name, content, "give a text, or a list of parts with a 'text' each")
    said: list[str] = []
    for part in cast("Sequence[object]", content):
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            said.append(_part(f"{name}.content", cast("Mapping[str, object]", part)))
        else:
            raise InvalidArgumentError(name, part, "a part is a text or a mapping")
    return "\n".join(one for one in said if one)


def _part(name: str, part: Mapping[str, object]) -> str:
    """Return what a part of a content reads as; pictures and audio hold nothing to search for."""
    if part.get("type") == "tool_use":
        return _tool_calls(name, [{"name": part.get("name"), "arguments": part.get("input", "")}])
    if part.get("type") == "tool_result":
        return _content(name, part.get("content"))
    words = part.get("text")
    return words if isinstance(words, str) else ""


def _tool_calls(name: str, calls: object) -> str:
    if calls is None:
        return ""
    if not isinstance(calls, list | tuple):
        raise InvalidArgumentError(f"{name}.tool_calls", calls, "give a list of tool calls")
    lines: list[str] = []
    for call in cast("Sequence[object]", calls):
        fields = cast("Mapping[str, object]", call) if isinstance(call, Mapping) else {}
        function = fields.get("function", fields)
        inner = cast("Mapping[str, object]", function) if isinstance(function, Mapping) else {}
        if not isinstance(inner.get("name"), str):
            raise InvalidArgumentError(f"{name}.tool_calls", call, "a tool call has a function with a name")
        arguments = inner.get("arguments", "")
        shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        lines.append(f"{inner['name']}({shown})")
    return "\n".join(lines)


def _json(name: str, value: object, depth: int) -> Json:
    """Return `value` with storable texts; anything JSON cannot hold exactly is refused by name."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(name, value, "give finite numbers")
        return value
    if depth >= _METADATA_DEPTH:
        raise InvalidArgumentError(name, "…", f"nest at most {_METADATA_DEPTH} levels deep")
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return [_json(f"{name}[{at}]", one, depth + 1) for at, one in enumerate(items)]
    if isinstance(value, Mapping):
        clean: dict[str, Json] = {}
        for key, one in cast("Mapping[object, object]", value).items():
            if not isinstance(key, str):
                raise InvalidArgumentError(name, key, "keys are text")
            clean[storable(key)] = _json(f"{name}.{key}", one, depth + 1)
        return clean
    raise InvalidArgumentError(
        name, value, "give JSON values: text, numbers, true/false, null, lists, mappings"
    )
