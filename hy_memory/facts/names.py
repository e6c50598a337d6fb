"""Names of entities and predicates as they are compared, and which predicates hold one value at a time."""

from __future__ import annotations

from collections.abc import Mapping

from hy_memory.text.normalize import fold, normalize
from hy_memory.values.fact import FactRules

SINGLE = frozenset(
    (
        "lives_in",
        "located_in",
        "works_at",
        "works_as",
        "job",
        "name",
        "is_called",
        "age",
        "born_on",
        "born_in",
        "status",
        "married_to",
        "spouse",
        "partner",
        "email",
        "phone",
        "address",
        "owner",
        "manager",
        "reports_to",
        "nationality",
        "employer",
        "title",
        "price",
        "version",
        "is",
    )
)  # fmt: skip - a list of words
"""Predicates of which a new value ends the one before, unless a user declares otherwise."""
MULTI = frozenset(
    (
        "likes", "dislikes", "knows", "speaks", "owns", "uses", "has", "visited", "wants", "plays", "studied",
        "member_of", "friend_of", "parent_of", "child_of", "allergic_to", "interested_in", "depends_on",
    )
)  # fmt: skip
"""Predicates that hold any number of values at once."""
_MOST_STEPS = 32  # aliases of aliases: longer lines are rings


def entity_key(name: str) -> str:
    """Return a name as it is compared: case, width, accents and amount of space aside."""
    return " ".join(fold(normalize(name)).split())


def predicate_key(name: str) -> str:
    """Return a predicate as it is compared: "lives in", "Lives-In" and "lives_in" are one."""
    return "_".join(entity_key(name).replace("-", " ").replace("_", " ").split())


def is_single(predicate: str, rules: FactRules) -> bool:
    """Return whether a predicate holds one value at a time.

    What a user declared counts, then what is known of its name. One that nobody knows holds several: to keep
    a value that is over costs less than to end one that is not.
    """
    declared = rules.multi.get(predicate)
    return predicate in SINGLE if declared is None else not declared


def resolved(key: str, aliases: Mapping[str, str]) -> str:
    """Return the entity that a name means, by way of its aliases."""
    for _ in range(_MOST_STEPS):
        if key not in aliases:
            break
        key = aliases[key]
    return key


def meaning(key: str, aliases: Mapping[str, str]) -> frozenset[str]:
    """Return every name that means the same entity as `key`."""
    entity = resolved(key, aliases)
    return frozenset({entity, *(one for one in aliases if resolved(one, aliases) == entity)})
