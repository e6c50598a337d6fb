"""The curves. A point is a dictionary with its `x` and what was measured there; times are CPU milliseconds.

Searches of one curve are asked in turns, one point after the other, so that a noisy moment touches all.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import make_corpus
from benchmarks.scaling import stores
from benchmarks.scaling.stores import Question
from hy_memory import HyMemoryClient

READERS = ("legacy", "hybrid")
LIMIT = 10
Point = dict[str, Any]
Search = Callable[[Question, str], Any]


def searching(client: HyMemoryClient, users: Sequence[str] = (), **extra: Any) -> Search:
    """Return a search of a client, of the question's user or of `users`."""

    def search(question: Question, reader: str) -> Any:
        return client.search(
            question.text,
            user_ids=list(users) or [question.user],
            query_embedding=question.vector,
            reader=reader,
            limit=LIMIT,
            min_score=0.0,
            **extra,
        )

    return search


def in_turns(
    searches: dict[Any, Search], asked: Sequence[Question], users: Sequence[str] = ()
) -> list[Point]:
    """Return a point for each search, both readers, asked the same questions in turns.

    `users` replaces the questions' own user, one for each search in order.
    """
    spent: dict[tuple[Any, str], list[float]] = {}
    for turn, question in enumerate([*asked, *asked]):  # the first round loads and is not counted
        for place, (x, search) in enumerate(searches.items()):
            one = Question(users[place], question.text, question.vector) if users else question
            for reader in READERS:
                started = time.process_time()
                search(one, reader)
                if turn >= len(asked):
                    spent.setdefault((x, reader), []).append(time.process_time() - started)
    return [
        {"x": x, **{f"{reader} ms": _ms(spent[x, reader]) for reader in READERS}, **_p95(spent, x)}
        for x in searches
    ]


def by_store(cache: Path, sizes: Sequence[int], count: int) -> list[Point]:
    """Search users of 1,000 memories in stores of growing size, all open at once."""
    with ExitStack() as opened:
        clients = {
            size: opened.enter_context(stores.open_client(stores.store_of(cache, size))) for size in sizes
        }
        searches = {size: searching(client) for size, client in clients.items()}
        return in_turns(searches, stores.questions(10, count))


def by_user(cache: Path, sizes: tuple[int, ...], count: int) -> list[Point]:
    """Search users of growing size in one store."""
    with stores.open_client(stores.store_of_sizes(cache, sizes)) as client:
        names = [stores.user_name(number) for number in range(len(sizes))]
        search = searching(client)
        return in_turns(dict.fromkeys(sizes, search), stores.questions(1, count), names)


def by_users_asked(client: HyMemoryClient, numbers: Sequence[int], count: int) -> list[Point]:
    """Search several users of 1,000 memories at once."""
    groups = {number: [stores.user_name(user) for user in range(number)] for number in numbers}
    searches = {number: searching(client, names) for number, names in groups.items()}
    return in_turns(searches, stores.questions(10, count))


def by_filters(client: HyMemoryClient, numbers: Sequence[int], count: int) -> list[Point]:
    """Search under a growing number of conditions, each of which everything meets."""
    searches = {0: searching(client)}
    for number in numbers:
        if number:
            conditions = [{"metadata.rank": {"gte": -one}} for one in range(number)]
            searches[number] = searching(client, filters={"and": conditions})
    return in_turns(searches, stores.questions(10, count))


def by_threads(client: HyMemoryClient, numbers: Sequence[int], count: int) -> list[Point]:
    """Let threads share one client; searches a second are of wall time."""
    asked, search, points = stores.questions(10, count), searching(client), []
    for question in asked[:10]:
        search(question, "hybrid")
    for number in numbers:
        with ThreadPoolExecutor(number) as pool:
            wall, cpu = time.perf_counter(), time.process_time()
            for done in [pool.submit(search, question, "hybrid") for question in asked]:
                done.result()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        points.append({"x": number, "searches / s": count / wall, "hybrid ms": 1000 * cpu / count})
    return points


def by_processes(folder: Path, numbers: Sequence[int], count: int) -> list[Point]:
    """Let processes share one ledger, each with a client of its own."""
    context, points = multiprocessing.get_context("spawn"), []
    for number in numbers:
        barrier, answers = context.Barrier(number), context.Queue()
        workers = [
            context.Process(target=_work, args=(folder, count, barrier, answers)) for _ in range(number)
        ]
        for worker in workers:
            worker.start()
        spent = [answers.get(timeout=600) for _ in workers]
        for worker in workers:
            worker.join()
        wall = max(end for _, end, _ in spent) - min(start for start, _, _ in spent)
        cpu = sum(each for _, _, each in spent) / (number * count)
        points.append({"x": number, "searches / s": number * count / wall, "hybrid ms": 1000 * cpu})
    return points


def _work(folder: Path, count: int, barrier: Any, answers: Any) -> None:
    with stores.open_client(folder) as client:
        asked, search = stores.questions(10, count), searching(client)
        for question in asked[:10]:
            search(question, "hybrid")
        barrier.wait()
        start, cpu = time.time(), time.process_time()
        for question in asked:
            search(question, "hybrid")
        answers.put((start, time.time(), time.process_time() - cpu))


def ingest(cache: Path, batches: Sequence[int], count: int) -> list[Point]:
    """Add memories with their vectors in calls of growing size; CPU milliseconds a memory."""
    folder, points = cache / "ingest", []
    with stores.open_client(folder) as client:
        for batch in batches:
            rows = max(count, batch)
            corpus = make_corpus(rows, stores.SEED + batch, users=1)
            user = stores.user_name(time.time_ns())  # a new one each time: the folder may be an old one
            wall, cpu = time.perf_counter(), time.process_time()
            stores.rows_of(corpus, range(rows), user, client, batch)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            points.append({"x": batch, "ms a memory": 1000 * cpu / rows, "memories / s": rows / wall})
    return points


_START = """
import time; start = time.process_time()
import hy_memory; imported = time.process_time()
from pathlib import Path
from benchmarks.scaling import stores
asked = stores.questions(1, 1)[0]
before = time.process_time()
client = stores.open_client(Path({folder!r})); opened = time.process_time()
from benchmarks.scaling.measure import searching
ready = time.process_time()
searching(client)(asked, "hybrid")
print(imported - start, opened - before, time.process_time() - ready)
"""


def by_start(cache: Path, sizes: Sequence[int]) -> list[Point]:
    """Open stores of growing size in fresh processes: the median of three."""
    points = []
    for size in sizes:
        code = _START.format(folder=str(stores.store_of(cache, size)))
        runs = np.median([[float(one) for one in _fresh(code).split()] for _ in range(3)], axis=0)
        names = ("import ms", "open ms", "first search ms")
        points.append({"x": size, **{name: 1000 * float(one) for name, one in zip(names, runs, strict=True)}})
    return points


_MEMORY = """
import gc, psutil
from pathlib import Path
from benchmarks.scaling import stores
client = stores.open_client(Path({folder!r}), {budget!r})
asked = dict(user_ids=["nobody"], reader="hybrid", min_score=0.0)
client.search("words", **asked)
gc.collect(); before = psutil.Process().memory_info().rss
for user in range({users}):
    client.search("words", **{{**asked, "user_ids": [stores.user_name(user)]}})
gc.collect(); print((psutil.Process().memory_info().rss - before) / 1e6)
"""


def by_active_users(folder: Path, numbers: Sequence[int], budgets: Sequence[int]) -> list[Point]:
    """Return resident memory that searching a number of users takes, under budgets for working sets in MB."""
    points = []
    for number in numbers:
        grown = {
            f"MB, budget {budget:,} MB": float(
                _fresh(_MEMORY.format(folder=str(folder), budget=budget, users=number))
            )
            for budget in budgets
        }
        points.append({"x": number, **grown, "raw vectors MB": number * stores.USER * 384 * 4 / 1e6})
    return points


def _fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip().splitlines()[-1]


def _ms(spent: Sequence[float]) -> float:
    return 1000 * float(np.median(spent))


def _p95(spent: dict[tuple[Any, str], list[float]], x: Any) -> Point:
    return {f"{reader} p95 ms": 1000 * float(np.percentile(spent[x, reader], 95)) for reader in READERS}
