"""Options that several commands share, with their help texts: these are the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ME = "me"
"""The user of a command that names none: a store on one's own machine mostly has one."""

DataDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="FOLDER",
        help="Folder of the store. Default: MEMORY_DATA_DIR, else ~/.hy_memory.",
        show_default=False,
    ),
]
User: TypeAlias = Annotated[str, typer.Option("--user", "-u", metavar="ID", help="Whose memories.")]
Users: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--user", "-u", metavar="ID", help="Whose memories; may be repeated. Default: me.", show_default=False
    ),
]
OnlyUser: TypeAlias = Annotated[
    str | None,
    typer.Option("--user", "-u", metavar="ID", help="Only if it is this user's.", show_default=False),
]
AnyUser: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--user", "-u", metavar="ID", help="Only this user's; left out: everybody's.", show_default=False
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
]
Agents: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="ID", help="Only this agent's; may be repeated.", show_default=False),
]
Sessions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--session", metavar="ID", help="Only this session's; may be repeated.", show_default=False),
]
Sources: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Only what this application wrote; may be repeated.",
        show_default=False,
    ),
]
NotSources: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--not-source",
        metavar="NAME",
        help="Nothing that this application wrote; may be repeated.",
        show_default=False,
    ),
]
Layers: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--layer",
        metavar="NAME",
        help="Only this layer, such as l2_fact; may be repeated.",
        show_default=False,
    ),
]
After: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--after",
        metavar="TIME",
        help="Only what happened then or later: ISO 8601, such as 2024-05-07, read as UTC.",
        show_default=False,
    ),
]
Before: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="TIME",
        help="Only what happened then or earlier; a bare day includes that whole day.",
        show_default=False,
    ),
]
AsOf: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="Answer from what was recorded by then; a bare day includes that whole day.",
        show_default=False,
    ),
]
Scene: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scene",
        metavar="NAME",
        help="Which memory: chat, working or coding; all of them where one reads. Default: chat.",
        show_default=False,
    ),
]
Workspace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--workspace", metavar="ID", help="The workspace of working or coding memory.", show_default=False
    ),
]
Branch: TypeAlias = Annotated[
    str | None,
    typer.Option("--branch", metavar="NAME", help="The branch of the workspace.", show_default=False),
]
Filter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        help='A condition on tags, times and your own metadata, such as \'{"metadata.project": "atlas"}\'.',
        show_default=False,
    ),
]
