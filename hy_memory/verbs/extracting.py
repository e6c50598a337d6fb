"""Writing in the modes `pro` and `ultra`: what was stored is read by a language model right away."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hy_memory.extract.ports import ExtractPorts, Read
from hy_memory.lifecycle import Lifecycle
from hy_memory.maintenance.evolve import evolve
from hy_memory.pipeline import Guarded, guard
from hy_memory.values.lane import lane_of, partitions, user_of
from hy_memory.values.usage import Usage
from hy_memory.values.write import Pending, Written
from hy_memory.writing.evidence import extraction_id

_log = logging.getLogger("hy_memory")
_EARLIER = 4  # exchanges of the user's earlier writes that one write reads before its own
_OVERDUE = 2  # and of anybody's, after it
_MOST = 1000  # that are looked up at once
_EVER = float("inf")


@dataclass(slots=True)
class Reading:
    """How it went with several exchanges, by the id of the raw turn, and what it cost."""

    reads: dict[str, Read] = field(default_factory=dict[str, Read])
    usage: Usage = field(default_factory=Usage)

    @property
    def done(self) -> int:
        """How many were read."""
        return sum(not one.degraded for one in self.reads.values())

    @property
    def is_over(self) -> bool:
        """Whether the model failed, so that asking it again is no use for now."""
        return any(one.degraded and not one.is_unreadable for one in self.reads.values())


class Extracting(Lifecycle):
    """The part of writing that reads exchanges. A write is safe, and searchable, before it begins."""

    def _extracted(self, written: Written) -> tuple[Written, Read | None]:
        """Return what a write led to once its exchange was read, and how that went; None in mode `lite`.

        What the user said before is read first, so that what is newer takes the place of what is older.
        """
        runtime = self._open()
        ports = runtime.extracting()
        new = [one for one in written.memory_ids if one not in written.deduplicated] or written.memory_ids
        record = next(iter(runtime.ledger.records(new[:1]).values()), None)
        if ports is None or record is None or not record.evidence_ids:
            return written, None
        raw_id, user_id = record.evidence_ids[-1], record.user_id
        earlier = runtime.ledger.outcome(extraction_id(raw_id), user_id)
        is_chat = lane_of(user_id) is None
        if earlier is not None:  # the same write again
            memory_ids = (is_chat and earlier.memory_ids) or written.memory_ids
            return replace(written, memory_ids=memory_ids), None
        due = sorted(runtime.ledger.pending(user_id, runtime.clock.now(), _MOST), key=_by_age)
        ids = [one.record_id for one in due]
        if raw_id not in ids:
            return written, None
        own = ids.index(raw_id)
        reading = self._read_waiting(due[max(0, own - _EARLIER) : own + 1], ports)
        read = reading.reads.get(raw_id)
        if read is None and not reading.is_over:  # somebody else's write is reading it
            return written, None
        if read is None:  # one before it failed, and the model with it
            read = next(one for one in reversed(reading.reads.values()) if one.degraded)
        elif not read.degraded:
            self._read_waiting(runtime.ledger.pending(None, runtime.clock.now(), _OVERDUE), ports, reading)
        if is_chat and read.memory_ids:
            written = replace(written, memory_ids=read.memory_ids, deduplicated=read.known_ids)
        return written, replace(read, usage=reading.usage)

    def _read_all(self, user_id: str | None, ports: ExtractPorts) -> Reading:
        """Read what waits of a user (None: of anybody), due or not, as far as the model answers."""
        reading, tried = Reading(), set[str]()
        while not reading.is_over:
            new = [one for one in self._waiting(user_id) if one.record_id not in tried]
            if not new:
                break
            tried.update(one.record_id for one in new)
            self._read_waiting(new, ports, reading)
        return reading

    def _waiting(self, user_id: str | None) -> list[Pending]:
        """Return what waits of a user in all scenes, up to a thousand in each, the oldest first."""
        ledger = self._open().ledger
        keys = (None,) if user_id is None else partitions(user_id)
        waiting = (one for key in keys for one in ledger.pending(key, _EVER, _MOST))
        return sorted(waiting, key=_by_age)

    def _read_waiting(
        self, waiting: Sequence[Pending], ports: ExtractPorts, reading: Reading | None = None
    ) -> Reading:
        """Read exchanges until the model fails; one that it answers nonsense on is passed over."""
        from hy_memory.extract.run import read_exchange  # answers' shapes take 30 ms to make

        reading = reading or Reading()
        for one in waiting:
            read = read_exchange(one, ports)
            if read is None:
                continue
            reading.reads[one.record_id] = read
            reading.usage = reading.usage.plus(read.usage)
            for note in read.degraded:
                _log.warning("%s failed, and will be tried again: %s", note.part, note.error)
            if read.degraded and not read.is_unreadable:
                break
            if self._open().settings.mode == "ultra" and read.memory_ids and lane_of(one.user_id) is None:
                self._evolved(one.record_id, user_of(one.user_id), reading, ports)
        return reading

    def _evolved(self, record_id: str, user_id: str, reading: Reading, ports: ExtractPorts) -> None:
        """Bring a user's schemas up to date; where that fails the next write does it, and a note says so."""
        outcome = guard("evolve", lambda: evolve(user_id, ports.writing))
        if isinstance(outcome, Guarded):
            _log.warning("evolve failed: %s", outcome.degradation.error)
            read = reading.reads[record_id]
            reading.reads[record_id] = replace(read, notes=(outcome.degradation,))


def _by_age(waiting: Pending) -> str:
    """Return what orders exchanges as they were stored: their ids grow with time."""
    return waiting.record_id
