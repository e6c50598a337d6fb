"""Answers drawn for a terminal. What is stored is shown as text, never as markup or control codes."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hy_memory.answers import Item, ProfileAnswer, SearchAnswer, WriteAnswer
from hy_memory.importers import Report
from hy_memory.maintenance.doctor import Diagnosis
from hy_memory.reading.browse import Listing, Stats

_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of writing: they could make a line read as something it is not."""
_BUCKETS = ("normal", "schema", "proactive")


def printable(text: str) -> str:
    """Return `text` with every character that could steer a terminal replaced by U+FFFD."""
    return "".join(
        "\ufffd"
        if one in _HIDDEN or (unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t")
        else one
        for one in text
    )


def search_answer(answer: SearchAnswer, *, with_ids: bool = True) -> RenderableType:
    """Return the hits of a search, bucket by bucket, the facts and experiences, and the trace."""
    memories = cast("Mapping[str, list[Item]]", answer.get("memories", {}))
    parts: list[RenderableType] = []
    for bucket in _BUCKETS:
        items = memories.get(bucket, [])
        if items:
            parts.append(_hits(items, "" if bucket == "normal" else bucket, with_ids))
    parts.extend(
        _work(cast("Sequence[Mapping[str, object]]", answer[kind]), kind, text)
        for kind, text in (("facts", "statement"), ("experiences", "solution"))
        if answer.get(kind)
    )
    if not parts:
        parts.append(Text("nothing found", style="yellow"))
    if "trace" in answer:
        parts.append(_trace(answer["trace"]))
    return Group(*parts)


def listing(page: Listing) -> RenderableType:
    """Return a page of memories."""
    if not page["memories"]:
        return Text("no memories here", style="yellow")
    table = _table()
    table.add_column("written", no_wrap=True)
    table.add_column("memory")
    for item in page["memories"]:
        table.add_row(moment(item.get("gmt_created")), _memory(item))
    first = page["offset"] + 1
    shown = f"{first}–{page['offset'] + len(page['memories'])} of {page['total']}"
    return Group(table, Text(shown, style="dim"))


def one(item: Item) -> RenderableType:
    """Return everything about one memory."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for key, value in item.items():
        if key == "versions" or value in (None, [], {}):
            continue
        is_time = key in ("memory_at", "gmt_created", "gmt_modified", "expires_at")
        table.add_row(key, moment(value) if is_time else _text(value))
    versions = item.get("versions", [])
    for old in versions:
        table.add_row(f"was (version {old['version']})", _text(old["content"]))
    return table


def written(answer: WriteAnswer) -> RenderableType:
    """Return what a write led to."""
    text = Text("remembered", style="green")
    text.append(f"  {', '.join(answer['memory_ids'])}", style="dim")
    return text


def stats(counts: Stats) -> RenderableType:
    """Return a user's counts."""
    table = _table()
    table.add_column("layer")
    table.add_column("memories", justify="right")
    for layer, number in sorted(counts["by_layer"].items()):
        table.add_row(layer, str(number))
    name = Text.assemble((printable(counts["user_id"]), "bold"), f" has {counts['total']} memories")
    parts: list[RenderableType] = [name, table] if counts["by_layer"] else [name]
    parts.extend(
        Text(f"{scene}: {held['facts']} facts, {held['experiences']} experiences")
        for scene, held in counts["scenes"].items()
    )
    return Group(*parts)


def profile(known: ProfileAnswer) -> RenderableType:
    """Return each field with its value, since when, and what it was before."""
    if not known["basic_info"]:
        return Text("nothing is known yet", style="yellow")
    table = _table()
    for title in ("", "now", "since", "before"):
        table.add_column(title)
    for name, field in known["basic_info"].items():
        now_since = (field["value"], field["since"])
        before = [one["value"] for one in field["history"] if (one["value"], one["first_at"]) != now_since]
        now = _text(field["value"] or "–")
        table.add_row(Text(name, style="bold"), now, moment(field["since"]), _text(before))
    return table


def imported(report: Report) -> RenderableType:
    """Return the counts of an import."""
    lines = [Text.assemble((f"{report.added} added", "green"), f", {report.already_there} already there")]
    if report.bad:
        lines.append(Text(f"{report.bad} skipped because they cannot be read:", style="yellow"))
        lines.extend(Text(f"  {printable(place)}") for place in report.bad_places)
        if report.bad > len(report.bad_places):
            lines.append(Text(f"  … and {report.bad - len(report.bad_places)} more"))
    if report.ignored:
        names = ", ".join(f"{printable(key)} ({count}×)" for key, count in sorted(report.ignored.items()))
        lines.append(Text(f"not kept, because nobody reads these keys: {names}", style="yellow"))
    if not report.searchable:
        lines.append(Text("stored, but not all of it is searchable yet; run `hy-memory doctor`", style="red"))
    return Group(*lines)


def diagnosis(found: Diagnosis) -> RenderableType:
    """Return what the doctor says."""
    lines: list[Text] = []
    if found["repaired"]:
        lines.append(Text(f"repaired {found['repaired']} memories", style="green"))
    lines.extend(Text(f"• {printable(problem)}", style="red") for problem in found["problems"])
    if found["healthy"]:
        lines.append(Text(f"healthy: {found['users']} users, nothing wrong", style="green"))
    return Group(*lines)


def moment(value: object) -> str:
    """Return epoch seconds as a UTC time to the minute."""
    if not isinstance(value, int | float):
        return "–"
    try:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return f"{value:.0f} s"


def _hits(items: Sequence[Item], title: str, with_ids: bool) -> Table:
    table = _table()
    table.add_column("score", justify="right", style="bold cyan", no_wrap=True)
    table.add_column(title or "memory")
    for item in items:
        table.add_row(f"{item.get('score', 0.0):.2f}", _memory(item, with_ids))
    return table


def _work(items: Sequence[Mapping[str, object]], kind: str, text: str) -> Table:
    """Return what sessions did, or what was learned: the words, and below them where that was."""
    table = _table()
    table.add_column("score", justify="right", style="bold cyan", no_wrap=True)
    table.add_column(kind)
    for item in items:
        words = Text(printable(str(item[text])))
        told = (item["workspace_id"], item["branch"], *cast("list[str]", item["files"]), item["source"])
        words.append("\n" + printable(" · ".join(str(one) for one in told if one)), style="dim")
        table.add_row(_number(item["score"]), words)
    return table


def _memory(item: Item, with_id: bool = True) -> Text:
    """Return the text of a memory, and below it in grey what it is, how it was found, and its id."""
    text = Text(printable(item.get("content", "")))
    when = item.get("memory_at")
    told = [
        moment(when) if when is not None else "",
        item.get("user_id", ""),
        item.get("source", ""),
        *(f"#{tag}" for tag in item.get("tags", [])),
        _found_by(item),
        item.get("memory_id", "") if with_id else "",
    ]
    text.append("\n" + printable(" · ".join(part for part in told if part)), style="dim")
    return text


def _found_by(item: Item) -> str:
    evidence = item.get("evidence", [])
    if not evidence:
        return item.get("retrieval_source", "")
    return " + ".join(
        f"{one['leg']} {_number(one['score'])}" + (f" (rank {one['rank']})" if one["rank"] else "")
        for one in evidence
    )


def _trace(trace: Mapping[str, object]) -> RenderableType:
    table = _table()
    table.add_column("stage")
    table.add_column("ms", justify="right")
    table.add_column("candidates", justify="right")
    for stage in cast("list[Mapping[str, object]]", trace["stages"]):
        flow = f"{stage['in']} → {stage['out']}"
        table.add_row(str(stage["stage"]), _number(stage["ms"]), flow)
    dropped = cast("list[Mapping[str, object]]", trace.get("dropped", []))
    if not dropped:
        return table
    cut = _table()
    cut.add_column("score", justify="right")
    cut.add_column("left out")
    for one in dropped:
        cut.add_row(_number(one["score"]), f"{one['memory_id']} · {one['reason']}")
    return Group(table, cut)


def _number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


def _text(value: object) -> Text:
    if isinstance(value, list):
        return Text(printable(", ".join(str(part) for part in cast("list[object]", value))))
    return Text(printable(str(value)))


def _table() -> Table:
    return Table(box=None, header_style="dim", padding=(0, 2, 0, 0), expand=False)
