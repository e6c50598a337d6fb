"""A file as a stream of JSON values with their places, whatever of the known shapes it has.

A file of lines is never held whole. A single JSON document is: JSON cannot be read in parts without
a parser of its own, and chats that are exported as one document are small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

from hy_memory.errors import InvalidArgumentError

LONGEST_LINE = 64 << 20
"""Bytes of one line. A longer "line" is a file of another kind, and would be held in memory whole."""
_BOM = b"\xef\xbb\xbf"


class Shape(StrEnum):
    """What kind of file it is."""

    CHAT = "chat JSON: one conversation"
    CHATS = "chat JSON: a list of conversations"
    CHAT_LINES = "chat JSONL: a conversation in each line"
    MEMORIES = "memories: a JSON list"
    MEMORY_LINES = "memories: JSONL, one in each line"

    @property
    def is_chat(self) -> bool:
        """Whether it holds conversations."""
        return self in (Shape.CHAT, Shape.CHATS, Shape.CHAT_LINES)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place whose bytes are no JSON value: why, and how they begin."""

    reason: str
    start: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """One value of a file: `number` counts lines (or list elements) from 1; `end` is the byte behind it."""

    number: int
    value: object
    end: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A recognised file: `unit` is what a place is called ("line" or "element")."""

    shape: Shape
    unit: str
    size: int
    places: Callable[[], Iterator[Place]]


def open_file(path: Path) -> Opened:
    """Return the file's shape and a way to read it.

    Raises InvalidArgumentError where it cannot be read, is empty, or is none of the known shapes.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            first, is_only = _first_line(stream)
    except OSError as error:
        raise InvalidArgumentError("file", str(path), f"it cannot be read: {error.strerror}") from error
    if not first:
        raise InvalidArgumentError("file", str(path), "it is empty")
    value = parse(first)
    if isinstance(value, Unreadable) and first[:1] in (b"[", b"{") and _is_cut_off(first):
        return _document(path, size, None)
    if is_only and not isinstance(value, Unreadable):
        return _document(path, size, value)
    shape = Shape.MEMORY_LINES if is_memory(value) else Shape.CHAT_LINES
    if isinstance(value, Unreadable):  # the first good line tells what the file holds
        shape = _shape_of_lines(path, value)
    elif not (is_memory(value) or is_conversation(value)):
        raise _unknown(path)
    return Opened(shape, "line", size, lambda: _lines(path))


def parse(line: bytes) -> object:
    """Return the JSON value of a line, or why there is none."""
    try:
        return cast("object", json.loads(line.decode("utf-8")))
    except UnicodeDecodeError as error:
        return Unreadable(f"it is not UTF-8 (byte {error.start + 1})", _start(line))
    except json.JSONDecodeError as error:
        return Unreadable(f"it is not JSON: {error.msg} (character {error.pos + 1})", _start(line))
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        return Unreadable("it nests too deeply, or holds too long a number", _start(line))


def is_conversation(value: object) -> bool:
    """Return whether `value` is a list of messages, a mapping with `messages`, or a single message."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return bool(items) and all(is_message(one) for one in items)
    return isinstance(value, Mapping) and ("messages" in value or is_message(cast("object", value)))


def is_message(value: object) -> bool:
    """Return whether `value` is an OpenAI-style message."""
    return isinstance(value, Mapping) and "role" in value and ("content" in value or "tool_calls" in value)


def is_memory(value: object) -> bool:
    """Return whether `value` is a ready memory: it has a content and no role."""
    return (
        isinstance(value, Mapping) and "content" in value and "role" not in value and "messages" not in value
    )


def _document(path: Path, size: int, value: object) -> Opened:
    if value is None:
        value = parse(path.read_bytes().removeprefix(_BOM))
    if isinstance(value, Unreadable):
        raise InvalidArgumentError("file", str(path), f"{value.reason}; it was read as one JSON document")
    if is_conversation(value):
        return Opened(Shape.CHAT, "conversation", size, lambda: iter([Place(1, value, size)]))
    if is_memory(value):
        return Opened(Shape.MEMORY_LINES, "line", size, lambda: iter([Place(1, value, size)]))
    items = cast("list[object]", value) if isinstance(value, list) else []
    if not items:
        raise _unknown(path)
    if is_conversation(items[0]):
        shape = Shape.CHATS
    elif is_memory(items[0]):
        shape = Shape.MEMORIES
    else:
        raise _unknown(path)
    return Opened(shape, "element", size, lambda: _elements(items, size))


def _elements(items: list[object], size: int) -> Iterator[Place]:
    for at, item in enumerate(items, 1):
        yield Place(at, item, size * at // len(items))


def _lines(path: Path) -> Iterator[Place]:
    with path.open("rb") as stream:
        end = 0
        for number, line in enumerate(_raw_lines(stream), 1):
            end += len(line)
            text = (line.removeprefix(_BOM) if number == 1 else line).strip()
            if len(line) > LONGEST_LINE:
                yield Place(number, Unreadable(f"it is longer than {LONGEST_LINE >> 20} MiB"), end)
                return  # what follows is the rest of it
            if text:
                yield Place(number, parse(text), end)


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(LONGEST_LINE + 1):
        yield line


def _first_line(stream: BinaryIO) -> tuple[bytes, bool]:
    """Return the first line that is not blank, and whether it is the only one."""
    first = b""
    for line in _raw_lines(stream):
        text = line.removeprefix(_BOM).strip()
        if text and first:
            return first, False
        first = first or text
    return first, True


def _shape_of_lines(path: Path, first: Unreadable) -> Shape:
    for place in _lines(path):
        if is_memory(place.value):
            return Shape.MEMORY_LINES
        if is_conversation(place.value):
            return Shape.CHAT_LINES
    raise InvalidArgumentError("line 1", first.start, f"{first.reason}; no other line holds a memory either")


def _start(line: bytes) -> str:
    return line[:60].decode("utf-8", "replace")


def _is_cut_off(line: bytes) -> bool:
    """Return whether the value that begins in `line` may go on in the next one."""
    text = line.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        return False
    return False


def _unknown(path: Path) -> InvalidArgumentError:
    return InvalidArgumentError(
        "file",
        str(path),
        "give OpenAI-style chats ([{'role': …, 'content': …}], {'messages': […]}, or such a value in each "
        "line), or memories as JSONL ({'content': …} in each line)",
    )
