"""When two texts are one: they differ in form alone, and whoever has read one has read the other."""

from __future__ import annotations

import re

from hy_memory.text.normalize import normalize

# What may come and go without changing what is said: a closing full stop or exclamation,
# commas that stand in no number. A question mark stays, and so does whatever tells numbers apart.
_FORM = re.compile(r"[.!。！…~～]+(?=\s|$)|(?<!\d)[,，、;；]|[,，、;；](?!\d)")


def exact_key(text: str) -> str:
    """Return the form in which texts of the same characters are equal, but for case, width and spaces."""
    return " ".join(normalize(text).casefold().split())


def same_text_key(text: str) -> str:
    """Return the form in which texts that say the same, in the same words, are equal.

    Case, width, the amount of space, closing marks and commas are ignored; every word, number, sign,
    accent and question mark counts, in all scripts. A text of such marks alone is its own key.
    """
    return " ".join(_FORM.sub(" ", normalize(text).casefold()).split()) or text
