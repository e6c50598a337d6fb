"""A search's deadline: each part is waited for on a thread of its own, and left behind when it is late.

Python cannot end a call that hangs. So under a deadline parts run on a few daemon threads; whoever
searches waits there, and goes on without a part that is late. Without a deadline nothing of this is
in the way: parts are then called directly.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType
from typing import ParamSpec, TypeVar, cast

from hy_memory.errors import ClosedError, PartTimeoutError

P = ParamSpec("P")
T = TypeVar("T")

# Of the time that is left a part may take this much, so that the first one that hangs does not take
# the answer of all the others with it: in a hybrid search they still have a quarter of it.
_SHARE = 0.75
_CALLABLE = (MethodType, FunctionType, BuiltinMethodType, BuiltinFunctionType, partial)

_ends: contextvars.ContextVar[float | None] = contextvars.ContextVar("hy_memory_deadline", default=None)


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Return what `call` returns; timed parts called by it have `seconds` in all, None: for ever."""
    if seconds is None:
        return call()
    token = _ends.set(time.monotonic() + seconds)
    try:
        return call()
    finally:
        _ends.reset(token)


class _Job:
    """A call on its way to a worker. Its flags are read and written under the workers' lock."""

    __slots__ = ("_answer", "_call", "_context", "_error", "done", "is_finished", "is_given_up", "is_started")

    def __init__(self, call: Callable[[], object]) -> None:
        self._context = contextvars.copy_context()  # what the caller set (tracing, locale) holds there too
        self._call = call
        self._answer: object = None
        self._error: BaseException | None = None
        self.done = threading.Lock()  # held until then: the cheapest thing that can be waited for
        self.done.acquire()
        self.is_started = self.is_finished = self.is_given_up = False

    def run(self) -> None:
        """Make the call, and keep what came of it."""
        try:
            self._answer = self._context.run(self._call)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for it
            self._error = error

    def outcome(self) -> object:
        """Return what the call returned; raise what it raised."""
        error, self._error = self._error, None  # or its traceback would hold this frame, and so itself
        if error is None:
            return self._answer
        try:
            raise error
        finally:
            del error


class Workers:
    """At most `size` daemon threads, started when they are needed.

    A call that hangs keeps its thread. When all are kept so, a further call fails at once; while some
    are only busy, it waits for its turn within its time.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._open = 0  # jobs handed in and not yet through
        self._late = 0  # of these, running ones that nobody waits for
        self._is_closed = False

    def timed(self, part: T) -> T:
        """Return `part`, whose methods from now on keep to the deadline of the search that calls them."""
        return cast("T", _Timed(part, self))

    def call(self, call: Callable[[], T], ends: float) -> T:
        """Return what `call` returns; raise what it raises, or PartTimeoutError where it is late."""
        seconds = (ends - time.monotonic()) * _SHARE
        if seconds <= 0:
            raise PartTimeoutError("the search had no time left for it")
        job = _Job(call)
        self._hand_in(job)
        try:
            is_in_time = job.done.acquire(timeout=seconds)
        except BaseException:  # Ctrl-C: the job must not count as one that somebody waits for
            self._give_up(job)
            raise
        if not is_in_time and self._give_up(job):
            waited = "" if job.is_started else f": all {self._size} threads for parts of a search were busy"
            raise PartTimeoutError(f"{seconds:.3g} s were not enough{waited}")
        return cast("T", job.outcome())

    def close(self) -> None:
        """End the threads that wait for work; those that hang end if their call ever does."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            threads, idle = self._threads, not self._open
        for _ in threads:
            self._jobs.put(None)
        for thread in threads if idle else ():
            thread.join()

    def _hand_in(self, job: _Job) -> None:
        with self._lock:
            if self._is_closed:
                raise ClosedError
            if self._late >= self._size:
                raise PartTimeoutError(
                    f"all {self._size} threads for parts of a search hang in earlier calls; find out which "
                    f"part does not answer, or raise MEMORY_THREAD_POOL_SIZE"
                )
            if self._open >= len(self._threads) < self._size:
                thread = threading.Thread(target=self._work, name="hy_memory-part", daemon=True)
                thread.start()
                self._threads.append(thread)
            self._open += 1
        self._jobs.put(job)

    def _give_up(self, job: _Job) -> bool:
        """Let `job` go; return False where it was just finished."""
        with self._lock:
            if job.is_finished:
                return False
            job.is_given_up = True
            self._late += job.is_started
            return True

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self._lock:
                job.is_started = not job.is_given_up
            if job.is_started:
                job.run()
            with self._lock:
                self._open -= 1
                self._late -= job.is_started and job.is_given_up
                job.is_finished = True
            job.done.release()
            del job  # and with it the query and the answer, while this thread waits for the next


class _Timed:
    """Any part: its methods run on the workers while there is a deadline, all else is its own."""

    __slots__ = ("_part", "_workers")

    def __init__(self, part: object, workers: Workers) -> None:
        self._part = part
        self._workers = workers

    def __getattr__(self, name: str) -> object:
        found = getattr(self._part, name)
        return partial(_call, self._workers, found) if isinstance(found, _CALLABLE) else found


def _call(workers: Workers, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    ends = _ends.get()
    if ends is None:
        return method(*args, **kwargs)
    return workers.call(partial(method, *args, **kwargs), ends)


def is_timed(part: object) -> bool:
    """Return whether `part` keeps to a search's deadline."""
    return isinstance(part, _Timed)
