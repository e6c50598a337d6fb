"""The table of likenesses: which records may say nearly what somebody says again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from sqlalchemy import and_, bindparam, select
from sqlalchemy.engine.interfaces import DBAPICursor

from hy_memory.errors import RepeatedError
from hy_memory.ledger.database import Database
from hy_memory.ledger.prepared import Prepared
from hy_memory.ledger.schema import likenesses, records
from hy_memory.text.simhash import NEAR, bands, distance
from hy_memory.values.record import Status
from hy_memory.values.write import Entry, Likeness

_ALL_BITS = (1 << 64) - 1
_SIGN = 1 << 63


class LikenessTable:
    """What is like what in one database. A record is found by any band of its simhash that is the same."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.statements

    def read(
        self, cursor: DBAPICursor, user_id: str, wanted: Sequence[Likeness]
    ) -> tuple[tuple[str, ...], ...]:
        """Return for each of `wanted` the like records that it has not seen, nearest first."""
        places = {place for one in wanted for place in _places(one)}
        if not places:
            return ((),) * len(wanted)
        packed = self._database.pack(sorted(places))
        cursor.execute(self._by_places.sql, self._by_places.bind(user_id=user_id, places=packed))
        at_place: dict[str, list[tuple[str, int]]] = {}
        for place, record_id, bits in cursor.fetchall():
            at_place.setdefault(place, []).append((record_id, bits & _ALL_BITS))
        return tuple(_nearest(one, at_place) for one in wanted)

    def insert(self, cursor: DBAPICursor, entries: Sequence[Entry]) -> None:
        """Remember the likenesses of new records, through the cursor of the transaction that stores them.

        Raises RepeatedError where a record is like one of them that its writer has not seen.
        """
        new = [(one.record, one.likeness) for one in entries if one.likeness is not None]
        for user_id in {record.user_id for record, _ in new}:
            if any(self.read(cursor, user_id, [like for one, like in new if one.user_id == user_id])):
                raise RepeatedError
        rows = [
            (record.user_id, place, record.id, (like.bits ^ _SIGN) - _SIGN)
            for record, like in new
            for place in _places(like)
        ]
        if rows:
            cursor.executemany(self._upsert.sql, rows)

    def copy(self, cursor: DBAPICursor, renamed: Mapping[str, str], target_user: str) -> None:
        """Let the copies of records be found as these are."""
        packed = self._database.pack(list(renamed))
        cursor.execute(self._by_records.sql, self._by_records.bind(ids=packed))
        found = [(target_user, place, renamed[one], bits) for place, one, bits in cursor.fetchall()]
        if found:
            cursor.executemany(self._upsert.sql, found)

    @cached_property
    def _by_records(self) -> Prepared:
        c = likenesses.c
        mine = self._sql.is_among(c.record_id, "ids")
        return self._sql.prepare(select(c.place, c.record_id, c.bits).where(mine))

    @cached_property
    def _by_places(self) -> Prepared:
        c = likenesses.c
        is_meant = and_(
            c.user_id == bindparam("user_id"),
            self._sql.is_among(c.place, "places"),
            records.c.status == Status.ACTIVE.value,
            records.c.version == 1,  # one that was changed says something else
        )
        joined = likenesses.join(records, records.c.id == c.record_id)
        return self._sql.prepare(select(c.place, c.record_id, c.bits).select_from(joined).where(is_meant))

    @cached_property
    def _upsert(self) -> Prepared:
        return self._sql.upsert(likenesses)


def _places(like: Likeness) -> list[str]:
    return [f"{like.frame}{band:05x}" for band in bands(like.bits)]


def _nearest(like: Likeness, at_place: Mapping[str, Sequence[tuple[str, int]]]) -> tuple[str, ...]:
    found = {one for place in _places(like) for one in at_place.get(place, ()) if one[0] not in like.seen}
    near = sorted((distance(bits, like.bits), record_id) for record_id, bits in found)
    return tuple(record_id for bits_apart, record_id in near if bits_apart <= NEAR)
