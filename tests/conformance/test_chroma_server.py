"""A Chroma server on loopback passes the same suite."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest

pytest.importorskip("chromadb", reason="the extra 'chroma' is not installed")

from hy_memory.errors import BackendError, ClosedError, ConfigurationError
from hy_memory.ports import BackendOptions
from hy_memory.testing.contracts.harness import Harness, open_harness, users
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.testing.openai_double import OpenAIDouble
from hy_memory.vectors.chroma.store import open_backend

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb"),
]
DIMS = VectorIndexContract.dims


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/heartbeat", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of `chroma run`, started for this session and stopped by its process id."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--port", str(port), "--path", str(tmp_path_factory.mktemp("chroma"))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not is_up(url):
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
        yield url
        process.terminate()


def options_for(url: str, **changes: object) -> BackendOptions:
    options = BackendOptions(DIMS, url=url, collection=f"test-{uuid.uuid4().hex}")
    return replace(options, **changes)  # type: ignore[arg-type]


class TestVectors(VectorIndexContract):
    @pytest.fixture
    def harness(self, server: str) -> Generator[Harness]:
        options = options_for(server)
        first = open_harness(open_backend, options)

        def reopen() -> Harness:
            first.backend.close()
            return open_harness(open_backend, options)

        yield replace(first, reopen=reopen)
        first.backend.close()


def test_two_clients_see_each_other_s_points(server: str) -> None:
    """C46: a server is for many processes; a collection made anew by one is found by the other."""
    options = options_for(server)
    first, second = open_backend(options, ListSource()), open_backend(options, ListSource())
    assert first.fed is not None
    assert second.fed is not None
    first.fed.upsert([make_point("p", payload_for("ana"), [1.0] * DIMS)])
    assert second.vectors.count(users("ana")) == 1
    second.fed.clear()
    assert first.vectors.count(users("ana")) == 0
    first.close()
    first.close()
    with pytest.raises(ClosedError):
        first.vectors.count(users("ana"))
    second.close()


def test_a_thousand_wide_vectors_fit_the_server_s_limit(server: str) -> None:
    """C50: calls are split so that no request is larger than a server takes."""
    backend = open_backend(options_for(server, dims=1536), ListSource())
    rows = np.random.default_rng(0).standard_normal((1_000, 1536)).astype(np.float32)
    assert backend.fed is not None
    backend.fed.upsert([make_point(f"p{at}", payload_for("ana"), row) for at, row in enumerate(rows)])
    assert backend.vectors.count(users("ana")) == 1_000
    backend.close()


def test_nobody_there_is_a_backend_error() -> None:
    with pytest.raises(BackendError, match="ConnectError"):
        open_backend(options_for(f"http://127.0.0.1:{free_port()}"), ListSource())


def test_a_server_that_says_nothing_is_given_up() -> None:
    """C54: neither opening nor asking waits longer than the timeout."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(BackendError, match="Timeout"):
            open_backend(options_for(url, timeout=0.3), ListSource())
        assert time.monotonic() - start < 3


def test_a_timeout_holds_for_every_call(server: str) -> None:
    backend = open_backend(options_for(server, timeout=4.0), ListSource())
    client = backend.vectors._connection.client  # type: ignore[attr-defined]
    assert client._server._session.timeout == httpx.Timeout(4.0)
    backend.close()


def test_something_else_at_the_address_is_a_backend_error() -> None:
    with OpenAIDouble() as other, pytest.raises(BackendError, match="50"):
        open_backend(options_for(other.url.removesuffix("/v1")), ListSource())


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x", "http://", "http://h/path", "http://h:1/api/v2"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_VECTOR_STORE_URL"):
        open_backend(options_for(url), ListSource())


def test_a_key_no_header_can_carry_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_VECTOR_API_KEY") as caught:
        open_backend(options_for("http://h", api_key="se cret"), ListSource())
    assert "cret" not in str(caught.value)
