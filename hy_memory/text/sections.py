"""A long text in sections, cut where it hurts least."""

from __future__ import annotations

import re

LENGTH = 3000
"""Characters of a section: some 750 tokens, which every embedder reads to the end."""
_ENDS = (
    re.compile(r"\n\s*\n\s*"),  # a paragraph's
    re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？][”’」』）]*|\n"),  # a sentence's, or a line's
    re.compile(r"\s+"),  # a word's
)


def sections(text: str, length: int = LENGTH) -> list[str]:
    """Return `text` in parts of at most `length` characters that make it up, one after the other.

    A part ends with a paragraph, where one ends in its second half; else with a sentence, else with a word,
    else at its full length.
    """
    parts: list[str] = []
    start = 0
    while len(text) - start > length:
        end = _end(text, start, length)
        parts.append(text[start:end])
        start = end
    if start < len(text) or not parts:
        parts.append(text[start:])
    return parts


def _end(text: str, start: int, length: int) -> int:
    """Return where the part that begins at `start` ends: behind the last good place in its second half."""
    first, last = start + length // 2, start + length
    for pattern in _ENDS:
        places = [found.end() for found in pattern.finditer(text, first, last) if found.end() > first]
        if places:
            return places[-1]
    return last
