"""Commands for temporal facts: add, current, at, history, timeline, conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from hy_memory.cli import options
from hy_memory.cli.session import settings_for, show
from hy_memory.client import HyMemoryClient
from hy_memory.facts.answers import FactRow

app = typer.Typer(help="What is true of whom, from when until when.", no_args_is_help=True)

_Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is said of.")]
_OnlySubject = Annotated[
    str | None, typer.Option("--subject", metavar="NAME", help="Only of this one.", show_default=False)
]
_AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="What was believed then.", show_default=False),
]
_WIDTH = 40  # characters of a drawn line of time
_OPEN = "▶"


@app.command()
def add(
    subject: _Subject,
    predicate: Annotated[str, typer.Argument(metavar="PREDICATE", help="Such as lives_in or likes.")],
    value: Annotated[str, typer.Argument(metavar="OBJECT", help="What is said.")],
    user: options.User = options.ME,
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Default: now.", show_default=False)
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Until before then.", show_default=False)
    ] = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Say that something holds; of a predicate of one value it ends what held before."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        done = client.facts.add(
            subject, predicate, value, user_id=user, valid_from=valid_from, valid_to=valid_to
        )
    show(as_json, done, Text(f"{done['added_count']} rows added, {done['closed_count']} closed"))


@app.command()
def current(
    user: options.User = options.ME,
    subject: _OnlySubject = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Show what holds now."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        rows = client.facts.current(user_id=user, subject=subject)
    show(as_json, rows, _table(rows))


@app.command()
def at(
    time: Annotated[str, typer.Argument(metavar="TIME", help="ISO 8601, read as UTC.")],
    user: options.User = options.ME,
    subject: _OnlySubject = None,
    as_of: _AsOf = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Show what held at a moment."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        rows = client.facts.at(time, user_id=user, subject=subject, as_of=as_of)
    show(as_json, rows, _table(rows))


@app.command()
def history(
    user: options.User = options.ME,
    subject: _OnlySubject = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Show every row there ever was, with when it was believed."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        rows = client.facts.history(user_id=user, subject=subject)
    show(as_json, rows, _table(rows, recorded=True))


@app.command()
def timeline(
    subject: _Subject,
    user: options.User = options.ME,
    as_of: _AsOf = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Draw from when until when each thing holds that is believed of somebody."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        rows = client.facts.timeline(subject, user_id=user, as_of=as_of)
    show(as_json, rows, drawn(rows))


@app.command()
def conflicts(
    user: options.User = options.ME, data_dir: options.DataDir = None, as_json: options.Json = False
) -> None:
    """Show the pairs of facts that cannot both be so."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        pairs = client.facts.conflicts(user_id=user)
    show(as_json, pairs, _table([row for pair in pairs for row in pair]))


def drawn(rows: Sequence[FactRow]) -> Table | Text:
    """Return a table with a line of time for each fact, all to one scale."""
    if not rows:
        return Text("nothing is known")
    starts = [row["valid_from"] for row in rows]
    ends = [row["valid_to"] for row in rows if row["valid_to"] is not None]
    first, last = min(starts), max([*starts, *ends])
    span = (last - first) or 1.0
    table = Table("predicate", "object", f"{_day(first)} – {_day(last)}", "from", "to", box=None)
    for row in rows:
        begin = round((row["valid_from"] - first) / span * (_WIDTH - 1))
        end = row["valid_to"]
        stop = _WIDTH if end is None else max(begin + 1, round((end - first) / span * (_WIDTH - 1)))
        line = " " * begin + "━" * (stop - begin) + (_OPEN if end is None else "")
        table.add_row(
            Text(row["predicate"]),
            Text(row["object"]),
            Text(line),
            _day(row["valid_from"]),
            "" if end is None else _day(end),
        )
    return table


def _table(rows: Sequence[FactRow], *, recorded: bool = False) -> Table:
    table = Table("subject", "predicate", "object", "from", "to", box=None)
    if recorded:
        table.add_column("believed from")
        table.add_column("to")
    for row in rows:
        cells = [row["valid_from"], row["valid_to"]]
        cells += [row["recorded_from"], row["recorded_to"]] if recorded else []
        days = ["" if one is None else _day(one) for one in cells]
        table.add_row(Text(row["subject"]), Text(row["predicate"]), Text(row["object"]), *days)
    return table


def _day(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "far away"
