"""The command for documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hy_memory.cli import options, render
from hy_memory.cli.session import settings_for, show
from hy_memory.client import HyMemoryClient


def register(app: typer.Typer) -> None:
    """Make the command part of `app`."""
    app.command("add-document")(add_document)


def add_document(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Text, Markdown, HTML, PDF or DOCX.")],
    user: options.User = options.ME,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Default: its own.", show_default=False)
    ] = None,
    source: Annotated[
        str, typer.Option("--source", metavar="NAME", help="The application that writes it.")
    ] = "default",
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Remember what stands in a document; a long one is found by each of its sections."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        answer = client.add_document(file, user_id=user, title=title, source=source)
    show(as_json, answer, render.written(answer))
