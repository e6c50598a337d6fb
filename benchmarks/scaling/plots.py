"""The figure, from scaling.json, as PNG and SVG beside it. Runs in an environment that has matplotlib.

python plots.py scaling.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib import ticker

_STYLE = {"svg.hashsalt": "hy_memory", "svg.fonttype": "none", "font.size": 9, "axes.grid": True}
_COLOURS = ("#c2410c", "#1d4ed8", "#475569")
# curve: label of x, whether x is logarithmic, label of y, what is drawn
PANELS: dict[str, tuple[str, bool, str, tuple[str, ...]]] = {
    "store": ("memories in the store", True, "CPU ms a search", ("legacy ms", "hybrid ms")),
    "user": ("memories of the user", True, "CPU ms a search", ("legacy ms", "hybrid ms")),
    "users": ("users in one search", False, "CPU ms a search", ("legacy ms", "hybrid ms")),
    "filters": ("conditions", False, "CPU ms a search", ("legacy ms", "hybrid ms")),
    "threads": ("threads", True, "searches a second", ("searches / s",)),
    "processes": ("processes", False, "searches a second", ("searches / s",)),
    "ingest": ("memories in one call", True, "CPU ms a memory", ("ms a memory",)),
    "start": ("memories in the store", True, "CPU ms", ("open ms", "first search ms")),
    "memory": ("users searched", False, "MB", ()),
}


def draw(curves: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    """Draw a panel for each curve there is."""
    names = [name for name in PANELS if name in curves]
    lines = -(-len(names) // 3)
    figure, panels = plt.subplots(lines, 3, figsize=(12, 3.1 * lines), squeeze=False, layout="constrained")
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    for axes, name in zip(panels.flat, names, strict=False):
        xlabel, is_log, ylabel, drawn = PANELS[name]
        points = curves[name]
        for colour, key in zip(
            _COLOURS, drawn or tuple(key for key in points[0] if key != "x"), strict=False
        ):
            label = key.removesuffix(" ms")
            axes.plot(
                [one["x"] for one in points], [one[key] for one in points], "o-", color=colour, label=label
            )
        axes.set(xlabel=xlabel, ylabel=ylabel)
        if is_log:
            axes.set_xscale("log", base=2 if name == "threads" else 10)
        if name == "user":
            axes.set_yscale("log")
            for axis in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                axis(ticker.StrMethodFormatter("{x:g}"))
        else:
            axes.set_ylim(bottom=0, top=1.1 * axes.get_ylim()[1])
        if len(axes.lines) > 1:
            axes.legend(fontsize=8)
    for suffix, extra in (("png", {"dpi": 110}), ("svg", {"metadata": {"Date": None}})):
        figure.savefig(folder / f"scaling.{suffix}", **extra)


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update(_STYLE)
    path = Path(sys.argv[1])
    draw(json.loads(path.read_text(encoding="utf-8"))["curves"], path.parent)


if __name__ == "__main__":
    main()
