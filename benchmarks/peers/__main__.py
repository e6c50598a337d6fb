"""hy_memory beside its peers, in CPU time and quality.

    python -m benchmarks.peers                          1k and 10k memories of one user
    python -m benchmarks.peers --size 1000 --only hy_memory-faiss mem0
    python -m benchmarks.peers --quality FOLDER         also the labelled sets of a folder

Labelled sets have the form that benchmarks.retrieval reads. Writes a table, figures and all numbers
into docs/benchmarks. What is measured is kept in the work folder, so an interrupted run goes on where
it was; --fresh begins anew. Progress on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.embedding_file import FiledEmbedder
from benchmarks.peers import environments, machine, sets
from benchmarks.peers.measure import LIMIT, SpeedRun, State, measure_quality, say
from benchmarks.peers.process import Process
from benchmarks.peers.results import collect
from benchmarks.peers.roster import ROSTER, Peer
from benchmarks.peers.table import page
from benchmarks.retrieval import sets_in
from hy_memory.parts import open_embedder
from hy_memory.settings.load import load_settings

_HERE = Path(__file__).parent
_PLAN = "plan"


def start(peer: Peer, folder: Path) -> Process:
    """Start a peer's worker in its environment; what it prints goes to worker.log in `folder`."""
    python = environments.python_of(peer.environment)
    command = [str(python), "-P", str(_HERE / "worker.py"), str(_HERE / "adapters" / f"{peer.adapter}.py")]
    path = str(_HERE.parents[1]) if peer.environment == environments.HERE else ""
    return Process(command, folder, folder / "worker.log", path)


def measure_sets(state: State, peers: Sequence[Peer], options: argparse.Namespace) -> None:
    """Measure quality on every labelled set of the folder."""
    settings = load_settings({"embedder": {"provider": options.embedder, "cache_size": 0}})
    inner = open_embedder(settings, None, None)
    embedder = FiledEmbedder(inner, options.cache / f"{inner.name}-{inner.fingerprint}.npz")
    about = {"name": inner.name, "calibration": inner.calibration.name.upper()}
    state.put(about, "embedder")
    for name, corpus, questions in sets_in(options.quality):
        say(f"{name}: embedding")
        folder = sets.labelled(options.work / "sets" / name, (corpus, questions), embedder)
        (folder / "embedder.json").write_text(json.dumps(about))
        measure_quality(
            state, start, [one for one in peers if one.quality], folder, options.work / "stores" / name
        )


def write(state: State, out: Path) -> None:
    """Write the numbers, the page and the figures."""
    out.mkdir(parents=True, exist_ok=True)
    results = collect(state.all, ROSTER)
    (out / "results.json").write_text(
        json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (out / "peers.md").write_text(page(results), encoding="utf-8")
    python = environments.python_of("plots")
    subprocess.run([str(python), str(_HERE / "plots.py"), str(out / "results.json")], check=True)
    say(f"written to {out}")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--only", nargs="+", choices=[peer.name for peer in ROSTER], help="these peers")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--quality", type=Path, help="folder of labelled sets")
    parser.add_argument(
        "--embedder", default="auto", help="whose vectors everybody gets on the labelled sets"
    )
    parser.add_argument(
        "--fill-minutes", type=float, default=30.0, help="a peer that would take longer is left out"
    )
    parser.add_argument("--work", type=Path, default=Path(".bench-peers"))
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hy_memory-benchmarks")
    parser.add_argument("--fresh", action="store_true", help="forget what is measured")
    parser.add_argument("--report-only", action="store_true", help="write what is measured, measure nothing")
    return parser.parse_args(given)


def open_state(options: argparse.Namespace) -> State:
    """Return the state of the work folder; one made by another plan is begun anew."""
    plan: dict[str, Any] = {"questions": options.questions, "seed": sets.SEED, "limit": LIMIT}
    state = State(options.work / "state.json")
    if options.fresh or state.get(_PLAN) not in (None, plan):
        say("beginning anew")
        shutil.rmtree(options.work)
    options.work.mkdir(parents=True, exist_ok=True)
    state = State(options.work / "state.json")
    if state.get(_PLAN) is None:
        state.put(plan, _PLAN)
    return state


def main() -> None:
    options = arguments()
    options.work, options.out = options.work.absolute(), options.out.absolute()
    state = open_state(options)
    peers = [peer for peer in ROSTER if options.only is None or peer.name in options.only]
    if not options.report_only:
        for name in sorted({peer.environment for peer in peers} - {environments.HERE}):
            environments.python_of(name)
        state.put({**machine.describe(), "date": time.strftime("%Y-%m-%d")}, "machine")
        for size in options.size:
            say(f"{size:,} memories; load {os.getloadavg()[0]:.1f}")
            data = sets.synthetic(options.work / "sets" / f"synthetic-{size}", size, options.questions)
            run = SpeedRun(state, start, data, options.work / "stores" / str(size))
            run.run([peer for peer in peers if peer.speed], 60 * options.fill_minutes)
            state.put(sets.nearest(data, LIMIT)[sets.SELF_QUESTIONS :], "nearest", str(size))
            state.put(os.getloadavg()[1], "load", str(size))
        if options.quality is not None:
            measure_sets(state, peers, options)
    write(state, options.out)


if __name__ == "__main__":
    sys.exit(main())
