"""The page of the curves: a Markdown table each, and whether growth keeps to what was promised."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.table import grid, number

Results = dict[str, Any]
TITLES = {
    "store": ("Memories in the store", "Users of 1,000 memories each; more users, the same ten are asked."),
    "user": ("Memories of the user", "All users in one store."),
    "users": ("Users in one search", "Of 1,000 memories each."),
    "filters": ("Conditions in `filters`", "Each is met by every memory, so that none saves work."),
    "threads": ("Threads on one client", "Searches with `hybrid`; a second is of wall time."),
    "processes": ("Processes on one ledger", "Each with a client of its own."),
    "ingest": ("Memories in one call", "`add_extracted` with vectors given; on return they are searchable."),
    "start": ("Opening a store, by memories", "In a fresh process: CPU time, median of three."),
    "memory": ("Users searched since the start", "Growth of resident memory; 1,000 memories each."),
}
GROWTH = 1.3
"""What a search may cost more in the largest store than in the smallest, at the same size of user."""


def page(results: Results) -> str:
    """Return the whole page."""
    about, curves = results["about"], results["curves"]
    parts = [
        "<!-- Made by `make bench-scaling`. -->",
        "# What grows and what does not",
        f"{about['date']}, {about['cpu']}, {about['cores']} cores, Python {about['python']}; seed "
        f"{about['seed']}, {about['questions']} questions a point, 10 hits each, FAISS, vectors given: no "
        "model is timed. Milliseconds are CPU time, medians of searches asked in turns. Every number: "
        "[scaling.json](scaling.json).",
        "![scaling](scaling.svg)",
    ]
    for name, (title, remark) in TITLES.items():
        if name in curves:
            parts += [
                f"## {title}",
                f"{remark} Load average {results['load'][name]}.",
                _curve(title, curves[name]),
            ]
        if name == "store" and name in curves:
            parts.append(_growth(curves[name]))
    return "\n\n".join(parts) + "\n"


def growth(points: list[Results], reader: str) -> float:
    """Return the cost of a search at the last point over that at the first."""
    return points[-1][f"{reader} ms"] / points[0][f"{reader} ms"]


def _growth(points: list[Results]) -> str:
    told = []
    for reader in ("legacy", "hybrid"):
        ratio = growth(points, reader)
        told.append(f"`{reader}` {ratio:.2f}× ({'reached' if ratio <= GROWTH else '**missed**'})")
    return (
        f"From {points[0]['x']:,} to {points[-1]['x']:,} memories at the same size of user: "
        f"{', '.join(told)}; promised ≤ {GROWTH}×."
    )


def _curve(title: str, points: list[Results]) -> str:
    names = [name for name in points[0] if name != "x"]
    rows = [[f"{point['x']:,}", *(number(point[name]) for name in names)] for point in points]
    return grid([title[0].lower() + title[1:], *names], rows)
