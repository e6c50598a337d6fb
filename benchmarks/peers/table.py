"""The page: Markdown tables of the results, "–" with a footnote where a peer has no such thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Results = dict[str, Any]
Column = tuple[str, Callable[[Results], str]]
NOTHING = "–"
_LONGEST_NOTE = 600  # characters: a library may put much into an error

FIGURES = ("overview", "search-by-size", "ratios", "quality")
_FOOT = "[^{}]"


class Footnotes:
    """Reasons by number, each told once."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def mark(self, text: str | None) -> str:
        """Return the mark of a footnote, "" where there is nothing to say."""
        if not text:
            return ""
        told = " ".join(text.split())
        told = told if len(told) <= _LONGEST_NOTE else told[: _LONGEST_NOTE - 2] + " …"
        if told not in self._texts:
            self._texts.append(told)
        return _FOOT.format(self._texts.index(told) + 1)

    def lines(self) -> list[str]:
        return [f"{_FOOT.format(number)}: {text}" for number, text in enumerate(self._texts, 1)]


def page(results: Results) -> str:
    """Return the whole page."""
    notes = Footnotes()
    parts = ["<!-- Made by `make bench-peers`. -->", "# Beside its peers", _about(results)]
    if results["goals"]:
        parts += ["## What was promised", _goals(results["goals"])]
    for size, rows in results["speed"].items():
        parts += [
            f"## {int(size):,} memories of one user",
            "### A search",
            _table(_search_columns(notes), rows),
        ]
        parts += ["### Everything else", _table(_cost_columns(notes), _first_of_each(rows))]
    if results["quality"]:
        parts += ["## Quality, R@10 / nDCG@10", _quality(results["quality"], notes)]
    shown = [name for name in FIGURES if name not in ("overview", "quality") or results["quality"]]
    parts += [
        "## Figures",
        *(f"![{name}]({name}.svg)" for name in shown),
        "## Versions",
        _versions(results["versions"]),
    ]
    return "\n\n".join([*parts, "\n".join(notes.lines())]).rstrip() + "\n"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with `digits` significant ones, "–" for None."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _about(results: Results) -> str:
    machine, plan = results["machine"], results["plan"]
    load = ", ".join(f"{value:.1f} at {int(size):,}" for size, value in results["load"].items())
    return (
        f"{machine.get('date')}, {machine.get('cpu')}, {machine.get('cores')} cores, "
        f"{machine.get('memory GiB')} GiB, {machine.get('system')}, Python {machine.get('python')}; "
        f"load average {load or NOTHING}; seed {plan.get('seed')}, {plan.get('questions')} questions, "
        f"{plan.get('limit')} hits each. How to read this: [README](README.md); "
        f"every number: [results.json](results.json)."
    )


def _goals(goals: Sequence[Results]) -> str:
    columns: list[Column] = [
        ("CPU time", lambda one: one["what"]),
        ("memories", lambda one: f"{int(one['size']):,}"),
        ("measured", lambda one: f"{number(one['ratio'])}{one['unit']}"),
        ("goal", lambda one: one["goal"]),
        ("", lambda one: "reached" if one["reached"] else "**missed**"),
    ]
    return _table(columns, goals)


def _search_columns(notes: Footnotes) -> list[Column]:
    def title(row: Results) -> str:
        return row["title"] + notes.mark(row["remark"])

    def cpu(row: Results) -> str:
        return number(row["cpu ms"]) + (notes.mark(row["note"]) if row["cpu ms"] is None else "")

    return [
        ("", title),
        ("CPU ms", cpu),
        ("p95", lambda row: number(row["cpu ms p95"])),
        ("wall ms", lambda row: number(row["wall ms"])),
        ("p95", lambda row: number(row["wall ms p95"])),
        ("× hy_memory", lambda row: number(row["ratio"])),
        ("hits", lambda row: number(row["hits"])),
        ("of the nearest", lambda row: NOTHING if row["exact"] is None else f"{row['exact']:.0%}"),
    ]


def _cost_columns(notes: Footnotes) -> list[Column]:
    def single(row: Results) -> str:
        return number(row["single ms"]) + notes.mark(row["single note"])

    def bulk(row: Results) -> str:
        value = row["bulk rows / CPU s"]
        return number(value) + (notes.mark(row["note"]) if value is None else "")

    return [
        ("", lambda row: row["title"]),
        ("bulk, rows / CPU s", bulk),
        ("rows / s", lambda row: number(row["bulk rows / s"])),
        ("one add, CPU ms", single),
        ("wall ms", lambda row: number(row["single wall ms"])),
        ("import, CPU s", lambda row: number(row["import s"], 2)),
        ("open", lambda row: number(row["construct s"], 2)),
        ("first search", lambda row: number(row["first s"], 2)),
        ("memory, MB", lambda row: number(row["RSS MB"])),
        ("disk, MB", lambda row: number(row["disk MB"])),
    ]


def _first_of_each(rows: Sequence[Results]) -> list[Results]:
    """Return one row of each peer: its ways of searching share a store."""
    first: dict[str, Results] = {}
    for row in rows:
        first.setdefault(row["key"].partition("/")[0], row)
    return list(first.values())


def _quality(sets: dict[str, list[Results]], notes: Footnotes) -> str:
    titles = {row["key"]: row["title"] + notes.mark(row["remark"]) for rows in sets.values() for row in rows}
    by_set = {name: {row["key"]: row for row in rows} for name, rows in sets.items()}

    def cell(name: str) -> Callable[[Results], str]:
        def shown(row: Results) -> str:
            one = by_set[name].get(row["key"])
            if one is None or one["R@10"] is None:
                return NOTHING + notes.mark(one["note"] if one else None)
            return f"{one['R@10']:.3f} / {one['nDCG@10']:.3f}"

        return shown

    counts = {name: next((row["n"] for row in rows if row["n"]), 0) for name, rows in sets.items()}
    columns: list[Column] = [("", lambda row: titles[row["key"]])]
    columns += [(f"{name} ({counts[name]})", cell(name)) for name in sets]
    return _table(columns, [{"key": key} for key in titles])


def _versions(versions: dict[str, dict[str, str]]) -> str:
    """Return one line for each set of packages, with the names of those that run on it."""
    names: dict[str, list[str]] = {}
    for name, found in versions.items():
        packages = ", ".join(f"{package} {version}" for package, version in found.items())
        names.setdefault(packages, []).append(name)
    return "\n".join(f"- {', '.join(users)}: {packages}" for packages, users in names.items())


def _table(columns: Sequence[Column], rows: Sequence[Results]) -> str:
    return grid([name for name, _ in columns], [[show(row) for _, show in columns] for row in rows])


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [titles, *rows]
    head, *body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([head, "|---" * len(titles) + "|", *body])
