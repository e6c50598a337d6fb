"""What repeats a memory's words elsewhere, and must not outlive them: schemas that quote it."""

from __future__ import annotations

from collections.abc import Sequence

from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import Compare, Op
from hy_memory.ports import Ledger
from hy_memory.values.record import Layer, MemoryRecord
from hy_memory.values.write import ListQuery

INDUCED = "induced"
"""The attribute that marks a schema found by `evolve`: it speaks in the words of one of its memories."""
_MOST = 10_000  # schemas of one user looked at; far more than clustering makes


def quoting_schemas(said: Sequence[MemoryRecord], ledger: Ledger) -> list[str]:
    """Return the ids of induced schemas that rest on one of `said` and say its words; all of one user."""
    if not said or not ledger.counts(said[0].user_id).get(Layer.L6_SCHEMA.value):
        return []
    words = {one.id: one.content for one in said}
    return [
        schema.id
        for schema in induced_schemas(said[0].user_id, ledger)
        if any(words.get(one) == schema.content for one in schema.evidence_ids)
    ]


def induced_schemas(user_id: str, ledger: Ledger) -> list[MemoryRecord]:
    """Return the schemas of a user that `evolve` made, oldest first."""
    where = scoped((user_id,), Compare("layer", Op.EQ, Layer.L6_SCHEMA.value))
    page = ledger.page(where, ListQuery(_MOST, 0, ascending=True))
    return [one for one in page.records if one.attributes.get(INDUCED) is True]
