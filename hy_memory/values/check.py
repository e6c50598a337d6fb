"""What an argument must be; each function returns the clean value or says what to give instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import cast

from hy_memory.errors import InvalidArgumentError
from hy_memory.values.lane import SEPARATOR

MOST_VALUES = 10_000
"""Values of one list. Databases bind a few ten thousand values to one query, and fail beyond."""
LONGEST_ID = 512
"""Characters of an id. Longer ones are texts that went into the wrong argument."""


def identifier(name: str, value: object) -> str:
    """Return `value`, a non-blank text that every store can hold unchanged.

    Ids are kept exactly as given: repairing one could make two users one, so odd ones are refused.
    """
    if not isinstance(value, str):
        raise InvalidArgumentError(name, value, "give a text")
    if not value.strip():
        raise InvalidArgumentError(name, value, "give an id that is not blank")
    if len(value) > LONGEST_ID:
        raise InvalidArgumentError(name, value, f"an id has at most {LONGEST_ID} characters")
    if "\0" in value or SEPARATOR in value or not _is_encodable(value):
        raise InvalidArgumentError(name, value, "leave out NUL, U+001F and lone surrogates")
    return str(value)


def optional_identifier(name: str, value: object) -> str | None:
    """Return an id, or None where none is given."""
    return None if value is None else identifier(name, value)


def identifiers(name: str, value: object) -> tuple[str, ...]:
    """Return the ids of a non-empty list; a bare string is an error that says so."""
    given = _sequence(name, value)
    if not given:
        raise InvalidArgumentError(name, value, "name at least one")
    return tuple(dict.fromkeys(identifier(f"{name}[{at}]", one) for at, one in enumerate(given)))


def optional_identifiers(name: str, value: object) -> tuple[str, ...]:
    """Return the ids of a list; None and an empty list mean "no limit" and give none."""
    return () if value is None or not _sequence(name, value) else identifiers(name, value)


def source_name(name: str, value: object) -> str:
    """Return the name of a writing application: stripped and lower-cased."""
    return identifier(name, value).strip().lower()


def source_names(name: str, value: object) -> tuple[str, ...]:
    """Return a list of application names; None and an empty list mean "no limit"."""
    return tuple(one.strip().lower() for one in optional_identifiers(name, value))


def text(name: str, value: object) -> str:
    """Return a non-blank text fit to be stored (`storable`)."""
    if not isinstance(value, str):
        raise InvalidArgumentError(name, value, "give a text")
    if not value.strip():
        raise InvalidArgumentError(name, value, "give a text that is not blank")
    return storable(value)


def storable(value: str) -> str:
    """Return `value` with every NUL and lone surrogate replaced by U+FFFD, otherwise unchanged.

    These are the only characters that UTF-8 or PostgreSQL cannot hold. They come from texts cut in
    the middle of an emoji; refusing the whole message for them would lose more than they are worth.
    """
    if "\0" in value:
        value = value.replace("\0", "\ufffd")
    if _is_encodable(value):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole(name: str, value: object) -> int:
    """Return a whole number; the schema and intention limits may be negative (no cap)."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidArgumentError(name, value, "give a whole number")
    return int(value)


def count(name: str, value: object) -> int:
    """Return a whole number of at least 0."""
    number = whole(name, value)
    if number < 0:
        raise InvalidArgumentError(name, value, "give 0 or more")
    return number


def score(name: str, value: object) -> float:
    """Return a finite number to compare scores with."""
    number = real(value)
    if number is None or not math.isfinite(number):
        raise InvalidArgumentError(name, value, "give a number between 0 and 1")
    return number


def share(name: str, value: object) -> float:
    """Return a number in [0, 1]."""
    number = real(value)
    if number is None or not 0.0 <= number <= 1.0:
        raise InvalidArgumentError(name, value, "give a number from 0 to 1")
    return number


def real(value: object) -> float | None:
    """Return a number as a float, infinite where it is too large for one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def string(name: str, value: object) -> str:
    """Return a text, blank or not."""
    if not isinstance(value, str):
        raise InvalidArgumentError(name, value, "give a text")
    return value


def flag(name: str, value: object) -> bool:
    """Return a true/false value; anything that merely counts as one is refused."""
    if not isinstance(value, bool):
        raise InvalidArgumentError(name, value, "give True or False")
    return value


def texts(name: str, value: object) -> tuple[str, ...]:
    """Return a list of short texts such as tags, each once, none blank; None gives none."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(text(f"{name}[{at}]", one) for at, one in enumerate(_sequence(name, value))))


def _sequence(name: str, value: object) -> Sequence[object]:
    if isinstance(value, str | bytes):
        raise InvalidArgumentError(name, value, "give a list, such as ['…'], not a bare string")
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidArgumentError(name, value, "give a list")
    given = tuple(cast("Sequence[object]", value))
    if len(given) > MOST_VALUES:
        raise InvalidArgumentError(name, f"{len(given)} values", f"give at most {MOST_VALUES}")
    return given


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
