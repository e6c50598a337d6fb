"""From a file or its bytes to a text with a title; the format is told, or recognised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.plugins import DOCUMENTS, load

_SUFFIXES = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
_LARGEST = 200 << 20  # bytes: more is no document that anybody reads


@dataclass(frozen=True, slots=True)
class Document:
    """What stands in a document; `title` is "" where it has none, `name` the file's, "" for bytes."""

    text: str
    title: str
    format: str
    name: str


Reader = Callable[[bytes], tuple[str, str]]
"""From a document's bytes to its text and title; raises ValueError that says what is wrong with it."""


def read_document(given: object, format: object = None) -> Document:
    """Return what stands in a file (a path) or in bytes.

    Raises InvalidArgumentError for what cannot be read, and for a URL: nothing is fetched; MissingExtraError
    where a format needs the extra `documents`.
    """
    data, name = _bytes(given)
    kind = _format(format, name, data)
    reader = cast("Reader", load(DOCUMENTS[kind]))
    try:
        text, title = reader(data)
    except ValueError as error:
        fix = f"this is no {kind} to read: {error}"
        raise InvalidArgumentError("document", name or "bytes", fix) from error
    if not text.strip():
        fix = "it holds no text; a scanned document must go through text recognition first"
        raise InvalidArgumentError("document", name or "bytes", fix)
    return Document(text, title.strip(), kind, name)


def _bytes(given: object) -> tuple[bytes, str]:
    if isinstance(given, bytes | bytearray):
        return bytes(given), ""
    if not isinstance(given, str | Path) or not str(given).strip():
        raise InvalidArgumentError("document", given, "give a path, or the document's bytes")
    if "://" in str(given):
        raise InvalidArgumentError("document", given, "nothing is fetched: give a path, or the bytes")
    path = Path(given).expanduser()
    try:
        if path.stat().st_size > _LARGEST:
            fix = f"it is larger than {_LARGEST >> 20} MiB; split it"
            raise InvalidArgumentError("document", str(path), fix)
        return path.read_bytes(), path.name
    except (OSError, ValueError) as error:
        raise InvalidArgumentError("document", str(path), f"the file cannot be read: {error}") from error


def _format(given: object, name: str, data: bytes) -> str:
    if given is not None:
        if not isinstance(given, str) or given not in DOCUMENTS:
            raise InvalidArgumentError("format", given, f"give one of {', '.join(DOCUMENTS)}")
        return str(given)
    start = data[:1024].lstrip()
    if start.startswith(b"%PDF-"):
        return "pdf"
    if start.startswith(b"PK\x03\x04"):
        return "docx"
    known = _SUFFIXES.get(Path(name).suffix.lower())
    if known is not None:
        return known
    lowered = start.lower()
    return "html" if lowered.startswith((b"<!doctype html", b"<html")) else "text"
