"""From one value of a file to what is written of it, checked by the same rules as the client's verbs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.importers.files import Unreadable, is_conversation, is_memory, is_message
from hy_memory.writing.request import conversation, facts

_MESSAGE_KEYS = ("role", "content", "name", "timestamp", "metadata", "tool_calls")
_MEMORY_KEYS = ("content", "name", "metadata")
_ORIGIN_KEYS = ("user_id", "agent_id", "session_id", "source", "tags")
_CHAT_KEYS = (*_ORIGIN_KEYS, "metadata")
_LINE_KEYS = (*_ORIGIN_KEYS, "layer", "expires_at")
_TIMES = ("memory_at", "timestamp")  # two names of one thing; the first that is there counts


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose memories a file holds where it does not say so itself."""

    user_id: str
    agent_id: str = "default_agent"
    session_id: str = "default_session"
    source: str = "default"


@dataclass(frozen=True, slots=True)
class Unit:
    """What one place of a file holds: messages or ready memories, all of one origin.

    `origin` are the keyword arguments they share. `stands_alone` says that this is a whole
    conversation, which is written by itself; other units of one origin are written together.
    `ignored` are keys that nobody reads.
    """

    number: int
    is_chat: bool
    stands_alone: bool
    origin: Mapping[str, object]
    elements: tuple[object, ...]
    ignored: tuple[str, ...]

    @property
    def key(self) -> str:
        """A text that is the same for equal origins alone."""
        return json.dumps([self.is_chat, self.origin], sort_keys=True)


def to_unit(number: int, value: object, origin: Origin) -> Unit:
    """Return what is to be written of a value.

    Raises InvalidArgumentError, naming the field, where the value is nothing that could be remembered.
    """
    if isinstance(value, Unreadable):
        raise InvalidArgumentError("", value.start, value.reason)
    if is_memory(value):
        return _memory(number, cast("Mapping[str, object]", value), origin)
    if is_message(value):
        return _message(number, cast("Mapping[str, object]", value), origin)
    if is_conversation(value):
        return _conversation(number, value, origin)
    raise InvalidArgumentError("", value, "give a memory with 'content', or a chat with 'messages'")


def _memory(number: int, value: Mapping[str, object], origin: Origin) -> Unit:
    said_at, time_key = _time(value)
    element = {key: value[key] for key in _MEMORY_KEYS if value.get(key) is not None}
    if said_at is not None:
        element["timestamp"] = said_at
    shared = _origin(value, _LINE_KEYS, origin)
    facts([element], request_id=None, **_filled(shared))
    ignored = _others(value, (*_MEMORY_KEYS, *_LINE_KEYS, time_key))
    return Unit(
        number, is_chat=False, stands_alone=False, origin=shared, elements=(element,), ignored=ignored
    )


def _message(number: int, value: Mapping[str, object], origin: Origin) -> Unit:
    element = {key: value[key] for key in _MESSAGE_KEYS if key in value}
    shared = _origin(value, _ORIGIN_KEYS, origin)
    _check_chat([element], shared)
    ignored = _others(value, (*_MESSAGE_KEYS, *_ORIGIN_KEYS))
    return Unit(number, is_chat=True, stands_alone=False, origin=shared, elements=(element,), ignored=ignored)


def _conversation(number: int, value: object, origin: Origin) -> Unit:
    fields = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"messages": value}
    messages = fields["messages"]
    if not isinstance(messages, list) or not messages:
        raise InvalidArgumentError("messages", messages, "give a non-empty list of messages")
    shared = _origin(fields, _CHAT_KEYS, origin)
    said_at, time_key = _time(fields)
    if said_at is not None:
        shared["memory_at"] = said_at
    kept = tuple(one for one in cast("list[object]", messages) if not _is_silent(one))
    _check_chat(kept or cast("list[object]", messages), shared)
    ignored = _others(fields, ("messages", *_CHAT_KEYS, time_key))
    return Unit(number, is_chat=True, stands_alone=True, origin=shared, elements=kept, ignored=ignored)


def _check_chat(messages: Sequence[object], shared: Mapping[str, object]) -> None:
    conversation(list(messages), request_id=None, **_filled(shared))


def _time(value: Mapping[str, object]) -> tuple[object, str]:
    for name in _TIMES:
        if value.get(name) is not None:
            return value[name], name
    return None, _TIMES[0]


def _origin(value: Mapping[str, object], keys: Sequence[str], origin: Origin) -> dict[str, object]:
    given = {key: value[key] for key in keys if value.get(key) is not None}
    return {
        "user_id": origin.user_id,
        "agent_id": origin.agent_id,
        "session_id": origin.session_id,
        "source": origin.source,
        **given,
    }


def _filled(shared: Mapping[str, object]) -> dict[str, object]:
    """Return the keyword arguments of a write with None for those that the file leaves open."""
    nothing = dict.fromkeys(("tags", "layer", "memory_at", "expires_at", "evidence_ids", "metadata"))
    return {**nothing, **shared}


def _others(value: Mapping[str, object], known: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in value if key not in known and value[key] is not None)


def _is_silent(message: object) -> bool:
    """Return whether a message holds no text at all, such as the empty frame of a picture."""
    if not isinstance(message, Mapping):
        return False
    fields = cast("Mapping[str, object]", message)
    content = fields.get("content")
    return not fields.get("tool_calls") and (
        content is None or content == [] or (isinstance(content, str) and not content.strip())
    )
