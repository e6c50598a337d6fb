"""A client of Chroma, embedded or over HTTP, with everything off that it does unasked."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from filelock import FileLock, Timeout

from hy_memory.errors import (
    BackendError,
    ConfigurationError,
    HyMemoryError,
    MissingExtraError,
    StoreLockedError,
)
from hy_memory.ports import BackendOptions

try:
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import NotFoundError
except ImportError as error:
    raise MissingExtraError("chroma", "chromadb") from error

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")
_HEARTBEAT = "/api/v2/heartbeat"
_WAY_OUT = (
    "close the other one, or use a Chroma server (MEMORY_VECTOR_STORE_URL), or the faiss backend, which "
    "many processes may share"
)


@dataclass(frozen=True, slots=True)
class Connection:
    """An open client; `gone` is what it raises for a collection that was deleted meanwhile."""

    client: Any
    release: Callable[[], None]
    gone: type[Exception] = NotFoundError

    def max_batch_size(self) -> int:
        """Return how many rows Chroma takes in one call."""
        with translated():
            return int(self.client.get_max_batch_size())

    def close(self) -> None:
        """Close the client and release its folder; closing twice is no error."""
        with translated():
            self.client.close()
        self.release()


@contextmanager
def translated() -> Generator[None]:
    """Turn whatever Chroma, its engine or its HTTP client raises into BackendError."""
    try:
        yield
    except HyMemoryError:
        raise
    except Exception as error:
        raise BackendError(f"Chroma failed: {type(error).__name__}: {error}") from error


def connect(options: BackendOptions) -> Connection:
    """Return a connection to the server at `options.url`, else to the folder `options.path`."""
    if not _NAME.fullmatch(options.collection):
        raise ConfigurationError(
            f"MEMORY_COLLECTION_NAME={options.collection!r}: Chroma takes 3 to 512 letters, digits, '.', '_' "
            f"or '-', a letter or digit at both ends"
        )
    if options.url:
        return _server(options, options.url)
    if options.path:
        return _folder(Path(options.path).expanduser().resolve())
    raise ConfigurationError("Chroma needs a folder (MEMORY_VECTOR_STORE_PATH) or MEMORY_VECTOR_STORE_URL")


def _folder(folder: Path) -> Connection:
    """Open a folder. Clients of one process share it; Chroma's graph is not safe among processes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "hy_memory.lock", timeout=0, thread_local=False, is_singleton=True)
        lock.acquire()
    except Timeout as error:
        raise StoreLockedError(f"{folder} is open in another process; {_WAY_OUT}") from error
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be used as a Chroma folder: {error}") from error
    try:
        with translated():
            client = chromadb.PersistentClient(str(folder), settings=_settings())
    except BaseException:
        lock.release()
        raise
    return Connection(client, _once(lock.release))


def _server(options: BackendOptions, url: str) -> Connection:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise ConfigurationError(
            "MEMORY_VECTOR_STORE_URL is no address of a Chroma server; give one such as http://localhost:8000"
        )
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    headers = _headers(options.api_key)
    with translated():
        # Chroma's client waits without end, also while it is made: so first a question that does not.
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_HEARTBEAT}"
        httpx.get(address, headers=headers, timeout=options.timeout).raise_for_status()
        client = chromadb.HttpClient(
            parts.hostname, port, ssl=is_secure, headers=headers, settings=_settings()
        )
    sessions = _sessions(client)
    for session in sessions:
        session.timeout = httpx.Timeout(options.timeout)

    def release() -> None:
        for session in sessions:  # Chroma's own closing leaves their sockets open
            session.close()

    return Connection(client, release)


def _sessions(client: object) -> list[httpx.Client]:
    """Return the HTTP clients inside a Chroma client: its own, and that of its administrative half."""
    servers = (getattr(one, "_server", None) for one in (client, getattr(client, "_admin_client", None)))
    sessions = (getattr(server, "_session", None) for server in servers)
    return [session for session in sessions if isinstance(session, httpx.Client)]


def _settings() -> Settings:
    """Return settings that send nothing home and read no `.env` file of the caller's project."""
    return Settings(_env_file=None, anonymized_telemetry=False)  # type: ignore[call-arg]


def _headers(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError("MEMORY_VECTOR_API_KEY holds a blank or a character no header can carry")
    return {"Authorization": f"Bearer {key}"}


def _once(release: Callable[[], None]) -> Callable[[], None]:
    """Return `release` for one use: a shared lock counts, and must not be released for another client."""
    left = [release]

    def release_once() -> None:
        if left:
            left.pop()()

    return release_once
