"""Writing in the modes `pro` and `ultra`: what was stored is read by a language model right away."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from hy_memory.extract.ports import ExtractPorts, Read
from hy_memory.lifecycle import Lifecycle
from hy_memory.maintenance.evolve import evolve
from hy_memory.values.write import Pending, Written
from hy_memory.writing.evidence import extraction_id

_log = logging.getLogger("hy_memory")
_OVERDUE = 2  # exchanges of earlier writes, anybody's, that one write reads beside its own
_MOST = 1000  # of one user's that are read at once


class Extracting(Lifecycle):
    """The part of writing that reads exchanges. A write is safe, and searchable, before it begins."""

    def _extracted(self, written: Written) -> tuple[Written, Read | None]:
        """Return what a write led to once its exchange was read, and how that went; None in mode `lite`."""
        runtime = self._open()
        ports = runtime.extracting()
        if ports is None:
            return written, None
        ledger, now = runtime.ledger, runtime.clock.now
        record = next(iter(ledger.records(written.memory_ids[:1]).values()), None)
        if record is None or not record.evidence_ids:
            return written, None
        raw_id, user_id = record.evidence_ids[-1], record.user_id
        earlier = ledger.outcome(extraction_id(raw_id), user_id)
        if earlier is not None:  # the same write again
            return replace(written, memory_ids=earlier.memory_ids or written.memory_ids), None
        waiting = [one for one in ledger.pending(user_id, now(), _MOST) if one.record_id == raw_id]
        if not waiting:
            return written, None
        read = self._read_waiting(waiting, ports)
        if not read.degraded:
            overdue = ledger.pending(None, now(), _OVERDUE)
            self._read_waiting(overdue, ports)
        if read.memory_ids:
            written = replace(written, memory_ids=read.memory_ids, deduplicated=read.known_ids)
        return written, read

    def _read_all(self, user_id: str) -> None:
        """Read everything of a user that still waits, due or not, as far as the model answers."""
        ports = self._open().extracting()
        if ports is not None:
            self._read_waiting(self._open().ledger.pending(user_id, float("inf"), _MOST), ports)

    def _read_waiting(self, waiting: Sequence[Pending], ports: ExtractPorts) -> Read:
        """Read exchanges until one cannot be read; return how it went with the last."""
        from hy_memory.extract.run import read_exchange  # answers' shapes take 30 ms to make

        read = Read()
        for one in waiting:
            read = read_exchange(one, ports)
            for note in read.degraded:
                _log.warning("%s failed, and will be tried again: %s", note.part, note.error)
            if read.degraded:
                break
            if self._open().settings.mode == "ultra" and read.memory_ids:
                evolve(one.user_id, ports.writing)
        return read
