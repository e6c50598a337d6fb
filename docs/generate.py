"""Rewrite what is drawn from the code: pages on settings, errors, the command line; schemas of answers.

    python docs/generate.py

A test fails when a file differs from what this would write.
"""

from __future__ import annotations

import functools
import inspect
import json
import operator
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import typer

from hy_memory import HyMemoryClient, errors
from hy_memory.answers import OneOf, Within
from hy_memory.cli.main import app
from hy_memory.settings.describe import environment_table
from hy_memory.work.answers import EverywhereAnswer, WorkAnswer

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
    """Return every generated file by its name under docs/reference."""
    made = {"settings.md": settings_page(), "errors.md": errors_page(), "cli.md": cli_page()}
    return made | {f"schemas/{verb}.json": schema(verb) for verb in answering_verbs()}


def answering_verbs() -> list[str]:
    """Return the verbs of a client that answer with dictionaries; an async twin answers the same."""
    public = [name for name in dir(HyMemoryClient) if not name.startswith(("_", "async_"))]
    return [name for name in public if hasattr(HyMemoryClient, f"async_{name}") and name != "close"]


def schema(verb: str) -> str:
    """Return the JSON schema (draft 2020-12) of a verb's answer, drawn from its return type."""
    definitions: dict[str, Any] = {}
    function = inspect.unwrap(getattr(HyMemoryClient, verb))
    answers = [eval(function.__annotations__["return"], function.__globals__), *_BESIDE.get(verb, ())]
    answer = _schema_of(functools.reduce(operator.or_, answers), definitions)
    drawn = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The answer of {verb}",
        **answer,
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(drawn, indent=1) + "\n"


_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    None: {"type": "null"},
    object: {},
}
_BESIDE: dict[str, tuple[Any, ...]] = {"search": (WorkAnswer, EverywhereAnswer)}
"""What else a verb may answer than its type says: callers who name no scene need not tell these apart."""
_JSON = {"Json": object}
"""Whatever JSON can hold needs no more precise a schema than that: the name stands for everything."""


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; the dictionaries in it go to `definitions` by their names."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # it may hold others of its kind
            definitions[kind.__name__] = _dictionary(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Annotated:
        return _schema_of(inner[0], definitions) | _limits(inner[1])
    if origin is list:
        return {"type": "array", "items": _schema_of(inner[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(inner[1], definitions)}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        several = [_schema_of(one, definitions) for one in inner]
        if all(one.keys() == {"type"} for one in several):
            return {"type": [one["type"] for one in several]}
        return {"anyOf": several}
    raise TypeError(f"{kind!r} in an answer: say in docs/generate.py what it is in JSON")


def _limits(said: Within | OneOf) -> dict[str, Any]:
    """Return what an annotation adds to the type it is on."""
    if isinstance(said, OneOf):
        return {"enum": [str(one) for one in said.values]}
    return {"minimum": said.least} | ({} if said.most is None else {"maximum": said.most})


def _dictionary(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a TypedDict: no key but its own, and all of them but the optional ones."""
    properties, required = dict[str, Any](), list[str]()
    for key, held in get_type_hints(kind, localns=_JSON, include_extras=True).items():
        is_optional = get_origin(held) is NotRequired
        properties[key] = _schema_of(get_args(held)[0] if is_optional else held, definitions)
        required += [] if is_optional else [key]
    return {
        "description": _paragraphs(inspect.getdoc(kind)),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


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


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name; a group of them is told by its commands."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def cli_page() -> str:
    """Return the page of the command line, from the commands' own help texts."""
    group = typer.main.get_command(app)
    lines = [_NOTE + "# Command line\n", _paragraphs(group.help), "", *_table(group.params)]
    for name, command in _commands(group):
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
    (REFERENCE / "schemas").mkdir(exist_ok=True)
    for file, text in pages().items():
        (REFERENCE / file).write_text(text, encoding="utf-8")
