"""One freshness for one search: whatever it asks, it asks of the ledger as it was when it began.

Every part that keeps something checks first whether anything was committed since; a search has a
dozen such parts, and one check serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Fresh(Protocol):
    """Something with a freshness (see `ports.PointSource`)."""

    def freshness(self) -> int:
        """Return a number that differs whenever anything was committed."""
        ...


_pinned: ContextVar[tuple[object, int] | None] = ContextVar("pinned", default=None)


def at_one_freshness(source: Fresh, call: Callable[[], T]) -> T:
    """Return what `call` returns; while it runs, `source` has the freshness that it has now."""
    token = _pinned.set((source, source.freshness()))
    try:
        return call()
    finally:
        _pinned.reset(token)


def pinned(source: object) -> int | None:
    """Return the freshness that `source` keeps to in this call, None where it must look."""
    known = _pinned.get()
    return known[1] if known is not None and known[0] is source else None
