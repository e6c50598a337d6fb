"""A value that is loaded by the first thread that needs it, once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Loaded = TypeVar("Loaded")


class Lazy(Generic[Loaded]):
    """Holds what `load` returns from the first `get` on. A load that raises is tried again by the next."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._loaded: list[Loaded] = []

    def get(self) -> Loaded:
        """Return the value; other threads wait while one of them loads it."""
        if not self._loaded:
            with self._lock:
                if not self._loaded:
                    self._loaded.append(self._load())
        return self._loaded[0]

    @property
    def loaded(self) -> Loaded | None:
        """The value, None as long as nobody needed it."""
        return self._loaded[0] if self._loaded else None
