"""Texts as they may stand in a language model's answer: bounded, not blank, and such as can be stored."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from hy_memory.values.check import storable

_LONGEST = 2000  # characters: more is no single fact, and no advice that anybody reads

LongText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST), AfterValidator(storable)
]
ShortText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400), AfterValidator(storable)
]
Label = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80), AfterValidator(storable)
]
