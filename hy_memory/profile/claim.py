"""One thing a person said about themselves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BasicField(StrEnum):
    """The fields of basic info."""

    NAME = "name"
    AGE = "age"
    LOCATION = "location"
    OCCUPATION = "occupation"
    EMPLOYER = "employer"


@dataclass(frozen=True, slots=True)
class Claim:
    """A field's value, the words it was said in, and whether it was said to be over.

    An age is the number in digits, as text.
    """

    field: BasicField
    value: str
    surface: str
    is_past: bool = False
