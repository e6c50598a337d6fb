"""A scripted service on loopback, and clients that are configured with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.testing.openai_double import OpenAIDouble
from tests.support.stores import open_client

Opening = Callable[..., HyMemoryClient]


@pytest.fixture
def service() -> Generator[OpenAIDouble]:
    with OpenAIDouble() as double:
        yield double


@pytest.fixture
def opening(service: OpenAIDouble, folder: Path) -> Generator[Opening]:
    """Return what opens clients with the service as their language model."""
    with ExitStack() as opened:

        def open_one(backend: str = "faiss", **config: Any) -> HyMemoryClient:
            llm = {"base_url": service.url, "model": "m", "timeout": 60, **config.pop("llm", {})}
            return opened.enter_context(open_client(backend, folder, config={"llm": llm, **config}))

        yield open_one
