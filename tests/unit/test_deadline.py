"""Workers: what a timed part does under a deadline, and what becomes of calls that hang."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest

from hy_memory.deadline import Workers, is_timed, within
from hy_memory.errors import ClosedError, PartTimeoutError
from hy_memory.ranking.calibration import IDENTITY

_LONG = 30.0  # never waited for: that a test ends proves that nothing hung
_SHORT = 0.1


class Part:
    """Something with methods and attributes; `hang` waits until the test lets it go."""

    calibration = IDENTITY

    def __init__(self) -> None:
        self.release = threading.Event()
        self.hanging = threading.Semaphore(0)

    def run(self, call: Callable[[], Any], *, twice: bool = False) -> Any:
        return (call(), call()) if twice else call()

    def hang(self) -> str:
        self.hanging.release()
        self.release.wait(_LONG)
        return "late"


@pytest.fixture
def part() -> Generator[Part]:
    made = Part()
    yield made
    made.release.set()


@pytest.fixture
def workers() -> Generator[Workers]:
    made = Workers(2)
    yield made
    made.close()


def _hang(workers: Workers, part: Part, seconds: float = _SHORT) -> None:
    with pytest.raises(PartTimeoutError, match="s were not enough"):
        within(seconds, workers.timed(part).hang)


def _ends(thread: threading.Thread) -> bool:
    thread.join(_LONG)
    return not thread.is_alive()


def test_without_a_deadline_a_part_is_called_directly(workers: Workers, part: Part) -> None:
    timed = workers.timed(part)
    assert is_timed(timed)
    assert not is_timed(part)
    assert timed.run(threading.get_ident) == threading.get_ident()
    assert within(None, lambda: timed.run(threading.get_ident)) == threading.get_ident()


def test_under_a_deadline_it_runs_on_a_daemon_in_the_callers_context(workers: Workers, part: Part) -> None:
    timed = workers.timed(part)
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")

    def seen() -> tuple[str, bool, int]:
        return variable.get(), threading.current_thread().daemon, threading.get_ident()

    first, second = within(_LONG, lambda: timed.run(seen, twice=True))
    assert first == second
    assert first[:2] == ("mine", True)
    assert first[2] != threading.get_ident()
    assert timed.calibration is IDENTITY, "only methods are timed"
    with pytest.raises(AttributeError, match="nothing"):
        _ = timed.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_a_part_raises_is_raised_and_the_worker_lives_on(
    workers: Workers, part: Part, kind: type[BaseException]
) -> None:
    error = kind("told to")

    def fail() -> None:
        raise error

    timed = workers.timed(part)
    with pytest.raises(kind) as caught:
        within(_LONG, lambda: timed.run(fail))
    assert caught.value is error
    assert within(_LONG, lambda: timed.run(lambda: 7)) == 7


def test_a_late_part_is_a_timeout_that_leaves_time_for_others(workers: Workers, part: Part) -> None:
    timed = workers.timed(part)

    def search() -> str:
        with pytest.raises(PartTimeoutError) as caught:
            timed.hang()
        assert isinstance(caught.value, TimeoutError)
        return timed.run(lambda: "in time")

    assert within(2.0, search) == "in time"


def test_where_no_time_is_left_nothing_is_started(workers: Workers, part: Part) -> None:
    def search() -> None:
        time.sleep(0.01)
        workers.timed(part).hang()

    with pytest.raises(PartTimeoutError, match="no time left"):
        within(0.001, search)
    assert not part.hanging.acquire(blocking=False)


def test_when_all_workers_hang_the_next_call_fails_at_once(workers: Workers, part: Part) -> None:
    for _ in range(2):
        _hang(workers, part)
    with pytest.raises(PartTimeoutError, match="hang in earlier calls"):
        within(_LONG * 10, lambda: workers.timed(part).run(int))
    part.release.set()
    for _ in range(2):
        assert part.hanging.acquire(timeout=_LONG)
    while True:  # they have been let go, and are back in a moment
        try:
            assert within(_LONG, lambda: workers.timed(part).run(int)) == 0
        except PartTimeoutError:
            continue
        break


def test_when_workers_are_only_busy_a_call_waits_for_its_turn(workers: Workers, part: Part) -> None:
    """More searches at once than workers: all are answered."""
    answers: list[int] = []
    timed = workers.timed(part)

    def search(number: int) -> None:
        answers.append(within(_LONG, lambda: timed.run(lambda: (time.sleep(0.005), number)[1])))

    threads = [threading.Thread(target=search, args=(at,)) for at in range(12)]
    for one in threads:
        one.start()
    assert all(_ends(one) for one in threads)
    assert sorted(answers) == list(range(12))


def test_who_waits_in_vain_for_a_turn_is_told_so_and_is_never_run(workers: Workers, part: Part) -> None:
    threads = [
        threading.Thread(target=within, args=(_LONG, workers.timed(part).hang), daemon=True) for _ in range(2)
    ]
    for one in threads:
        one.start()
        assert part.hanging.acquire(timeout=_LONG)
    ran: list[int] = []
    with pytest.raises(PartTimeoutError, match="were busy"):
        within(_SHORT, lambda: workers.timed(part).run(lambda: ran.append(1)))
    part.release.set()
    assert all(_ends(one) for one in threads)
    assert within(_LONG, lambda: workers.timed(part).run(lambda: 7)) == 7
    assert ran == []


def test_closing_waits_for_nobody_who_hangs(part: Part) -> None:
    before = set(threading.enumerate())
    workers = Workers(2)
    _hang(workers, part)
    within(_LONG, lambda: workers.timed(part).run(int))
    workers.close()
    workers.close()
    assert all(one.daemon for one in set(threading.enumerate()) - before)
    with pytest.raises(ClosedError):
        within(_LONG, lambda: workers.timed(part).run(int))
    mine = [one for one in threading.enumerate() if one not in before]
    part.release.set()
    assert all(_ends(one) for one in mine), "who hung ends when its call does"


def test_closing_ends_the_threads_that_wait(part: Part) -> None:
    before = set(threading.enumerate())
    workers = Workers(2)
    within(_LONG, lambda: workers.timed(part).run(int))
    workers.close()
    assert set(threading.enumerate()) <= before
