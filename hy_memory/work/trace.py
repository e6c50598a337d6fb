"""What an agent did, read from its messages: who said what, which tools were called, and how that went."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from hy_memory.values.check import storable
from hy_memory.work.failure import says_failed

_DEPTH = 8  # of arguments; lists of edits are nested three deep
_SHOWN = 200  # characters of a call's arguments that tell what kind of work it was


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. `result` is None where the messages do not hold it."""

    id: str
    name: str
    arguments: Mapping[str, object]
    result: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One message: its place in the conversation, who said it, its words, and the tools it called."""

    at: int
    role: str
    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A conversation in order; results of tools stand with their calls, not as steps of their own."""

    steps: tuple[Step, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, in order."""
        return tuple(call for step in self.steps for call in step.calls)

    def renumbered(self, places: Mapping[int, int]) -> Trace:
        """Return the same trace with other numbers of its messages; those without one are left out."""
        kept = [replace(step, at=places[step.at]) for step in self.steps if step.at in places]
        return Trace(tuple(kept))

    def told(self) -> tuple[str, ...]:
        """Return what was said and called, a line each, for a reader who needs no results."""
        lines: list[str] = []
        for step in self.steps:
            if step.text.strip():
                lines.append(f"{step.role}: {step.text}")
            lines += [
                f"{step.role} called {call.name}: {str(dict(call.arguments))[:_SHOWN]}" for call in step.calls
            ]
        return tuple(lines)

    def since(self, at: int) -> Trace:
        """Return the trace from message `at` on."""
        return Trace(tuple(step for step in self.steps if step.at >= at))

    def said(self, role: str) -> tuple[str, ...]:
        """Return what one role said, without blank messages."""
        return tuple(step.text for step in self.steps if step.role == role and step.text.strip())


@dataclass(slots=True)
class _Read:
    """What one message holds, in whichever of the usual forms."""

    texts: list[str] = field(default_factory=list[str])
    calls: list[Call] = field(default_factory=list[Call])
    results: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])


def parse_trace(data: object) -> Trace:
    """Return the trace of messages as OpenAI or Anthropic write them; what is no message is passed over.

    `writing.messages.parse_messages` has checked the same data before: here nothing is refused.
    """
    messages = [data] if isinstance(data, str | Mapping) else data
    steps: list[Step] = []
    results: dict[str, tuple[str, bool]] = {}
    for at, message in enumerate(cast("Sequence[object]", messages)):
        if isinstance(message, str):
            steps.append(Step(at, "user", storable(message)))
        elif isinstance(message, Mapping):
            fields = cast("Mapping[str, object]", message)
            role, read = _role(fields), _read(fields)
            results.update({call_id: (text, failed) for call_id, text, failed in read.results})
            if role != "tool" and (read.texts or read.calls):
                steps.append(Step(at, role, "\n".join(read.texts), tuple(read.calls)))
    return Trace(tuple(_with_results(step, results) for step in steps))


def has_tools(data: object) -> bool:
    """Return whether messages hold the call or the result of a tool."""
    if isinstance(data, str) or not isinstance(data, Sequence | Mapping):
        return False
    messages = [data] if isinstance(data, Mapping) else data
    for message in cast("Sequence[object]", messages):
        if isinstance(message, Mapping):
            fields = cast("Mapping[str, object]", message)
            read = _read(fields)
            if read.calls or read.results or _role(fields) == "tool":
                return True
    return False


def _role(fields: Mapping[str, object]) -> str:
    kind = fields.get("type")
    if kind in ("function_call", "custom_tool_call"):
        return "assistant"
    if kind in ("function_call_output", "custom_tool_call_output"):
        return "tool"
    role = str(fields.get("role", "user")).lower()
    return "tool" if role == "function" else role


def _read(fields: Mapping[str, object]) -> _Read:
    read = _Read()
    kind, role = fields.get("type"), _role(fields)
    if kind in ("function_call", "custom_tool_call"):
        read.calls.append(_call(fields.get("call_id"), fields.get("name"), _arguments_of(fields)))
        return read
    content = fields["output"] if role == "tool" and "output" in fields else fields.get("content")
    if role == "tool":
        named = fields.get("tool_call_id", fields.get("call_id", ""))
        read.results.append(_result(named, content, fields.get("is_error")))
        return read
    for part in content if isinstance(content, list | tuple) else [content]:
        _read_part(part, read)
    for call in _sequence(fields.get("tool_calls")):
        inner = _mapping(_mapping(call).get("function", call))
        read.calls.append(_call(_mapping(call).get("id"), inner.get("name"), inner.get("arguments")))
    return read


def _read_part(part: object, read: _Read) -> None:
    if isinstance(part, str):
        read.texts.append(storable(part))
        return
    fields = _mapping(part)
    if fields.get("type") == "tool_use":
        read.calls.append(_call(fields.get("id"), fields.get("name"), fields.get("input")))
    elif fields.get("type") == "tool_result":
        named, content = fields.get("tool_use_id"), fields.get("content")
        read.results.append(_result(named, content, fields.get("is_error")))
    elif isinstance(fields.get("text"), str):
        read.texts.append(storable(str(fields["text"])))


def _call(call_id: object, name: object, arguments: object) -> Call:
    kept = {storable(str(key)): _storable(value) for key, value in _as_mapping(arguments).items()}
    return Call(str(call_id or ""), storable(str(name or "")), kept)


def _result(call_id: object, content: object, flagged: object) -> tuple[str, str, bool]:
    text = storable(plain_text(content))
    failed = flagged is True or says_failed(text)
    return str(call_id or ""), text, failed


def plain_text(content: object) -> str:
    """Return the words of a content: a text, or parts of which some have texts."""
    if isinstance(content, str):
        return content
    return "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    for part in _sequence(content):
        text = part if isinstance(part, str) else _mapping(part).get("text")
        if isinstance(text, str):
            yield text


def _with_results(step: Step, results: Mapping[str, tuple[str, bool]]) -> Step:
    if not step.calls:
        return step
    calls = [
        replace(call, result=results[call.id][0], failed=results[call.id][1]) if call.id in results else call
        for call in step.calls
    ]
    return replace(step, calls=tuple(calls))


def _arguments_of(fields: Mapping[str, object]) -> object:
    return fields.get("arguments", fields.get("input"))


def _as_mapping(arguments: object) -> Mapping[str, object]:
    """Return arguments as a mapping: JSON text is read, any other text stands under "input"."""
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except ValueError:  # a patch or a script, as some tools take it; RecursionError is one too deep
            return {"input": arguments}
        except RecursionError:
            return {"input": arguments}
        return cast("Mapping[str, object]", read) if isinstance(read, dict) else {"input": arguments}
    return _mapping(arguments)


def _storable(value: object, depth: int = 0) -> object:
    """Return an argument with storable texts; what is nested deeper than lists of edits is left out."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        inner = cast("Sequence[object]", value) if depth < _DEPTH else ()
        return [_storable(one, depth + 1) for one in inner]
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value) if depth < _DEPTH else {}
        return {storable(str(key)): _storable(one, depth + 1) for key, one in fields.items()}
    return value


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
