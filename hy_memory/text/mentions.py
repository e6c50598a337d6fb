"""What a text mentions, as keys under which a question and a memory meet: entities and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hy_memory.text.normalize import fold, normalize
from hy_memory.text.tokenize import count_unspaced

_WORD = re.compile(r"\w+")
_LONGEST_PHRASE = 3  # words; names and tags of more are found by their entity key, or not at all
_LONGEST_RUN = 6  # characters of a script without spaces
_LONGEST_QUERY = 1000  # characters; a question of more names so much that it prefers nothing


@dataclass(frozen=True, slots=True)
class Mentions:
    """Keys of a question: `certain` are its entities, `possible` its words and phrases, which may be
    somebody's tag or a name in lower case."""

    certain: frozenset[str]
    possible: frozenset[str]


def mentioned_in(text: str, tags: Iterable[str] = ()) -> frozenset[str]:
    """Return the keys of a memory: what its text names, and its tags (folded, as one phrase each)."""
    keys = set(_entity_keys(text))
    for tag in tags:  # as a phrase, and where it is a name or an identifier, as that
        keys |= {_phrase(tag), *_entity_keys(tag)}
    return frozenset(keys - {""})


def mentions_of(query: str) -> Mentions:
    """Return the keys of a question."""
    query = query[:_LONGEST_QUERY]
    certain = _entity_keys(query)
    return Mentions(certain, frozenset(_phrases(query)) - certain)


def _entity_keys(text: str) -> frozenset[str]:
    from hy_memory.text.entities import entity_keys  # 70 ms of patterns, which only the entity leg needs

    return entity_keys(text)


def _phrase(text: str) -> str:
    return " ".join(_WORD.findall(fold(normalize(text))))


def _phrases(text: str) -> Iterable[str]:
    """Yield the phrases of a text: up to three words, and stretches of scripts without spaces."""
    words = _WORD.findall(fold(normalize(text)))
    for at, word in enumerate(words):
        for length in range(1, _LONGEST_PHRASE + 1):
            yield " ".join(words[at : at + length])
        if count_unspaced(word):
            yield from _stretches(word)


def _stretches(word: str) -> Iterable[str]:
    """Yield every stretch of two to six characters."""
    for at in range(len(word) - 1):
        for length in range(2, min(_LONGEST_RUN, len(word) - at) + 1):
            yield word[at : at + length]
