"""What was learned from a session: a task, how it is solved, and where that holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from hy_memory.values.record import Json, MemoryRecord
from hy_memory.work.scope import EXPERIENCE


@dataclass(frozen=True, slots=True)
class Experience:
    """One lesson. `search_keys` are other words that one would look for it by; `boundary` is where it holds.

    `confidence` is in [0, 1]; `fact_ids` are the facts it was learned from.
    """

    task: str
    solution: str
    search_keys: tuple[str, ...] = ()
    boundary: tuple[str, ...] = ()
    confidence: float = 1.0
    files: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """What it is found by: the task, and every key on a line of its own."""
        return "\n".join((self.task, *self.search_keys))


def as_json(experience: Experience) -> dict[str, Json]:
    """Return an experience as the ledger keeps it beside its content."""
    return {
        "task": experience.task,
        "solution": experience.solution,
        "search_keys": list(experience.search_keys),
        "boundary": list(experience.boundary),
        "confidence": experience.confidence,
        "files": list(experience.files),
    }


def experience_of(record: MemoryRecord) -> Experience:
    """Return the experience that a record holds; its content, where somebody changed that, is the task."""
    kept = record.attributes.get(EXPERIENCE)
    if not isinstance(kept, dict):
        return Experience(record.content, "", fact_ids=record.evidence_ids)
    made = Experience(
        task=str(kept["task"]),
        solution=str(kept["solution"]),
        search_keys=_texts(kept["search_keys"]),
        boundary=_texts(kept["boundary"]),
        confidence=cast("float", kept["confidence"]),
        files=_texts(kept["files"]),
        fact_ids=record.evidence_ids,
    )
    return made if made.content == record.content else _retold(made, record.content)


def _retold(made: Experience, content: str) -> Experience:
    task, *keys = content.split("\n")
    return Experience(
        task, made.solution, tuple(keys), made.boundary, made.confidence, made.files, made.fact_ids
    )


def _texts(value: Json | Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(str(one) for one in cast("list[Json]", value))
