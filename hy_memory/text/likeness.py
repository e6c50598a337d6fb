"""When a text says nothing that another does not say: near-duplicates, by words and not by meaning.

In doubt two texts are two. What may differ is what nobody would miss; where a word, a number, a name or a
"not" tells them apart, they stay apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from hy_memory.text.normalize import normalize
from hy_memory.text.numerals import english_number
from hy_memory.text.sameness import same_text_key

LONGEST = 20_000
"""Characters of the longest text that is compared: names are looked for in no more (`text.entities`)."""

_LETTER_A = re.compile(r"(?<=[\w,;] )A(?![\w.])")  # vitamin A: no article
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=i)'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
)
_PARTICLES = re.compile(r"(?<=\w\w)[啊呀哦喔]+(?=\s|$)")  # at the end of a clause
_ARTICLES = frozenset({"a", "an", "the"})
_FILLERS = frozenset({"oh", "um", "uh", "hmm", "please"})
_EMPHASIS = frozenset({"really", "very", "actually", "basically", "indeed", "truly"})
_AMOUNTS = frozenset({"few", "little", "lot", "bit", "many", "much", "couple"})  # "few", "a few" are two
_NEGATIONS = """
not no nor never none nothing nobody nowhere neither without hardly barely scarcely lack lacks cannot
nicht kein keine keinen nie ohne non ne pas jamais sans aucun rien sin nada nunca mai senza sem geen niet
nooit inte aldrig ikke aldri ei nem nu tidak bukan bez nie si la не ни нет нельзя لا لم لن ليس नहीं
不 没 沒 無 无 未 别 別 非
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words (and, in scripts without spaces, characters) that turn a sentence around, in common languages."""
# Words whose absence may change what a sentence says: when, how sure, how much, under which condition.
_TELLING = """
only just even still yet already again almost nearly about around maybe perhaps possibly probably
sometimes often usually always rarely seldom once twice if unless until till except but however although
though because instead rather than before after during since while when where who whom whose which what
why how all any both each every either some several most more less least fewer enough half first last
next second third former formerly old new ex late current currently now then today yesterday tomorrow
ago soon later earlier can could may might must shall should will would ought need was were is are am be
been had has have did do does and or from to into in on off out up down over under above below with
against for of at by near between among my your his her its our their mine yours theirs i me you he him
she we us they them it this that these those self other another same different wrong false fake
"""
_TELLING_WORDS = NEGATIONS | frozenset(_TELLING.split())
_PLAIN = re.compile(r"[a-z]+")
_LEAST_OVERLAP = 0.75  # of all words, empty ones included: very short texts are not mostly fillers
_MOST_LEFT_OUT = 0.1  # of the words of the longer text


def canonical_words(text: str) -> tuple[str, ...]:
    """Return the words that count, in their order: no case, width, articles, fillers; "don't" is "do not".

    Small numbers in English words are digits. Whatever else stands between spaces counts as it stands, signs
    and question marks too; a text of nothing else keeps its fillers. Runs of scripts without spaces are one.
    """
    words = _words(text)
    skipped = _ARTICLES | _FILLERS
    if NEGATIONS.isdisjoint(words):  # "not very good" is something else than "not good"
        skipped |= _EMPHASIS
    kept = [
        one
        for one, after in zip_longest(words, words[1:], fillvalue="")
        if not _is_empty(one, after, skipped)
    ]
    return tuple(map(_number, kept or words))


def adds_nothing(text: str, known: str) -> bool:
    """Return whether `known` says all that `text` says, in the same words and order.

    Fillers aside, `text` may leave out a few plain words of a long `known` and has none that it lacks. Both
    have the same numbers, negations and names.
    """
    if max(len(text), len(known)) > LONGEST:
        return False
    said, stored = canonical_words(text), canonical_words(known)
    common, whole = 2 * len(said), len(_words(text)) + len(_words(known))
    if common < _LEAST_OVERLAP * whole:
        return False
    if said != stored:
        left_out = _left_out(said, stored)
        if left_out is None or len(left_out) > _MOST_LEFT_OUT * len(stored):
            return False
        if any(_tells(one, known) for one in left_out):
            return False
    from hy_memory.text.entities import entity_keys  # 70 ms of patterns, for the few texts that come so far

    return entity_keys(text) == entity_keys(known)


def _words(text: str) -> list[str]:
    said = same_text_key(_LETTER_A.sub("letter-a", normalize(text))).replace("’", "'")
    for pattern, expanded in _CONTRACTIONS:
        said = pattern.sub(expanded, said)
    return _PARTICLES.sub("", said).split()


def _is_empty(word: str, after: str, skipped: frozenset[str]) -> bool:
    if word not in skipped or after in _AMOUNTS:
        return False
    return word not in _ARTICLES or bool(after)


def _number(word: str) -> str:
    number = None if word.isdecimal() else english_number(word)  # 007 is not 7
    return word if number is None else str(number)


def _left_out(said: Sequence[str], stored: Sequence[str]) -> list[str] | None:
    """Return the words of `stored` that `said` does without; None where it has others, or another order."""
    left_out: list[str] = []
    at = 0
    for word in stored:
        if at < len(said) and said[at] == word:
            at += 1
        else:
            left_out.append(word)
    return left_out if at == len(said) else None


def _tells(word: str, known: str) -> bool:
    """Return whether a text without `word` may say something else; a word that may be a name does."""
    return word in _TELLING_WORDS or _PLAIN.fullmatch(word) is None or word.capitalize() in known
