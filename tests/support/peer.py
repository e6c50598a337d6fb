"""Another process with a client of its own, which does what it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.stores import config_for

ROOT = Path(__file__).parents[2]
PEER = """
import json, sys
from hy_memory import HyMemoryClient
from tests.support.embedding import DottedEmbedding

with HyMemoryClient(json.loads(sys.argv[1]), embedding_service=DottedEmbedding()) as client:
    for line in sys.stdin:
        verb, arguments = json.loads(line)
        print(json.dumps(getattr(client, verb)(**arguments)), flush=True)
"""


class Peer:
    """Another process with a client of its own, which does what it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, verb: str, **arguments: Any) -> Any:
        """Return what the verb answers there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([verb, arguments]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def peer(folder: Path, backend: str = "faiss") -> Generator[Peer]:
    """Yield a process with a client of `backend` over `folder`."""
    command = [sys.executable, "-c", PEER, json.dumps(config_for(backend, folder))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        yield Peer(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=60) == 0
