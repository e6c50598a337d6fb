"""Stages in a row, and the one place where a failing part becomes a note in the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from hy_memory.errors import ConfigurationError, InvalidArgumentError
from hy_memory.values.result import Degradation, StageTrace


class Countable(Protocol):
    """A state that can say how many candidates it holds."""

    @property
    def size(self) -> int:
        """How many candidates there are now."""
        ...


S = TypeVar("S", bound=Countable)
P = TypeVar("P")
T = TypeVar("T")


def run(stages: Sequence[Callable[[S, P], S]], state: S, ports: P) -> S:
    """Return `state` after all `stages`."""
    for stage in stages:
        state = stage(state, ports)
    return state


def run_traced(stages: Sequence[Callable[[S, P], S]], state: S, ports: P) -> tuple[S, tuple[StageTrace, ...]]:
    """Return `state` after all `stages`, with what each took (for `explain`)."""
    trace: list[StageTrace] = []
    for stage in stages:
        before, started = state.size, time.perf_counter()
        state = stage(state, ports)
        spent = (time.perf_counter() - started) * 1000
        trace.append(StageTrace(stage.__name__, spent, before, state.size))
    return state, tuple(trace)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The error of a guarded call, and the note about it for the answer."""

    error: Exception
    degradation: Degradation


def guard(part: str, call: Callable[[], T]) -> T | Guarded:
    """Return what `call` returns, or a note that `part` failed.

    The only broad except of the library: a search answers with what it has, and says what is
    missing. A caller's own mistake is not a failing part; it is raised.
    """
    try:
        return call()
    except InvalidArgumentError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        lasting = isinstance(error, ConfigurationError | TypeError | AttributeError)
        return Guarded(error, Degradation(part, f"{type(error).__name__}: {error}", retryable=not lasting))
