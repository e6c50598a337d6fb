"""Speed and memory of the client beside the raw engines, in CPU time, both sides in one run.

    python -m benchmarks.speed --size 10000 100000 --backend faiss qdrant
    python -m benchmarks.speed --size 1000000 --backend faiss qdrant --only search start

Each search is measured as: the whole `client.search` (vectors injected: no model), the part of it
spent in the backend's own calls, and the raw engine asked for the same 30 neighbours with the same
user filter. Figures are medians over many users and questions; the goals are those of the project.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.data import DIMS, Corpus, make_corpus, make_query
from benchmarks.raw_engines import raw_engine
from hy_memory import HyMemoryClient

LIMIT = 10
Row = tuple[str, float, str]
"""What was measured, the figure, and the goal."""


class Injected:
    """An `embedding_service` that is told each vector beforehand: models cost nothing here."""

    name = "injected"

    def __init__(self) -> None:
        self.next: Any = np.eye(1, DIMS, dtype=np.float32)[0]

    def get_embedding_dims(self) -> int:
        return DIMS

    def embed_batch(self, texts: Sequence[str]) -> Any:
        return np.repeat(self.next[None, :], len(texts), axis=0)

    def embed_query(self, text: str) -> Any:
        return self.next


class Timed:
    """An index whose calls are timed: what remains of a search is the SDK's own."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.spent = inner, 0.0

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        call = getattr(self.inner, verb)

        def timed(*args: Any) -> Any:
            started = time.process_time()
            try:
                return call(*args)
            finally:
                self.spent += time.process_time() - started

        return timed


def config(folder: str, backend: str) -> dict[str, Any]:
    return {
        "data_dir": folder,
        "vector_store": {"provider": backend, "memory_budget_mb": 8192},
        "ledger": {"synchronous": "NORMAL"},
        "embedder": {"cache_size": 0},
    }


def fill(client: HyMemoryClient, corpus: Corpus) -> float:
    """Store a corpus user by user with given vectors; return rows per second of CPU time."""
    started = time.process_time()
    for user in range(int(corpus.owners.max()) + 1):
        rows = corpus.of(user)
        for start in range(0, len(rows), 2000):
            part = rows[start : start + 2000]
            client.add_extracted(
                [corpus.texts[row] for row in part.tolist()],
                user_id=f"user{user}",
                source=f"app{user % 7}",
                embeddings=corpus.vectors[part],
            )
    return len(corpus.texts) / (time.process_time() - started)


def median_ms(spent: Sequence[float]) -> float:
    return 1000 * float(np.median(spent))


def measure_search(client: HyMemoryClient, corpus: Corpus, backend: str, rounds: int) -> list[Row]:
    """Return rows of (what, ms or ratio, goal) for both readers, interleaved with the raw engine."""
    rng = np.random.default_rng(11)
    users = [user for user in range(0, 200, 4) if len(corpus.of(user)) > 0]
    raw = raw_engine(backend, corpus)
    runtime = client._runtime
    assert runtime is not None
    timers = (Timed(runtime.reading.vectors), Timed(runtime.reading.keywords))
    inner = (runtime.reading.vectors, runtime.reading.keywords)
    spent: dict[str, list[float]] = {
        key: [] for key in ("legacy", "hybrid", "legacy own", "hybrid own", "raw")
    }
    for number in range(rounds):
        user = users[number % len(users)]
        query, vector = make_query(corpus, user, rng)
        for reader in ("legacy", "hybrid"):
            asked = {
                "user_ids": [f"user{user}"],
                "limit": LIMIT,
                "min_score": 0.0,
                "reader": reader,
                "query_embedding": vector,
            }
            if number < len(users):
                client.search(query, **asked)
            started = time.process_time()
            client.search(query, **asked)
            spent[reader].append(time.process_time() - started)
            _swap(runtime.reading, timers)
            for timer in timers:
                timer.spent = 0.0
            started = time.process_time()
            client.search(query, **asked)
            spent[f"{reader} own"].append(
                time.process_time() - started - sum(timer.spent for timer in timers)
            )
            _swap(runtime.reading, inner)
        started = time.process_time()
        raw(user, vector, LIMIT)
        spent["raw"].append(time.process_time() - started)
    medians = {key: median_ms(values) for key, values in spent.items()}
    return [
        ("search legacy, ms", medians["legacy"], ""),
        ("search hybrid, ms", medians["hybrid"], ""),
        ("raw engine call, ms", medians["raw"], ""),
        ("SDK time, legacy, ms", medians["legacy own"], "≤ 0.25"),
        ("SDK time, hybrid, ms", medians["hybrid own"], "≤ 0.25"),
        ("legacy / raw engine", medians["legacy"] / medians["raw"], "≤ 1.5 at 100k"),
    ]


def _swap(reading: Any, legs: Sequence[Any]) -> None:
    object.__setattr__(reading, "vectors", legs[0])
    object.__setattr__(reading, "keywords", legs[1])


def measure_add(client: HyMemoryClient, service: Injected, corpus: Corpus) -> list[Row]:
    """Return the cost of one `add`, searchable on return, without the embedding."""
    rng = np.random.default_rng(13)
    spent = []
    for number in range(200):
        service.next = corpus.vectors[number]
        text = corpus.texts[int(rng.integers(len(corpus.texts)))]
        started = time.process_time()
        client.add(text, user_id=f"user{number % 50}")
        spent.append(time.process_time() - started)
    return [("single add, ms", median_ms(spent), "≤ 1.0")]


def measure_start(folder: str, backend: str) -> list[Row]:
    """Return CPU seconds of import and construction, and of a first search, in a fresh process."""
    code = f"""
import time; start = time.process_time()
import hy_memory; imported = time.process_time()
from benchmarks.speed import Injected, config
import numpy as np
prepared = time.process_time()
client = hy_memory.HyMemoryClient(config({folder!r}, {backend!r}), embedding_service=Injected())
opened = time.process_time()
client.search("words", user_ids=["user3"], min_score=0.0)
print(imported - start, opened - prepared, time.process_time() - opened)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    imported, opened, searched = map(float, done.stdout.split())
    return [
        ("import, CPU s", imported, "≤ 0.3"),
        ("construct, CPU s", opened, "≤ 0.2"),
        ("first search of a user, CPU s", searched, ""),
    ]


def measure_memory(folder: str, backend: str, corpus: Corpus, users: int) -> list[Row]:
    """Return resident memory after searching `users` users, over the raw size of their vectors."""
    active = int(sum(len(corpus.of(user)) for user in range(users)))
    code = f"""
import gc, psutil
import hy_memory
from benchmarks.speed import Injected, config
client = hy_memory.HyMemoryClient(config({folder!r}, {backend!r}), embedding_service=Injected())
client.search("words", user_ids=["nobody"], reader="hybrid")
gc.collect(); before = psutil.Process().memory_info().rss
for user in range({users}):
    client.search("words", user_ids=[f"user{{user}}"], reader="hybrid", min_score=0.0)
gc.collect(); print(psutil.Process().memory_info().rss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    grown = float(done.stdout)
    return [
        (f"RSS of {active} active memories, MB", grown / 1e6, ""),
        ("RSS / raw vectors", grown / (active * DIMS * 4), "≤ 3"),
    ]


def _in_fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--backend", nargs="+", default=["faiss", "qdrant"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=["search", "add", "start", "memory"])
    options = parser.parse_args()
    print(f"{'size':>9} {'backend':8} {'what':38}{'figure':>10}  goal")
    for size in options.size:
        corpus = make_corpus(size)
        for backend in options.backend:
            with tempfile.TemporaryDirectory() as folder:
                service = Injected()
                rows: list[Row] = []
                with HyMemoryClient(config(folder, backend), embedding_service=service) as client:
                    rows.append(("bulk add, rows / CPU s", fill(client, corpus), "≥ 5000"))
                    if "search" in options.only:
                        rows += measure_search(client, corpus, backend, options.rounds)
                    if "add" in options.only:
                        rows += measure_add(client, service, corpus)
                gc.collect()
                if "start" in options.only:
                    rows += measure_start(folder, backend)
                if "memory" in options.only:
                    rows += measure_memory(folder, backend, corpus, 1000 if size <= 100_000 else 50)
                disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
                rows.append(("disk, MB", disk / 1e6, ""))
                for what, figure, goal in rows:
                    print(f"{size:>9} {backend:8} {what:38}{figure:>10.3f}  {goal}", flush=True)
    memory, version = psutil.virtual_memory().total >> 30, sys.version.split()[0]
    print(f"machine: {os.cpu_count()} cores, {memory} GiB, Python {version}")


if __name__ == "__main__":
    main()
