"""One library in a process and environment of its own, driven by JSON lines.

    python -P worker.py ADAPTER    requests on stdin, answers on the first stdout

Requests are ``{"do": verb, …}``; an answer is ``{"ok": …}``, ``{"cannot": reason}`` where the library has
no such thing, or ``{"failed": traceback}``. Whatever the library prints goes to stderr. The times of a call
are ``time.process_time`` (all threads of this process) and ``time.perf_counter``, taken around the library's
own call and nothing else. This file runs in environments that have neither hy_memory nor much else.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Answer = dict[str, Any]


class CannotError(Exception):
    """The library has no such thing; the text says why."""


class Stopwatch:
    """CPU and wall seconds of each `timed` call."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def timed(self, call: Callable[..., Any], *args: Any) -> Any:
        """Return what `call` returns, and note what it took."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = call(*args)
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return result

    def times(self) -> Answer:
        return {"cpu": self.cpu, "wall": self.wall}


class Lookup:
    """The embedder everybody gets: the vector of a known text, as the caller's object would return it."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self.documents = _read_lines(folder / "documents.jsonl")
        self.questions = _read_lines(folder / "questions.jsonl")
        self.vectors = np.load(folder / "documents.npy")
        self.question_vectors = np.load(folder / "questions.npy")
        self.dims = int(self.vectors.shape[1])
        self._rows = {one["text"].strip(): row for row, one in enumerate(self.documents)}
        self._question_rows = {one["text"].strip(): row for row, one in enumerate(self.questions)}

    def document(self, text: str) -> Any:
        """Return the vector (dims,) of a stored text."""
        return self.vectors[self._rows[text.strip()]]

    def question(self, text: str) -> Any:
        """Return the vector (dims,) of a question."""
        return self.question_vectors[self._question_rows[text.strip()]]


class Worker:
    """The verbs; an adapter module has ``PACKAGES`` and ``open_store(folder, lookup, options)``.

    A store has ``add(rows)`` and, as far as the library can, ``add_one(row)`` and ``close()``; ``arms`` names
    its ways of searching: each is called with (question, user, limit) and returns document ids, best first.
    """

    def __init__(self, adapter: Any, imported: Answer) -> None:
        self._adapter, self._imported = adapter, imported
        self._store: Any = None
        self._lookup: Any = None
        self._folder = Path()

    def hello(self, _: Answer) -> Answer:
        """Return versions and what importing cost."""
        return {
            "versions": _versions(self._adapter.PACKAGES),
            "python": sys.version.split()[0],
            **self._imported,
        }

    def open(self, request: Answer) -> Answer:
        """Open the store of a data set; return what constructing it cost."""
        self._lookup = Lookup(Path(request["data"]))
        self._folder = Path(request["folder"])
        self._folder.mkdir(parents=True, exist_ok=True)
        watch = Stopwatch()
        self._store = watch.timed(
            self._adapter.open_store, self._folder, self._lookup, request.get("options", {})
        )
        return {**watch.times(), "arms": list(self._store.arms)}

    def add(self, request: Answer) -> Answer:
        """Add rows first … last - 1 in bulk, the way the library does it."""
        watch = Stopwatch()
        watch.timed(self._store.add, range(request["first"], request["last"]))
        return watch.times()

    def ready(self, _: Answer) -> Answer:
        """Build what the library builds after the last row, such as an index that cannot grow."""
        watch = Stopwatch()
        if hasattr(self._store, "build"):
            watch.timed(self._store.build)
        return watch.times()

    def add_one(self, request: Answer) -> Answer:
        """Add rows one by one, each searchable before the next."""
        if not hasattr(self._store, "add_one"):
            raise CannotError(self._store.no_single)
        watch = Stopwatch()
        for row in range(request["first"], request["last"]):
            watch.timed(self._store.add_one, row)
        return watch.times()

    def search(self, request: Answer) -> Answer:
        """Ask questions by row; return ids and times of each."""
        search = self._store.arms[request["arm"]]
        watch, found = Stopwatch(), []
        for row in request["rows"]:
            one = self._lookup.questions[row]
            found.append(watch.timed(search, one["text"], one["user"], request["limit"]))
        return {**watch.times(), "ids": found}

    def stats(self, _: Answer) -> Answer:
        """Return resident memory and what the store's folder takes on disk (holes do not count), in bytes."""
        import psutil

        files = (file for file in self._folder.rglob("*") if file.is_file())
        return {
            "rss": psutil.Process().memory_info().rss,
            "disk": sum(512 * file.stat().st_blocks for file in files),
        }

    def close(self, _: Answer) -> Answer:
        """Close the store."""
        if hasattr(self._store, "close"):
            self._store.close()
        return {}


def answer(worker: Any, request: Answer) -> Answer:
    """Return the answer to one request, whatever happens."""
    try:
        return {"ok": getattr(worker, request["do"])(request)}
    except CannotError as reason:
        return {"cannot": str(reason)}
    except Exception:  # noqa: BLE001 - a peer may raise anything, and the driver must hear of it
        return {"failed": traceback.format_exc(limit=-6)}


def serve(worker: Any, lines: Iterator[str], send: Callable[[str], Any]) -> None:
    """Answer requests until "close" or the end of input."""
    for line in lines:
        request = json.loads(line)
        send(json.dumps(answer(worker, request)))
        if request["do"] == "close":
            return


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # a library that prints must not break the protocol
    watch = Stopwatch()
    adapter = watch.timed(_load, Path(sys.argv[1]))
    worker = Worker(adapter, watch.times())
    serve(worker, iter(sys.stdin), lambda text: channel.write(text + "\n"))
    channel.flush()
    os._exit(0)  # some libraries leave threads that would keep the process


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("adapter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapter"] = module
    spec.loader.exec_module(module)
    return module


def _versions(packages: list[str]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "from this checkout"
    return found


def _read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    main()
