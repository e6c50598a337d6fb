"""What an entity is, and the form in which two mentions of one are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from hy_memory.text.normalize import fold


class EntityKind(StrEnum):
    """What kind of thing a name stands for. PERSON includes animals and others called by a name."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    DATE = "date"
    IDENTIFIER = "identifier"
    CODE = "code"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing a text names: the words as they stand (normalised text), and the key that matches."""

    kind: EntityKind
    surface: str
    key: str


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity and its place [start, end) in the normalised text."""

    entity: Entity
    start: int
    end: int


_NOISE = re.compile(r"[^\w\s&+#]|_")
_SPACE = re.compile(r"\s+")
TITLE = (
    "(?:Dr|Mr|Mrs|Ms|Miss|Mx|Prof|Professor|Doctor|Sir|Madam|Aunt|Auntie|Uncle|Captain|Capt|Coach|Judge|Sgt)"
)
_TITLE = re.compile(rf"{TITLE}\b\.?\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_LEGAL_FORM = re.compile(r",?\s+(?:inc|ltd|llc|gmbh|corp|corporation|co|plc|ag|limited)\.?$", re.IGNORECASE)
_HAN_LEGAL_FORM = re.compile("(?:股份)?(?:有限)?(?:责任)?公司$")
_HAN_REGION = re.compile("[市省]$")


def name_key(surface: str, kind: EntityKind) -> str:
    """Return the key of a name: folded, without titles, legal forms, possessives and punctuation.

    "Dr. Moreau" and "Moreau" are one, so are "Acme Inc." and "Acme", "the Rhine's" and "Rhine",
    北京市 and 北京, 腾讯公司 and 腾讯: people say either.  A first name and a full name are two keys
    (see `entities.entity_keys`).
    """
    if surface.isascii() and surface.isalpha():
        return surface.lower()  # what most names are, at a tenth of the cost
    name = _POSSESSIVE.sub("", surface)
    if kind is EntityKind.PERSON:
        name = _TITLE.sub("", name)
    elif kind is EntityKind.ORGANISATION:
        name = _without(_HAN_LEGAL_FORM, _without(_LEGAL_FORM, name))
    elif kind is EntityKind.PLACE:
        name = _without(_HAN_REGION, name)
    name = name.replace("'", "").replace("’", "").replace(".", "")
    key = _SPACE.sub(" ", _NOISE.sub(" ", fold(name))).strip()
    return key[4:] if key.startswith("the ") else key


def _without(ending: re.Pattern[str], name: str) -> str:
    left = ending.sub("", name)
    return left if len(left) > 1 else name
