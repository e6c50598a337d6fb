"""`hy-memory`: the command line's entry point."""

from __future__ import annotations

from typing import Annotated

import typer

from hy_memory import __version__
from hy_memory.cli import admin, documents, dynamics, facts, memory
from hy_memory.cli.session import Commands, log_to_stderr

app = typer.Typer(
    name="hy-memory",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",  # the other modes keep a docstring's line breaks
    pretty_exceptions_enable=False,  # a traceback with everybody's memories as local variables helps nobody
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    ctx: typer.Context,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Tell on stderr what the library does.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A memory that chat backends and agents can search.

    Answers go to stdout, everything else to stderr. Settings come from the environment and from a
    file .env (see docs/reference/settings.md). Exit code 1: it failed; 2: the command was wrong.
    """
    if verbose:
        log_to_stderr(ctx)


memory.register(app)
documents.register(app)
dynamics.register(app)
app.add_typer(facts.app, name="facts")
admin.register(app)

if __name__ == "__main__":
    app()
