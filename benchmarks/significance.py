"""Is one run better than another, or luck: a paired bootstrap over the questions.

    python -m benchmarks.significance DIR RUNS_A RUNS_B

DIR is the folder of labelled sets; RUNS_A and RUNS_B are folders of run files that benchmarks.retrieval wrote
(`--out`), or single files. Files are paired by their set, the first part of their names. Prints what B gains
over A in recall@10 and nDCG@10 with the 95 % interval of 10,000 resamples of the questions, and an asterisk
where that leaves out 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.retrieval import read_lines, score, sets_in

RESAMPLES = 10_000
_AT_ONCE = 500  # resamples drawn together: bounds the memory of a large set


def scores(queries: Path, run: Mapping[str, list[str]]) -> npt.NDArray[np.float64]:
    """Return recall@10 and nDCG@10 (n, 2) of each question; one that the run has not counts as empty."""
    rows = [
        score(run.get(str(query["id"]), []), query["relevant"])
        for query in read_lines(queries)
        if query["relevant"]
    ]
    return np.array(rows)[:, 1:3]


def interval(gains: npt.NDArray[np.float64], seed: int = 7) -> tuple[float, float, float]:
    """Return the mean of paired gains (n,) and the bounds of its 95 % bootstrap interval."""
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            gains[rng.integers(len(gains), size=(_AT_ONCE, len(gains)))].mean(axis=1)
            for _ in range(RESAMPLES // _AT_ONCE)
        ]
    )
    low, high = np.quantile(means, (0.025, 0.975))
    return float(gains.mean()), float(low), float(high)


def read_runs(place: Path) -> dict[str, dict[str, list[str]]]:
    """Return the runs of a folder, or of one file, by set."""
    files = [place] if place.is_file() else sorted(place.glob("*.jsonl"))
    runs: dict[str, dict[str, list[str]]] = {}
    for file in files:
        name = file.name.partition(".")[0]
        if name in runs:
            raise SystemExit(f"{place} has several runs of {name}; name one file")
        lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        runs[name] = {str(line["id"]): line["ranked"] for line in lines}
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    before, after = read_runs(options.before), read_runs(options.after)
    for name, _, queries in sets_in(options.folder):
        if name not in before or name not in after:
            continue
        gains = scores(queries, after[name]) - scores(queries, before[name])
        told = []
        for metric, column in zip(("R@10", "nDCG@10"), gains.T, strict=True):
            mean, low, high = interval(column)
            mark = "*" if low > 0 or high < 0 else " "
            told.append(f"{metric} {mean:+.4f} [{low:+.4f}, {high:+.4f}]{mark}")
        print(f"{name:14} n={len(gains):<5} " + "   ".join(told), flush=True)


if __name__ == "__main__":
    main()
