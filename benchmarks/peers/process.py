"""A worker process, seen from the driver: start it, ask it, end it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
_QUIET = {
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "TOKENIZERS_PARALLELISM": "false",
}
_PATIENCE = (
    3600.0  # seconds for one request: a slow peer's batch may take minutes, a dead one must not hang us
)


class CannotError(Exception):
    """The peer has no such thing, or is kept from it; the text is the footnote."""


class WorkerError(Exception):
    """The worker failed or died."""


class Process:
    """One worker; `command` is what to run, `folder` its working and home folder, `log` gets its stderr."""

    def __init__(self, command: Sequence[str], folder: Path, log: Path, path: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                cwd=folder,
                env=environment(os.environ, folder, path),
                text=True,
                encoding="utf-8",
            )

    def ask(self, verb: str, patience: float = _PATIENCE, **request: Any) -> dict[str, Any]:
        """Return the answer to one request.

        Raises CannotError where the library has no such thing, WorkerError where it failed, died or
        took longer than `patience` seconds.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(patience, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps({"do": verb, **request}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise WorkerError(f"{verb}: the process ended; its last words: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "cannot" in answer:
            raise CannotError(answer["cannot"])
        if "failed" in answer:
            print(answer["failed"], file=sys.stderr)
            raise WorkerError(f"{verb}: {answer['failed'].strip().splitlines()[-1]}")
        return answer["ok"]

    def end(self) -> None:
        """Close the store and end the process, whatever state it is in."""
        try:
            self.ask("close", patience=60.0)
        except (CannotError, WorkerError) as error:
            print(f"  closing: {error}", file=sys.stderr)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # what a dead worker did not read is still in the buffer
                    stream.close()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "none"


def environment(outer: Mapping[str, str], home: Path, path: str) -> dict[str, str]:
    """Return a worker's environment: no settings of ours, no telemetry, one thread, a home of its own."""
    kept = {
        key: value
        for key, value in outer.items()
        if not key.startswith(("MEMORY_", "HY_MEMORY_", "PYTHON", "OPENAI_", "MEM0_"))
    }
    made = {**kept, **_QUIET, **dict.fromkeys(_ONE_THREAD, "1"), "HOME": str(home), "OPENAI_API_KEY": "none"}
    return {**made, "PYTHONPATH": path} if path else made
