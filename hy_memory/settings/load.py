"""From arguments, environment and `.env` to one Settings object; the only reader of the environment."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from dotenv import dotenv_values
from pydantic import BaseModel, ValidationError

from hy_memory.errors import ConfigurationError
from hy_memory.settings.legacy_env import is_known_elsewhere
from hy_memory.settings.root import Settings
from hy_memory.settings.switches import SWITCHES, is_on

_OURS = ("MEMORY_", "HY_MEMORY_", "HCM_")
"""Prefixes whose unknown names are errors: a typing mistake must not pass for a setting."""
_LATER = {
    "topology": "the living topology",
}


def load_settings(
    config: object = None,
    *,
    mode: str | None = None,
    environ: Mapping[str, str] | None = None,
    dotenv: Path | None = Path(".env"),
) -> Settings:
    """Return the settings: `config` over environment over `.env` over defaults.

    Raises ConfigurationError for an unknown key or variable (with the nearest name) or a bad value.
    """
    if config is not None and not isinstance(config, Mapping | Settings):
        raise ConfigurationError(
            f"config is a {type(config).__name__}; give a mapping of sections, or Settings"
        )
    if isinstance(config, Settings):
        return config if mode is None else _validated({**config.model_dump(exclude_unset=True), "mode": mode})
    given = os.environ if environ is None else environ
    from_file = {key: value for key, value in _dotenv(dotenv).items() if key not in given}
    merged = _from_environment({**from_file, **_without_switches(given)})
    for key, value in cast("Mapping[str, object]", config or {}).items():
        section = merged.get(key)
        if isinstance(value, Mapping) and isinstance(section, dict):
            merged[key] = {**cast("dict[str, object]", section), **cast("Mapping[str, object]", value)}
        else:
            merged[key] = value
    if mode is not None:
        merged["mode"] = mode
    return _validated(merged)


def _without_switches(given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are read now; switches, which each call looks at, must only be sound."""
    for name in SWITCHES & given.keys():
        is_on(name, given[name])
    return {name: value for name, value in given.items() if name not in SWITCHES}


def variables(
    model: type[BaseModel] = Settings, prefix: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every environment variable with the path of the field it sets."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from variables(kind, (*prefix, name))
        elif isinstance(field.json_schema_extra, dict):
            yield str(field.json_schema_extra["env"]), (*prefix, name)


def _dotenv(path: Path | None) -> dict[str, str]:
    if path is None or not path.is_file():
        return {}
    try:
        found = dotenv_values(path)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text: {error}; save it as UTF-8") from error
    return {key: value for key, value in found.items() if value is not None}


def _from_environment(given: Mapping[str, str]) -> dict[str, object]:
    known = dict(variables())
    merged: dict[str, object] = {}
    for name, value in given.items():
        if not name.startswith(_OURS):
            continue
        path = known.get(name)
        if path is None:
            if not is_known_elsewhere(name):
                raise ConfigurationError(f"unknown variable {name}{_nearest(name, known)}")
            continue
        if value == "":  # an empty variable means "not set", as shells and compose files write it
            continue
        target = merged
        for part in path[:-1]:
            target = cast("dict[str, object]", target.setdefault(part, {}))
        target[path[-1]] = value
    return merged


def _validated(values: Mapping[str, object]) -> Settings:
    _refuse_later(values)
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigurationError("; ".join(_explain(one) for one in error.errors())) from error


def _refuse_later(values: Mapping[str, object]) -> None:
    """A section users know, of a part that this version does not have, gets its own plain answer."""
    for section, what in _LATER.items():
        if section in values:
            raise ConfigurationError(
                f"config section {section!r}: {what} is not in this version; leave it out"
            )


def _explain(error: Mapping[str, object]) -> str:
    path = [str(part) for part in cast("tuple[object, ...]", error["loc"])]
    if not path:  # of several settings together, of which the mode is the only kind
        path = ["mode"]
    name = ".".join(path)
    if error["type"] == "extra_forbidden":
        model: type[BaseModel] = Settings
        for part in path[:-1]:
            model = cast("type[BaseModel]", model.model_fields[part].annotation)
        return f"unknown setting {name}{_nearest(path[-1], model.model_fields)}"
    variable = {path: one for one, path in variables()}.get(tuple(path))
    known_as = f"{name} ({variable})" if variable else name
    return f"{known_as}: {error['msg']}"


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"
