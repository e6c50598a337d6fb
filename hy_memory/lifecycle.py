"""Opening and closing: what a client holds, and how it lets go of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from hy_memory.errors import ClosedError, ForkedError
from hy_memory.runtime import Runtime, open_runtime
from hy_memory.settings.load import load_settings
from hy_memory.settings.root import Settings


class Lifecycle:
    """A runtime that is opened by the constructor and closed once."""

    def __init__(
        self,
        config: Mapping[str, object] | Settings | None = None,
        mode: str | None = None,
        *,
        embedding_service: object = None,
    ) -> None:
        self._runtime: Runtime | None = open_runtime(load_settings(config, mode=mode), embedding_service)
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()

    @classmethod
    def from_config(
        cls, config: Mapping[str, object], mode: str | None = None, embedding_service: object = None
    ) -> Self:
        """Return a client for a dictionary of settings; an unknown key is an error with the nearest name."""
        return cls(config, mode, embedding_service=embedding_service)

    def close(self) -> None:
        """Finish what runs on the async pool, then close everything; closing twice is no error."""
        with self._lock:
            runtime, pool = self._runtime, self._pool
            self._runtime = self._pool = None
        if pool is not None:
            pool.shutdown(wait=True)
        if runtime is not None:
            runtime.close()

    def pool(self) -> Executor:
        """Return the threads that async verbs run on; there are none before the first such call."""
        runtime = self._open()
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(runtime.settings.threads, thread_name_prefix="hy_memory")
            return self._pool

    def runtime(self) -> Runtime:
        """Return what the client works with; raises ClosedError after `close`."""
        return self._open()

    def _open(self) -> Runtime:
        runtime = self._runtime
        if runtime is None:
            raise ClosedError
        if self._process != os.getpid():  # its connections and locks are the parent's, and stay there
            raise ForkedError
        return runtime

    async def async_close(self) -> None:
        """Async twin of `close`."""
        import asyncio  # see aio.py; and not on the client's own pool, which waits for its threads

        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.async_close()
