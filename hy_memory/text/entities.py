"""The things a text names, by rules in English and Chinese, and the keys under which they meet.

Precision over recall: an entity steers a ranking, and a wrong one misleads where a missing one
only does not help.  Every rule sees the text alone; nothing is learnt, looked up or kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hy_memory.text.chinese_entities import chinese_names
from hy_memory.text.dates import dates
from hy_memory.text.english_entities import english_names
from hy_memory.text.entity import Entity, EntityKind, Mention
from hy_memory.text.identifiers import identifiers
from hy_memory.text.normalize import normalize

__all__ = ["Entity", "EntityKind", "entities", "entity_keys"]

_MOST = 256  # names in one text; a list of more says nothing by any of them, and each is compared with all
_LONGEST = 20_000  # beyond it a text is a document, and a bag of its names says nothing


def entities(text: str) -> tuple[Entity, ...]:
    """Return the entities that `text` names, in order, each kind and key once.

    Reads the first 20,000 characters; never fails on any `str`.  Surfaces are words of the
    normalised text (`text.normalize`).
    """
    words = normalize(text[:_LONGEST])
    mentions = _dates_and_identifiers(words)
    if not words.isascii():
        _take(mentions, chinese_names(words))
    _take(mentions, english_names(words))
    mentions.sort(key=lambda one: one.start)
    found: dict[tuple[EntityKind, str], Entity] = {}
    for mention in mentions:
        found.setdefault((mention.entity.kind, mention.entity.key), mention.entity)
    return tuple(found.values())


def entity_keys(text: str) -> frozenset[str]:
    """Return the keys under which the entities of `text` meet those of another text.

    Beside its own key, a person of several words is met by each of them ("Claire Moreau" by
    "Claire" and by "Moreau"): people are introduced once in full and then called by one name.
    """
    keys: set[str] = set()
    for entity in entities(text):
        keys.add(entity.key)
        if entity.kind is EntityKind.PERSON and " " in entity.key:
            keys.update(part for part in entity.key.split(" ") if len(part) > 2)
    return frozenset(keys)


def _dates_and_identifiers(text: str) -> list[Mention]:
    """Return both without overlap: a date inside a longer identifier is a part of its name."""
    found = list(islice(identifiers(text), _MOST))
    for date in islice(dates(text), _MOST):
        inside = [one for one in found if one.start < date.end and date.start < one.end]
        if all(date.start <= one.start and one.end <= date.end for one in inside):
            entity = Entity(EntityKind.DATE, text[date.start : date.end], date.key)
            found = [one for one in found if one not in inside]
            found.append(Mention(entity, date.start, date.end))
    return found


def _take(mentions: list[Mention], more: Iterable[Mention]) -> None:
    """Add what overlaps nothing that is there: rules come in the order of their certainty."""
    for one in more:
        if len(mentions) >= _MOST:
            return
        if all(one.end <= other.start or other.end <= one.start for other in mentions):
            mentions.append(one)
