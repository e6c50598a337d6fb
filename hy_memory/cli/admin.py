"""Commands for the store as a whole: import, extract, reindex, reembed, doctor, demo."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hy_memory.cli import options, render
from hy_memory.cli.demo import show_demo
from hy_memory.cli.session import complain, note, progress_bar, settings_for, show
from hy_memory.client import HyMemoryClient
from hy_memory.errors import HyMemoryError
from hy_memory.importers import Import
from hy_memory.importers.units import Origin
from hy_memory.maintenance.reembed import Reembedded
from hy_memory.maintenance.reembed import reembed as make_vectors_anew
from hy_memory.maintenance.reindex import Reindexed
from hy_memory.maintenance.reindex import reindex as rebuild


def register(app: typer.Typer) -> None:
    """Make these commands part of `app`."""
    app.command("import")(import_file)
    for command in (extract, reindex, reembed, doctor, demo):
        app.command()(command)


def import_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Chats as JSON or JSONL, or memories as JSONL.")
    ],
    user: options.User = options.ME,
    agent: Annotated[
        str, typer.Option("--agent", metavar="ID", help="Where the file names none.")
    ] = "default_agent",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Where the file names none.")
    ] = "default_session",
    source: Annotated[
        str, typer.Option("--source", metavar="NAME", help="Where the file names none.")
    ] = "default",
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Skip and count what cannot be read, instead of stopping there."),
    ] = False,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Store the conversations or memories of a file.

    The format is recognised. Repeating an import adds nothing twice, so an interrupted one is simply
    run again; a file that has grown since adds what is new.
    """
    chosen = Import(file, Origin(user, agent, session, source), skip_bad=skip_bad)
    note(f"{file}: {chosen.shape}")
    with HyMemoryClient(settings_for(data_dir)) as client:
        try:
            with progress_bar("importing", counts=False) as progress:
                report = chosen.run(client, progress)
        except (HyMemoryError, KeyboardInterrupt):
            note("Stopped. What was stored before stays; run the same import again to go on.")
            raise
    show(as_json, {**asdict(report)}, render.imported(report))


def extract(
    user: options.AnyUser = None, data_dir: options.DataDir = None, as_json: options.Json = False
) -> None:
    """Let the language model read what it could not when it was stored, of one user or of all.

    It stops where the model fails, with exit code 1; what is left is read by the next call.
    """
    with HyMemoryClient(settings_for(data_dir)) as client:
        done = client.extract(user_id=user)
    show(as_json, done, Text(f"{done['read_count']} read, {done['waiting_count']} waiting"))
    for part in done.get("degraded", ()):
        complain(f"{part['part']} failed: {part['error']}")
    if not done["success"]:
        raise typer.Exit(1)


def reindex(
    vectors: Annotated[
        str | None,
        typer.Option(
            "--vectors",
            metavar="NAME",
            help="Another backend than the configured one: qdrant, chroma, faiss.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url", metavar="URL", help="The address of that backend's server.", show_default=False
        ),
    ] = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Rebuild a vector store from the ledger, its own or another one's before you switch to it."""
    with progress_bar("reindexing") as progress:
        done = rebuild(settings_for(data_dir), vectors=vectors, url=url, progress=progress)
    show(as_json, asdict(done), _reindexed(done, switching=vectors is not None, url=url))
    if not done.sound:
        raise typer.Exit(1)


def reembed(
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="NAME",
            help="Another embedder than the configured one, such as e5.",
            show_default=False,
        ),
    ] = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Make all vectors anew with another embedder; ids, times, texts and history stay.

    Stop other programs that use the store first. An interruption changes nothing.
    """
    with progress_bar("embedding") as progress:
        done = make_vectors_anew(settings_for(data_dir), embedder=embedder, progress=progress)
    show(as_json, asdict(done), _reembedded(done))


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Mend the vector store from the ledger.")] = False,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Check the store: is the ledger sound, and does the vector store hold exactly what it holds?

    Exit code 1 if something is wrong. The ledger itself is never changed.
    """
    with HyMemoryClient(settings_for(data_dir)) as client:
        found = client.doctor(repair=repair)
    show(as_json, found, render.diagnosis(found))
    if not found["healthy"]:
        raise typer.Exit(1)


def demo() -> None:
    """Load two people's small chats into a temporary folder and show a few searches."""
    show_demo()


def _reindexed(done: Reindexed, *, switching: bool, url: str | None) -> Text:
    if not done.rebuilt:
        return Text(f"{done.backend} reads the ledger itself: there is nothing to rebuild")
    if not done.sound:
        return Text(
            f"{done.backend} lacks {done.missing} memories and holds {done.stray} that are gone; "
            "run `hy-memory doctor --repair`",
            style="red",
        )
    text = Text(f"{done.backend} holds all {done.points} memories", style="green")
    if switching:
        place = f" and MEMORY_VECTOR_STORE_URL={url}" if url else ""
        text.append(f"\nto use it, set MEMORY_VECTOR_STORE={done.backend}{place}", style="default")
    return text


def _reembedded(done: Reembedded) -> Text:
    before = f", before by {done.before.name}" if done.before else ""
    text = Text(f"{done.vectors} vectors made by {done.after.name}{before}", style="green")
    text.append(f"\nset MEMORY_EMBEDDER_PROVIDER={done.after.name} if it names another one", style="default")
    return text
