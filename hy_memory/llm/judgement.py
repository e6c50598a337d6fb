"""What may be asked about a question, and what a language model makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hy_memory.values.usage import Usage


class Task(StrEnum):
    """What is asked about a question."""

    SCENE = "scene"
    QUERY = "query"
    """The question in full, and the time it speaks of."""
    BOTH = "both"

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the prompt."""
        return ("scene", "query") if self is Task.BOTH else (self.value,)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model makes of a question. `after` and `before` are inclusive, in UTC epoch seconds.

    `scene` and `query` are None where they were not asked for.
    """

    usage: Usage = field(default_factory=Usage)
    scene: str | None = None
    query: str | None = None
    after: float | None = None
    before: float | None = None
