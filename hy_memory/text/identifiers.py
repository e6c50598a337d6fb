"""Identifiers and code in running text: addresses, paths, versions, tickets, symbols.

Their punctuation is part of them, so keys keep it; only what nobody means is dropped (`https://`,
`www.`, a trailing slash, the `v` of a version).  Code symbols lose case and underscores:
`foo_bar`, `fooBar` and `FooBar` are one thing under three conventions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hy_memory.text.entity import Entity, EntityKind, Mention
from hy_memory.text.normalize import fold

# Of which every identifier holds one: most texts have none and are done after the first.
_HINT = re.compile(r"[`@/\\_#(0-9]|\.\w|[a-z][A-Z]|C\+")
_MARK = re.compile(
    r"[`@/\\_#]|\w\(|\w\.\w|\d[ -]?\d{5}|\d-|-\d|\b[a-z]+[A-Z]|\d[a-f]|[a-f]\d|C\+\+", re.ASCII
)
_FILE = (
    "md|txt|py|js|ts|tsx|jsx|json|ya?ml|toml|csv|tsv|html?|css|scss|java|kt|go|rs|c|cc|cpp|h|hpp|cs|rb|php|sh|sql|xml|"
    "pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|zip|tar|gz|log|ini|cfg|env|lock|ipynb|db"
)
_PATTERN = re.compile(
    r"`(?P<code>[^`\n]{1,60})`"
    r"|(?P<url>https?://[^\s<>\"'，。；）)\]]+|www\.[^\s<>\"'，。；）)\]]+)"
    r"|(?<![\w.+-])(?P<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    r"|(?<![\w/])(?P<handle>@[A-Za-z_]\w{2,30})\b"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    rf"|(?<![\w/.])(?P<path>(?:~|\.{{1,2}})?/[\w.@-]+(?:/[\w.@-]+)+/?"
    rf"|[A-Za-z]:\\[\w.\\ -]*\w|(?<!-)[\w.-]{{1,64}}(?:/[\w.-]{{1,64}}){{0,16}}\.(?:{_FILE})\b(?![.\w]))"
    r"|(?<![\w.])(?P<version>v\d+(?:\.\d+)+(?:[-+.]?(?:rc|alpha|beta|dev|post)\.?\d*)?"
    r"|\d+\.\d+\.\d+(?:\.\d+)?(?:-?(?:rc|alpha|beta|dev)\.?\d*)?)(?![\w.]*\w)"
    r"|(?<![\w-])(?P<ticket>[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d{1,7})(?![\w-])"
    r"|\b(?P<hash>(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64})\b"
    r"|(?<![\w.+-])(?!\d{4}-\d{4}\b)(?P<number>\+?\d[\d -]{5,16}\d)(?![\w-]|[.,:]\d)"
    r"|(?<![\w.])(?P<symbol>[A-Za-z_]\w{0,60}(?:\.\w{1,60}){0,6}\(\)|[A-Za-z]\w{0,60}_\w+|_+[a-z]\w*"
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?=\.\w|\()"
    r"|C\+\+|C#|F#)(?![\w#+])",
    re.ASCII,
)
_CODE_GROUPS = frozenset({"code", "symbol"})
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)
_NO_CODE = re.compile(r"[`\s_]+")
_DIGITS = re.compile(r"\D+")
# Lower camel by brand, not by code; they are names of things.
_BRANDS = re.compile(r"(?:i[A-Z][a-z]+|eBay|mRNA|macOS|iOS|dB|kWh|pH)\Z")


def identifiers(text: str) -> Iterator[Mention]:
    """Yield the identifiers and code symbols of normalised `text`, in order."""
    if _HINT.search(text) is None or _MARK.search(text) is None:
        return
    for found in _PATTERN.finditer(text):
        group = found.lastgroup or ""
        surface = found[group].rstrip(".,;:!?" if group != "code" else " ")
        key = _key(group, surface)
        if key:
            kind = EntityKind.CODE if group in _CODE_GROUPS else EntityKind.IDENTIFIER
            start = found.start(group)
            yield Mention(Entity(kind, surface, key), start, start + len(surface))


def _key(group: str, surface: str) -> str:
    if group in _CODE_GROUPS:
        return "" if _BRANDS.match(surface) else fold(_NO_CODE.sub("", surface.removesuffix("()")))
    if group == "number":
        digits = _DIGITS.sub("", surface)
        return digits if 7 <= len(digits) <= 18 else ""
    if group == "url":
        return fold(_SCHEME.sub("", surface)).rstrip("/")
    if group == "version":
        return fold(surface).removeprefix("v")
    return fold(surface).rstrip("/")
