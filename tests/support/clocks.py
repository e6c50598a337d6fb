"""A clock that stands still until the test moves it, and clients that go by it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

import pytest

from hy_memory import lifecycle
from hy_memory.clock import Clock
from hy_memory.runtime import open_runtime


class Hand:
    """What moves the clock: `at` is the time it shows (UTC epoch seconds)."""

    def __init__(self, at: float) -> None:
        self.at = at

    @contextmanager
    def opening(self) -> Generator[None]:
        """Make clients that are opened meanwhile go by this clock."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lifecycle, "open_runtime", partial(open_runtime, clock=Clock(now=lambda: self.at)))
            yield
