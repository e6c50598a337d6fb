"""The async face: each verb has a twin that runs it on the client's own bounded thread pool."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class HasPool(Protocol):
    """A client with threads of its own."""

    def pool(self) -> Executor:
        """Return the pool that async verbs run on."""
        ...


C = TypeVar("C", bound=HasPool)
P = ParamSpec("P")
R = TypeVar("R")


def twin(verb: Callable[Concatenate[C, P], R]) -> Callable[Concatenate[C, P], Awaitable[R]]:
    """Return the async form of `verb`: same signature, same errors; the event loop is never blocked."""

    @functools.wraps(verb)
    async def run(client: C, /, *args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio  # whoever awaits this has it loaded already; everybody else saves its 50 ms

        context = contextvars.copy_context()  # what the caller set (tracing, locale) holds in the thread too
        call = functools.partial(context.run, verb, client, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(client.pool(), call)

    run.__name__ = f"async_{verb.__name__}"
    run.__qualname__ = f"{verb.__qualname__.rpartition('.')[0]}.{run.__name__}"
    run.__doc__ = f"Async twin of `{verb.__name__}`."
    return run
