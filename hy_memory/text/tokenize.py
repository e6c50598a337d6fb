"""Split text into search terms; the same rule for stored texts and for queries.

Words of spaced scripts are case-folded, stripped of accents, and stemmed where they are plain
a-z words (Snowball English).  Scripts without spaces (Han, kana, Thai …), and Hangul with
its glued particles, become characters and pairs of characters, which needs no dictionary and
measured better than one.  Identifiers (`GOALS.md`, `fooBar`, `C++`) are kept whole *and* in
parts: whole, so that the exact name outranks its pieces; in parts, so that a piece finds it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add

from hy_memory.text.normalize import fold, normalize

# Characters that stand in unbroken runs: Thai, Lao, Myanmar, Khmer; CJK radicals, iteration
# marks, kana, bopomofo, Hangul (jamo and syllables), Han with all extensions.
_RUN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining marks of spaced scripts; `\w` leaves them out and would cut Hindi words apart.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u0816-\u082d\u0900-\u0903\u093a-\u0963\u0981-\u0983\u09bc-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03"
    "\u0d3b-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u0f18\u0f19\u0f71-\u0f84\u0f90-\u0fbc"
    "\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff\ua8e0-\ua8f1"
)
_SYMBOLS = "\u2600-\u27bf\U0001f000-\U0001fbff"  # emoji: the only words of some messages


def _chunk_pattern(word: str) -> str:
    """Return the pattern of one chunk: `word` pieces joined by connectors, with affixes.

    Connectors hold names together (file.ext, a_b, e-mail, o'brien, x@y); a colon or comma
    does so only inside numbers (10:30, 1,000).
    """
    connector = r"(?:[.\-'’‐@]|_+|(?<=\d):(?=\d)|(?<=\d),(?=\d{3}(?!\d)))"
    return rf"\#?{word}(?:{connector}{word})*(?:\+\+|[+\#%](?!\w))?"


_ASCII_CHUNK = re.compile(_chunk_pattern("[A-Za-z0-9]+"))
_CHUNK = re.compile(_chunk_pattern(f"(?:[^\\W_{_RUN}]|[{_MARKS}])+") + f"|[{_RUN}]+|[{_SYMBOLS}]")
_IN_RUN = re.compile(f"[{_RUN}]")
_FIRST_RUN_CHARACTER = "\u0e01"

# Borders inside a piece: fooBar, HTMLParser, GPT4, 10am.
_INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PIECES = re.compile(r"[^.\-'‐@_:,#+%]+")
_CONTRACTION = re.compile(r"([a-z]+)'(s|t|re|ve|ll|d|m)")
_PLAIN = re.compile(r"[a-z]+")
# Words that say how a question is put and not what it is about.  Dropping them from English
# queries measured +.02 to +.05 recall, dropping Chinese function characters +.014.
_STOP_WORDS = """
a an the and or but nor so if then than that this these those there here
i me my mine myself we our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having
will would shall should can could may might must
of at by for with about into to from in on off out up down over under as
not no too very just also only own same such both each
i'm i've i'd i'll you're you've you'd you'll he'd he'll she'd she'll it'd it'll
we're we've we'd we'll they're they've they'd they'll who'd who'll that'd that'll
don't doesn't didn't won't wouldn't can't couldn't shouldn't isn't aren't wasn't weren't
haven't hasn't hadn't cannot
的 了 是 我 你 他 她 它 在 有 和 就 都 也 不 吗 呢 吧 啊 这 那 个 么 什 很
"""
_LONGEST_WORD = 64  # beyond it a "word" is data (base64, hashes): no stem, no cache entry


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the Snowball English stem of a folded a-z word.

    A new stemmer each time: the class keeps the word in itself and is not thread-safe.  The
    pure Python class is named on purpose, so that an installed C stemmer of another version
    cannot change terms that are already stored.
    """
    # Imported on first use: the package loads forty languages, 40 ms that a bare import of
    # the library should not pay.
    from snowballstemmer.english_stemmer import EnglishStemmer

    return EnglishStemmer().stemWord(word)


def _term(piece: str) -> str:
    """Return the index term of one folded piece."""
    if len(piece) <= _LONGEST_WORD and _PLAIN.fullmatch(piece):
        return stem(piece)
    return piece


def _parts(chunk: str) -> list[str]:
    """Return the pieces of a chunk: between connectors, then at case and digit borders."""
    found: list[str] = []
    for piece in _PIECES.findall(chunk):
        found.append(piece)
        if piece.isascii() and not (piece.isdigit() or (piece.isalpha() and piece.islower())):
            inner = _INNER.findall(piece)
            if len(inner) > 1:
                found.extend(inner)
    return found


def _expand(chunk: str) -> tuple[str, ...]:
    """Return the terms of one chunk: the whole name first, then its parts, each once."""
    folded = fold(chunk)
    if _PLAIN.fullmatch(folded) and (chunk.islower() or chunk.istitle() or chunk.isupper()):
        return (_term(folded),)
    folded = folded.replace("’", "'")
    contraction = _CONTRACTION.fullmatch(folded)
    if contraction:
        return (_term(contraction[1]) if contraction[2] == "s" else folded,)
    terms = [_term(folded.replace(",", ""))]
    terms.extend(_term(fold(part)) for part in _parts(chunk.replace("’", "'")))
    # A chunk of optional marks alone folds to nothing, and nothing is no term.
    return tuple(dict.fromkeys(filter(None, terms)))


_expand_cached = lru_cache(maxsize=32_768)(_expand)


def tokenize(text: str) -> list[str]:
    """Return the terms of `text` in order, repetitions included (they are term frequency).

    Never fails on any `str`; text without letters, digits or emoji gives an empty list.
    Traditional and simplified Chinese are different characters and are not mapped.
    """
    terms: list[str] = []
    if text.isascii():
        for chunk in _ASCII_CHUNK.findall(text):
            terms += _expand_cached(chunk) if len(chunk) <= _LONGEST_WORD else _expand(chunk)
        return terms
    for chunk in _CHUNK.findall(normalize(text)):
        if chunk >= _FIRST_RUN_CHARACTER and _IN_RUN.match(chunk):
            terms += chunk
            terms += map(add, chunk, chunk[1:])
        else:
            terms += _expand_cached(chunk) if len(chunk) <= _LONGEST_WORD else _expand(chunk)
    return terms


@lru_cache(maxsize=1)
def stop_terms() -> frozenset[str]:
    """Return the stop words as index terms, that is stemmed."""
    return frozenset(tokenize(_STOP_WORDS))


def count_unspaced(text: str) -> int:
    """Return how many characters of scripts without spaces (Han, kana, Hangul, Thai …) a text has."""
    return 0 if text.isascii() else len(_IN_RUN.findall(text))


def query_tokens(text: str) -> list[str]:
    """Return the distinct terms of a query in order, without stop words.

    When nothing else is left ("to be or not to be") the stop words are the query: they are in
    the index, so nothing that was stored is unfindable.
    """
    terms = list(dict.fromkeys(tokenize(text)))
    return [term for term in terms if term not in stop_terms()] or terms
