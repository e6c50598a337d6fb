"""Reading within a deadline: what fails becomes a note in the answer, or is raised where that is set."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from hy_memory.deadline import within
from hy_memory.pipeline import Guarded, guard
from hy_memory.settings.root import RecallSection
from hy_memory.values.result import Degradation

_log = logging.getLogger("hy_memory")


class Readable(Protocol):
    """What a read ends with: the optional parts that failed, and their errors in the same order."""

    @property
    def degraded(self) -> Sequence[Degradation]:
        """The notes."""
        ...

    @property
    def errors(self) -> Sequence[Exception]:
        """What was raised."""
        ...


R = TypeVar("R", bound=Readable)


def attempt(
    request_id: str, call: Callable[[], R], settings: RecallSection, still_open: Callable[[], object]
) -> R | Guarded:
    """Return what `call` reads, or why it failed; failures are logged, and raised if the settings say so.

    `still_open` raises for a client that was closed meanwhile: its caller's to know, not a failed reader.
    """
    outcome = guard("reader", lambda: within(settings.timeout, call))
    failed = isinstance(outcome, Guarded)
    if failed:
        still_open()
    degraded = (outcome.degradation,) if failed else outcome.degraded
    for one in degraded:
        _log.warning("search %s: %s failed: %s", request_id, one.part, one.error)
    if degraded and settings.raise_on_failure:
        raise outcome.error if failed else outcome.errors[0]
    return outcome
