"""The figures, from results.json, as PNG and SVG beside it. Runs in an environment that has matplotlib.

python plots.py results.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

_STYLE = {"svg.hashsalt": "hy_memory", "svg.fonttype": "none", "font.size": 9, "axes.grid": True}

OURS, OTHERS, ENGINES = "#c2410c", "#475569", "#94a3b8"
_ENGINE_KEYS = ("faiss/", "qdrant-edge/", "chroma/", "bm25s/", "rank-bm25/")
Row = dict[str, Any]


def colour(row: Row) -> str:
    if row["key"].startswith("hy_memory"):
        return OURS
    return ENGINES if row["key"].startswith(_ENGINE_KEYS) else OTHERS


def plain(title: str) -> str:
    return title.replace("**", "")


def by_size(speed: dict[str, list[Row]], folder: Path) -> None:
    """Draw CPU time of a search over the size, both logarithmic; at one size only, points."""
    lines: dict[str, list[tuple[int, float]]] = {}
    rows: dict[str, Row] = {}
    for size, found in speed.items():
        for row in found:
            if row["cpu ms"]:
                lines.setdefault(row["key"], []).append((int(size), row["cpu ms"]))
                rows[row["key"]] = row
    figure, axes = plt.subplots(figsize=(10, 7))
    marks = "osD^vP*Xh<>p"
    for place, (key, points) in enumerate(lines.items()):
        row = rows[key]
        dash = "--" if "hybrid" in row["title"] else "-"
        label = f"{plain(row['title'])} ({points[-1][1]:.3g} ms)"
        axes.plot(
            *zip(*points, strict=True),
            color=colour(row),
            marker=marks[place % len(marks)],
            linestyle=dash,
            label=label,
        )
    axes.set(xscale="log", yscale="log", xlabel="memories of the user", ylabel="CPU ms a search (median)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    save(figure, folder, "search-by-size")


def ratios(speed: dict[str, list[Row]], folder: Path) -> None:
    """Draw how many times the CPU time of our default search each row takes, at 10,000 or the largest."""
    size = "10000" if "10000" in speed else max(speed, key=int)
    rows = sorted((row for row in speed[size] if row["ratio"]), key=lambda row: row["ratio"])
    figure, axes = plt.subplots(figsize=(9, 0.3 * len(rows) + 1.2))
    bars = axes.barh(
        [plain(row["title"]) for row in rows], [row["ratio"] for row in rows], color=[*map(colour, rows)]
    )
    axes.bar_label(bars, [f"{row['ratio']:.3g}×" for row in rows], padding=3)
    axes.set(xscale="log", xlabel=f"CPU time of a search over hy_memory's default, {int(size):,} memories")
    axes.margins(x=0.12)
    axes.grid(axis="y", visible=False)
    save(figure, folder, "ratios")


def overview(results: dict[str, Any], folder: Path) -> None:
    """Draw the main picture: what a search costs everybody, and beside it how well they find."""
    speed, sets = results["speed"], results["quality"]
    size = "10000" if "10000" in speed else max(speed, key=int)
    rows = sorted((row for row in speed[size] if row["cpu ms"]), key=lambda row: -row["cpu ms"])
    gains: dict[str, list[float]] = {}
    for found in sets.values():
        for row in found:
            if row["nDCG@10"] is not None:
                gains.setdefault(row["key"], []).append(row["nDCG@10"])
    means = [sum(gains[row["key"]]) / len(sets) if row["key"] in gains else 0.0 for row in rows]
    titles, colours = [plain(row["title"]) for row in rows], [*map(colour, rows)]
    figure, (cost, found) = plt.subplots(
        1, 2, figsize=(11, 0.33 * len(rows) + 1.2), sharey=True, width_ratios=(3, 2), layout="constrained"
    )
    bars = cost.barh(titles, [row["cpu ms"] for row in rows], color=colours)
    cost.bar_label(bars, [f"{row['cpu ms']:.3g} ms" for row in rows], padding=3)
    cost.set(xscale="log", title=f"CPU time of a search, {int(size):,} memories (log scale)", xlabel="ms")
    cost.margins(x=0.15, y=0.01)
    bars = found.barh(titles, means, color=colours)
    found.bar_label(bars, [f"{mean:.3f}" if mean else "–" for mean in means], padding=3)
    found.set(title=f"nDCG@10, mean of {len(sets)} labelled sets", xlim=(0, 1))
    for axes in (cost, found):
        axes.grid(axis="y", visible=False)
    for label, shade in zip(cost.get_yticklabels(), colours, strict=True):
        label.set(color=shade, fontweight="bold" if shade == OURS else "normal")
    save(figure, folder, "overview")


def quality(sets: dict[str, list[Row]], folder: Path) -> None:
    """Draw nDCG@10 of every row, one panel a set."""
    columns = min(3, len(sets))
    lines = -(-len(sets) // columns)
    figure, panels = plt.subplots(
        lines, columns, figsize=(5 * columns, 3.6 * lines), squeeze=False, sharey=True, layout="constrained"
    )
    for axes in panels.flat[len(sets) :]:
        axes.set_visible(False)
    for axes, (name, found) in zip(panels.flat, sets.items(), strict=False):
        rows = [row for row in found if row["nDCG@10"] is not None][::-1]
        values = [row["nDCG@10"] for row in rows]
        bars = axes.barh([plain(row["title"]) for row in rows], values, color=[*map(colour, rows)])
        axes.bar_label(bars, [f"{value:.3f}" for value in values], padding=3)
        axes.set(title=name, xlabel="nDCG@10", xlim=(0, 1))
        axes.grid(axis="y", visible=False)
    save(figure, folder, "quality")


def save(figure: Any, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.png", dpi=130, bbox_inches="tight")
    figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update(_STYLE)
    path = Path(sys.argv[1])
    results = json.loads(path.read_text(encoding="utf-8"))
    if results["speed"]:
        by_size(results["speed"], path.parent)
        ratios(results["speed"], path.parent)
    if results["speed"] and results["quality"]:
        overview(results, path.parent)
    if results["quality"]:
        quality(results["quality"], path.parent)


if __name__ == "__main__":
    main()
