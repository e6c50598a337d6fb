"""Scaling curves of this library, in CPU time.

    python -m benchmarks.scaling --cache FOLDER           stores of 10k, 100k and 1M, made once in FOLDER
    python -m benchmarks.scaling --cache FOLDER --sizes 10000 20000 --only store filters

Vectors are injected, so that no model counts; the backend is FAISS, the default. Writes scaling.md,
scaling.json and figures into docs/benchmarks; curves that are not run keep what scaling.json has.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import environments, machine
from benchmarks.peers.measure import say
from benchmarks.scaling import measure, stores
from benchmarks.scaling.table import page

Curve = Callable[[argparse.Namespace], list[measure.Point]]


def _middle(options: argparse.Namespace, run: Callable[..., list[measure.Point]], *args: Any) -> list[Any]:
    """Run a curve on the second of the store sizes."""
    size = options.sizes[min(1, len(options.sizes) - 1)]
    with stores.open_client(stores.store_of(options.cache, size)) as client:
        return run(client, *args)


CURVES: dict[str, Curve] = {
    "store": lambda o: measure.by_store(o.cache, o.sizes, o.questions),
    "user": lambda o: measure.by_user(o.cache, tuple(o.user_sizes), o.questions),
    "users": lambda o: _middle(o, measure.by_users_asked, (1, 2, 4, 8), o.questions),
    "filters": lambda o: _middle(o, measure.by_filters, (0, 1, 2, 4, 8), o.questions),
    "threads": lambda o: _middle(o, measure.by_threads, (1, 2, 4, 8, 16, 32), 4 * o.questions),
    "processes": lambda o: measure.by_processes(
        stores.store_of(o.cache, o.sizes[min(1, len(o.sizes) - 1)]), (1, 2, 3, 4), 4 * o.questions
    ),
    "ingest": lambda o: measure.ingest(o.cache, (1, 10, 100, 1000, 10_000), 500),
    "start": lambda o: measure.by_start(o.cache, o.sizes),
    "memory": lambda o: measure.by_active_users(
        stores.store_of(o.cache, o.sizes[-1]), o.active, (stores.BUDGET, 64)
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=Path(".bench-scaling"), help="folder of the stores")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--user-sizes", type=int, nargs="+", default=list(stores.USER_SIZES))
    parser.add_argument("--active", type=int, nargs="+", default=[1, 10, 50, 100, 200])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=list(CURVES), default=list(CURVES))
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    options.cache, options.out = options.cache.absolute(), options.out.absolute()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "scaling.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name in options.only:
        say(name)
        points = CURVES[name](options)
        results.setdefault("curves", {})[name] = points
        results.setdefault("load", {})[name] = round(os.getloadavg()[0], 1)
        results["about"] = {
            **machine.describe(),
            "date": time.strftime("%Y-%m-%d"),
            "seed": stores.SEED,
            "questions": options.questions,
        }  # fmt: skip - one line of facts
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "scaling.md").write_text(page(results), encoding="utf-8")
    plots = Path(__file__).with_name("plots.py")
    subprocess.run([str(environments.python_of("plots")), str(plots), str(path)], check=True)
    say(f"written to {options.out}")


if __name__ == "__main__":
    main()
