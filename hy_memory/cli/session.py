"""What every command needs around it: settings, errors as one line, JSON, progress."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn
from rich.progress import TimeRemainingColumn as Remaining
from typer.core import TyperGroup

from hy_memory.cli.render import printable
from hy_memory.errors import HyMemoryError, InvalidArgumentError
from hy_memory.settings.load import load_settings
from hy_memory.settings.root import Settings
from hy_memory.values.record import Json as Stored


class Commands(TyperGroup):
    """The commands; an error that the library raises on purpose is one line on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> object:  # typer has had two classes of that name
        """Run the command."""
        try:
            return super().invoke(ctx)
        except HyMemoryError as error:
            complain(str(error))
            raise typer.Exit(1) from error


def complain(message: str) -> None:
    """Print one line on stderr."""
    typer.echo(f"hy-memory: {printable(' '.join(message.split()))}", err=True)


def note(message: str) -> None:
    """Print a remark on stderr, where it is in nobody's way."""
    typer.echo(printable(message), err=True)


def settings_for(data_dir: Path | None) -> Settings:
    """Return the settings, with the folder of the command line if there is one."""
    return load_settings({} if data_dir is None else {"data_dir": data_dir})


def show(as_json: bool, document: object, drawn: RenderableType) -> None:
    """Print an answer: as JSON, or drawn for people."""
    if not as_json:
        Console(highlight=False).print(drawn)
        return
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(document, ensure_ascii=not is_unicode, indent=2))


def parse_json(option: str, text: str | None) -> dict[str, Stored] | None:
    """Return the mapping that an option holds as JSON text."""
    if text is None:
        return None
    value = _json(option, text)
    if not isinstance(value, dict):
        raise InvalidArgumentError(option, text, 'give a JSON mapping, such as {"tags": "travel"}')
    return cast("dict[str, Stored]", value)


def parse_messages(option: str, text: str) -> list[Mapping[str, object]]:
    """Return the messages that an argument holds as JSON text; what is in them, `add` checks."""
    value = _json(option, text)
    if not isinstance(value, list):
        raise InvalidArgumentError(
            option, text, 'give a JSON list, such as [{"role": "user", "content": "Hello"}]'
        )
    return cast("list[Mapping[str, object]]", value)


def _json(option: str, text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(option, text, f"give JSON: {error}") from error


@contextmanager
def progress_bar(label: str, *, counts: bool = True) -> Generator[Callable[[int, int], None] | None]:
    """Yield what long work reports to: a bar on stderr, or None where stderr is no terminal.

    `counts` shows numbers of things; without it the numbers are bytes, and only the share is shown.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    amount = MofNCompleteColumn() if counts else TaskProgressColumn()
    with Progress(TextColumn("{task.description}"), BarColumn(), amount, Remaining(), console=console) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def log_to_stderr(ctx: typer.Context) -> None:
    """Show the library's informing messages on stderr for as long as the command runs."""
    logger = logging.getLogger("hy_memory")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def restore() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    ctx.call_on_close(restore)
