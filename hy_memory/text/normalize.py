"""Bring text into one comparable form: Unicode repair, compatibility forms, case and accents."""

from __future__ import annotations

import re
import unicodedata

# Invisible format characters: soft hyphen, joiners, bidi marks and overrides, variation
# selectors, BOM.  They split words or hide inside them and carry nothing a reader sees.
_INVISIBLE = re.compile(
    "[\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Marks that readers leave out as often as not: Latin/Greek/Cyrillic accents, Hebrew points,
# Arabic vowel signs and tatweel.  Vowel signs of Indic scripts are letters in all but name
# and stay.
_OPTIONAL_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")


def repair(text: str) -> str:
    """Return `text` with surrogate pairs joined and every lone surrogate made U+FFFD.

    Cut emoji arrive as lone surrogates, which no UTF-8 encoder accepts; the replacement
    character keeps the length and is no word, so it is never searched for.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def normalize(text: str) -> str:
    """Return `text` repaired, in NFKC, without invisible format characters; case is kept.

    Case is kept because it marks word borders (`fooBar`); `fold` removes it later.
    """
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", repair(text)))


def fold(word: str) -> str:
    """Return a normalised word case-folded and without optional marks ("Café" -> "cafe").

    People drop accents when they type a question, so both forms must meet; the price, that
    "résumé" also finds "resume", is the smaller harm in a memory of one person's texts.
    """
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFD", word.casefold())
    # Case folding can undo compatibility forms ("ſ", "ŉ"), hence NFKC and not NFC.
    return unicodedata.normalize("NFKC", _OPTIONAL_MARKS.sub("", decomposed))
