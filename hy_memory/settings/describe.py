"""The environment table of the docs, drawn from the settings themselves."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hy_memory.settings.load import variables
from hy_memory.settings.root import Settings


def environment_table() -> str:
    """Return a Markdown table of every variable: name, default, meaning."""
    rows = ["| variable | setting | default | meaning |", "|---|---|---|---|"]
    for name, path in variables():
        field = _field(path)
        default = "–" if field.default is None else f"`{_spelled(field.default)}`"
        rows.append(f"| `{name}` | `{'.'.join(path)}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def _spelled(default: object) -> str:
    """Return a default as a variable would say it."""
    if isinstance(default, tuple):
        return ",".join(str(one) for one in cast("tuple[object, ...]", default))
    return str(default)


def _field(path: tuple[str, ...]) -> FieldInfo:
    model: type[BaseModel] = Settings
    for part in path[:-1]:
        kind = model.model_fields[part].annotation
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            raise TypeError(f"{part} is no section")
        model = kind
    return model.model_fields[path[-1]]
