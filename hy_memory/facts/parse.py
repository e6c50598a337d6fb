"""From a mapping that a caller gives to an assertion; every part is checked before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.facts.book import Assertion
from hy_memory.facts.names import entity_key, predicate_key
from hy_memory.values import check
from hy_memory.values.instant import to_epoch

_KEYS = frozenset(
    ("subject", "predicate", "object", "valid_from", "valid_to", "confidence", "source", "memory_id")
)


def assertion(name: str, value: object, now: float) -> Assertion:
    """Return what the mapping `value`, the argument `name`, says; what gives no beginning begins `now`."""
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(name, value, "give a mapping with subject, predicate and object")
    given = cast("Mapping[str, object]", value)
    unknown = sorted(set(given) - _KEYS)
    if unknown:
        raise InvalidArgumentError(name, unknown[0], f"unknown key; known are {', '.join(sorted(_KEYS))}")
    subject = check.text(f"{name}.subject", given.get("subject"))
    said = check.text(f"{name}.object", given.get("object"))
    predicate = predicate_key(check.text(f"{name}.predicate", given.get("predicate")))
    start, end = given.get("valid_from"), given.get("valid_to")
    begin = now if start is None else to_epoch(f"{name}.valid_from", start)
    limit = None if end is None else to_epoch(f"{name}.valid_to", end)
    check_order(begin, limit)
    keys = {"subject": entity_key(subject), "object": entity_key(said), "predicate": predicate}
    for what, key in keys.items():
        if not key:
            raise InvalidArgumentError(f"{name}.{what}", given.get(what), "give a name that can be read")
    return Assertion(
        subject=subject,
        subject_key=keys["subject"],
        predicate=predicate,
        object=said,
        object_key=keys["object"],
        valid_from=begin,
        valid_to=limit,
        confidence=check.share(f"{name}.confidence", given.get("confidence", 1.0)),
        source=check.source_name(f"{name}.source", given.get("source", "default")),
        memory_id=check.optional_identifier(f"{name}.memory_id", given.get("memory_id")),
    )


def check_order(start: float, end: float | None) -> None:
    """Refuse an end that is not after the beginning."""
    if end is not None and not start < end:
        raise InvalidArgumentError("valid_to", end, "give an end after the beginning")
