"""The figure of what a score means, from calibration.json, as PNG and SVG beside it.

    python benchmarks/calibration_figure.py docs/benchmarks/calibration.json

Runs in an environment that has matplotlib, such as `.venv-peers/plots`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

_STYLE = {"svg.hashsalt": "hy_memory", "svg.fonttype": "none", "font.size": 9, "axes.grid": True}
_COLOURS = ("#c2410c", "#1d4ed8", "#15803d", "#7c3aed", "#475569", "#be185d")
_EDGES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # as benchmarks.calibration counts
_FEWEST = 20  # memories in a bin whose share is drawn: of fewer, it is chance


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw the share of relevant memories by score: a line of panels a reader, a column an embedder."""
    embedders = list(dict.fromkeys(row["embedder"] for row in rows))
    readers = list(dict.fromkeys(row["reader"] for row in rows))
    colours = dict(zip(dict.fromkeys(row["name"] for row in rows), _COLOURS, strict=False))
    size = (4 * len(embedders), 3.1 * len(readers))
    figure, panels = plt.subplots(
        len(readers), len(embedders), figsize=size, squeeze=False, layout="constrained"
    )
    for row in rows:
        axes = panels[readers.index(row["reader"])][embedders.index(row["embedder"])]
        points = [
            ((_EDGES[place] + _EDGES[place + 1]) / 2, relevant / shown)
            for place, (shown, relevant) in enumerate(zip(row["shown"], row["relevant"], strict=True))
            if shown >= _FEWEST
        ]
        if points:
            line = tuple(zip(*points, strict=True))
            axes.plot(*line, "o-", markersize=3, color=colours[row["name"]], label=row["name"])
        axes.axvline(0.4, color="#94a3b8", linestyle="--", linewidth=1)
        axes.set(title=f"{row['embedder']}, {row['reader']}", xlim=(0, 1), ylim=(0, 1.02))
        axes.set(xlabel="score", ylabel="share labelled relevant")
    panels[0][0].legend(fontsize=7, loc="upper left")
    for suffix, extra in (("png", {"dpi": 110}), ("svg", {"metadata": {"Date": None}})):
        figure.savefig(folder / f"calibration.{suffix}", **extra)


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update(_STYLE)
    path = Path(sys.argv[1])
    draw(json.loads(path.read_text(encoding="utf-8")), path.parent)


if __name__ == "__main__":
    main()
