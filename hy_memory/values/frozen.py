"""Values of the hot path: dataclasses that type checkers hold frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make `cls` a dataclass whose fields nobody may set again.

    That is the type checker's to see to. At run time, frozen dataclasses set each field by a call, and
    take ten times as long to make: a search makes hundreds of them, and opening a user's memories some
    hundred thousand.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
