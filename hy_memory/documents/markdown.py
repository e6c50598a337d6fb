"""Markdown, without its marks: headings, paragraphs, items and code as they would be read out."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

from hy_memory.documents.text import decoded


def read(data: bytes) -> tuple[str, str]:
    """Return the text, and the first heading of the first level as title."""
    tokens = MarkdownIt("commonmark").enable("table").parse(decoded(data))
    parts: list[str] = []
    title, level = "", ""
    for token in tokens:
        if token.type == "heading_open":
            level = token.tag
        elif token.type == "inline":
            said = _said(token)
            if level == "h1" and not title:
                title = said
            level = ""
            parts.append(said)
        elif token.type in ("fence", "code_block"):
            parts.append(token.content.rstrip("\n"))
    return "\n\n".join(part for part in parts if part.strip()), title


def _said(token: Token) -> str:
    """Return the words of a line, of links and pictures what they are called."""
    words: list[str] = []
    for one in token.children or ():
        if one.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif one.type == "image":
            words.append(_said(one) or one.content)
        elif one.type in ("text", "code_inline"):
            words.append(one.content)
    return "".join(words)
