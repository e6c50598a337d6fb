"""The statements that link a record to the one whose place it took, both ways."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from sqlalchemy import ClauseElement, bindparam, select, update

from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.schema import records

_c = records.c


class Links:
    """Compiled by `prepare` when first used."""

    def __init__(self, prepare: Callable[[ClauseElement], Prepared]) -> None:
        self._prepare = prepare

    @cached_property
    def member(self) -> Prepared:
        """What a chain's member is: user, layer, version, status, and its successor. Parameters: id."""
        columns = (_c.user_id, _c.layer, _c.version, _c.status, _c.superseded_by)
        return self._prepare(select(*columns).where(_c.id == bindparam("id")))

    @cached_property
    def set_successor(self) -> Prepared:
        """Parameters: new_status, new_successor (None: it has none), of_record."""
        values = {"status": bindparam("new_status"), "superseded_by": bindparam("new_successor")}
        return self._prepare(update(records).where(_c.id == bindparam("of_record")).values(values))

    @cached_property
    def set_predecessor(self) -> Prepared:
        """Parameters: new_predecessor (None: it has none), of_record."""
        values = {"supersedes": bindparam("new_predecessor")}
        return self._prepare(update(records).where(_c.id == bindparam("of_record")).values(values))
