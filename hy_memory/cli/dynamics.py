"""Commands for how memories live: pin, unpin, use."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from hy_memory.answers import UseAnswer
from hy_memory.cli import options
from hy_memory.cli.session import settings_for, show
from hy_memory.client import HyMemoryClient

_Memory = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]


def register(app: typer.Typer) -> None:
    """Make these commands part of `app`."""
    for command in (pin, unpin, use):
        app.command()(command)


def pin(
    memory_id: _Memory,
    user: options.OnlyUser = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Let a memory fade no more."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        done = client.pin(memory_id, user_id=user)
    show(as_json, done, _told(done))


def unpin(
    memory_id: _Memory,
    user: options.OnlyUser = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Let a memory fade again."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        done = client.unpin(memory_id, user_id=user)
    show(as_json, done, _told(done))


def use(
    memory_id: _Memory,
    user: options.OnlyUser = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Show how a memory was used, and how much it matters now."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        done = client.use_of(memory_id, user_id=user)
    show(as_json, done, _told(done))


def _told(one: UseAnswer) -> Text:
    last = one["last_used_at"]
    when = "never" if last is None else datetime.fromtimestamp(last, UTC).isoformat(timespec="seconds")
    pinned = ", pinned" if one["pinned"] else ""
    return Text(
        f"{one['memory_id']}: {one['sector']}{pinned}, salience {one['salience']:.2f}"
        f" (began at {one['began_at']:.2f}), used {one['uses']}×, last {when}"
    )
