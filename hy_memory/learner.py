"""What searches teach, gathered in memory and stored apart from them, in batches, by a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Protocol

from hy_memory.errors import HyMemoryError
from hy_memory.values.use import Lesson

_log = logging.getLogger("hy_memory")
_MOST = 100_000  # memories waited for at once, some 20 MB: more than that means that the store takes nothing
_BATCH = 2_000  # memories in one transaction: writers wait some 50 ms for it


class Learns(Protocol):
    """The ledger, as what is gathered here sees it."""

    def learn(self, lessons: Sequence[Lesson]) -> int:
        """Let the salience of records grow, in one transaction; returns of how many."""
        ...


class Learner:
    """Counts how often memories were found, and lets the ledger know; thread-safe.

    A search only adds to a dictionary. The thread begins with the first lesson and ends with `close`. Where
    the store cannot be written, lessons wait, and further ones are let go from `_MOST` memories on.
    """

    def __init__(self, ledger: Learns, pause: float) -> None:
        """Store what was learned every `pause` seconds."""
        self._ledger = ledger
        self._pause = pause
        self._gathered: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()
        self._storing = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._complained = False

    def note(self, record_ids: Sequence[str], at: float) -> None:
        """Take in that one search found `record_ids`, each counted once, at `at` (epoch seconds)."""
        if not record_ids:
            return
        with self._lock:
            gathered = self._gathered
            for one in dict.fromkeys(record_ids):
                times, last = gathered.get(one, (0, at))
                if times or len(gathered) < _MOST:
                    gathered[one] = (times + 1, max(last, at))
            if self._thread is None and not self._end.is_set():
                self._thread = threading.Thread(target=self._run, name="hy_memory-learner", daemon=True)
                self._thread.start()

    @property
    def waiting(self) -> int:
        """Of how many memories something waits to be stored."""
        return len(self._gathered)

    def drain(self) -> int:
        """Store everything that was noted before the call; return of how many memories.

        Raises what the ledger raises; nothing that was noted is lost then.
        """
        with self._storing:
            with self._lock:
                taken, self._gathered = self._gathered, {}
            ids = sorted(taken)
            stored = 0
            try:
                for first in range(0, len(ids), _BATCH):
                    batch = ids[first : first + _BATCH]
                    stored += self._ledger.learn([_lesson(one, taken[one]) for one in batch])
                    for one in batch:
                        del taken[one]
            finally:
                self._give_back(taken)
            self._complained = False
            return stored

    def close(self) -> None:
        """Store what is left and end the thread; where it cannot be stored, a warning says what is lost."""
        self._end.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        self._try("lost")

    def _run(self) -> None:
        while not self._end.wait(self._pause):
            self._try("kept")

    def _try(self, outcome: str) -> None:
        try:
            self.drain()
        except HyMemoryError as error:
            if not self._complained or outcome == "lost":
                _log.warning("what searches taught of %d memories is %s: %s", self.waiting, outcome, error)
            self._complained = True

    def _give_back(self, left: dict[str, tuple[int, float]]) -> None:
        with self._lock:
            for one, (times, last) in left.items():
                more, later = self._gathered.get(one, (0, last))
                self._gathered[one] = (times + more, max(last, later))


def _lesson(record_id: str, gathered: tuple[int, float]) -> Lesson:
    times, at = gathered
    return Lesson(record_id, at, times)
