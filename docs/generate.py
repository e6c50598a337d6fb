"""Rewrite the pages that are drawn from the code: settings, errors, command line.

    python docs/generate.py

A test fails when a page differs from what this would write.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import typer

from hy_memory import errors
from hy_memory.cli.main import app
from hy_memory.settings.describe import environment_table

REFERENCE = Path(__file__).parent / "reference"
_NOTE = "<!-- Made by docs/generate.py; edit the code instead. -->\n\n"


_SETTINGS = """\
# Settings

Arguments win over the environment, the environment over a file `.env` in the working folder, and that
over the defaults. They are read once, when a client is made. An unknown key, or an unknown `MEMORY_…` or
`HY_MEMORY_…` variable, is an error that names the nearest known one; variables of Hy-Memory 2.0 that mean
nothing here are ignored. An empty variable counts as not set.

In code the same settings are sections of a mapping:
`HyMemoryClient({"vector_store": {"provider": "qdrant"}})` does what `MEMORY_VECTOR_STORE=qdrant` does.

"""
_ERRORS = """\
# Errors

Every error that this package raises on purpose is a `HyMemoryError`:

```text
{tree}
```

{table}

A search whose reader fails raises nothing unless `MEMORY_SEARCH_RAISE=true`: it answers with empty
buckets and `degraded` (see [search](search.md)). On the command line each of these errors is one line on
stderr and exit code 1.
"""


def pages() -> dict[str, str]:
    """Return every generated page by file name."""
    return {"settings.md": settings_page(), "errors.md": errors_page(), "cli.md": cli_page()}


def settings_page() -> str:
    """Return the page of environment variables."""
    return _NOTE + _SETTINGS + environment_table()


def errors_page() -> str:
    """Return the page of errors."""
    tree = (inspect.getdoc(errors) or "").split("\n\n", 1)[1]
    rows = ["| error | also a | meaning |", "|---|---|---|"]
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and kind.__module__ == errors.__name__:
            built_in = [one.__name__ for one in kind.__bases__ if one.__module__ == "builtins"]
            also = ", ".join(f"`{one}`" for one in built_in if one != "Exception")
            rows.append(f"| `{name}` | {also} | {_cell(kind.__doc__)} |")
    return _NOTE + _ERRORS.format(tree=tree, table="\n".join(rows))


def cli_page() -> str:
    """Return the page of the command line, from the commands' own help texts."""
    group = typer.main.get_command(app)
    lines = [_NOTE + "# Command line\n", _paragraphs(group.help), "", *_table(group.params)]
    for name, command in group.commands.items():
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        usage = " ".join(["hy-memory", name, *(one.metavar or one.name.upper() for one in arguments)])
        options = " [OPTIONS]" if len(arguments) < len(command.params) else ""
        lines += [f"## {name}\n", f"```text\n{usage}{options}\n```\n", _paragraphs(command.help), ""]
        lines += _table(command.params)
    return "\n".join(lines)


def _table(params: list[Any]) -> list[str]:
    rows = ["| | default | |", "|---|---|---|"]
    for param in params:
        is_argument = param.param_type_name == "argument"
        names = param.metavar or param.name.upper() if is_argument else ", ".join(param.opts)
        value = f" {param.metavar}" if param.metavar and not is_argument else ""
        is_shown = param.default not in (None, False, "", (), []) and not param.required
        default = f"`{param.default}`" if is_shown else ""
        rows.append(f"| `{names}{value}` | {default} | {_cell(param.help)} |")
    return [*rows, ""] if len(rows) > 2 else []


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


if __name__ == "__main__":
    for file, text in pages().items():
        (REFERENCE / file).write_text(text, encoding="utf-8")
