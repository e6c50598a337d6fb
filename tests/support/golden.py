"""Every answer of every verb, while tests run: of the shape that is written down, and nobody else's.

`installed` wraps the verbs of a client type. An answer is checked against its JSON schema in
docs/reference/schemas/, and by `tests.support.leaks` for whose memories it holds. What is wrong fails
the call, and is noted in `violations` too, so that code which swallows exceptions hides nothing.
"""

from __future__ import annotations

import functools
import inspect
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import fastjsonschema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from hy_memory import HyMemoryClient
from tests.support import leaks

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
VERBS = tuple(sorted(one.stem for one in SCHEMAS.glob("*.json")))
_WRITING = (
    "add",
    "add_extracted",
    "update",
    "delete",
    "delete_all",
    "clone_user",
    "evolve",
    "finalize_session",
)


def schema_of(verb: str) -> dict[str, Any]:
    """Return the committed schema of a verb's answer."""
    return json.loads((SCHEMAS / f"{verb}.json").read_text(encoding="utf-8"))


@functools.cache
def _compiled(verb: str) -> Callable[[object], object]:
    return cast("Callable[[object], object]", fastjsonschema.compile(schema_of(verb)))


def check_schema(verb: str, answer: Any) -> None:
    """Assert that an answer is as its schema says; the message names the place that is not."""
    try:
        _compiled(verb)(answer)
    except fastjsonschema.JsonSchemaValueException as error:
        slow = best_match(Draft202012Validator(schema_of(verb)).iter_errors(answer))
        place = f"{slow.json_path}: {slow.message}" if slow else str(error)
        raise AssertionError(f"{verb} answered against docs/reference/schemas/{verb}.json: {place}") from None


class Watch:
    """What was found wrong, and whether anything was written meanwhile."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self._lock = threading.Lock()
        self._writes = 0

    def wrote(self) -> None:
        """Note that a write began or ended."""
        with self._lock:
            self._writes += 1

    @property
    def writes(self) -> int:
        """How many writes have begun or ended."""
        return self._writes

    def check(self, verb: str, asked: Mapping[str, Any], answer: Any, ledger: leaks.Ledger) -> None:
        """Assert that an answer has its shape and leaks nothing."""
        try:
            check_schema(verb, answer)
            leaks.check(verb, asked, answer, ledger)
        except AssertionError as error:
            self.violations.append(str(error))
            raise


watch = Watch()


class _Known:
    """What a client's own ledger knows of a memory."""

    def __init__(self, client: HyMemoryClient, writes: int) -> None:
        self._client, self._writes = client, writes

    def origin(self, memory_id: str) -> leaks.Origin | None:
        """Return whose a memory is; None where it is gone."""
        found = _PLAIN["get"](self._client, memory_id)
        if found is None:
            return None
        evidence = tuple(found["evidence_ids"])
        return leaks.Origin(found["user_id"], found["source"], evidence, found["scene"])

    def is_quiet(self) -> bool:
        """Return whether nothing was written since the call began: what is gone now was gone then."""
        return watch.writes == self._writes


_PLAIN: Mapping[str, Callable[..., Any]] = {
    name: getattr(HyMemoryClient, name) for verb in VERBS for name in (verb, f"async_{verb}")
}


def plain(name: str) -> Callable[..., Any]:
    """Return a verb as it is without this."""
    return _PLAIN[name]


def _watched(verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
    signature, is_writing = inspect.signature(call), verb in _WRITING

    @functools.wraps(call)
    def run(client: HyMemoryClient, /, *args: Any, **kwargs: Any) -> Any:
        if is_writing:
            watch.wrote()
        known = _Known(client, watch.writes)
        try:
            answer = call(client, *args, **kwargs)
        finally:
            if is_writing:
                watch.wrote()
        watch.check(verb, _arguments(signature, client, args, kwargs), answer, known)
        return answer

    return run


def _watched_twin(verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
    signature, is_writing = inspect.signature(call), verb in _WRITING

    @functools.wraps(call)
    async def run(client: HyMemoryClient, /, *args: Any, **kwargs: Any) -> Any:
        if is_writing:
            watch.wrote()
        known = _Known(client, watch.writes)
        try:
            answer = await call(client, *args, **kwargs)
        finally:
            if is_writing:
                watch.wrote()
        watch.check(verb, _arguments(signature, client, args, kwargs), answer, known)
        return answer

    return run


def _arguments(
    signature: inspect.Signature, client: HyMemoryClient, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Mapping[str, Any]:
    bound = signature.bind(client, *args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@contextmanager
def installed() -> Generator[Watch]:
    """Watch every verb of every client until the end of the block."""
    for verb in VERBS:
        setattr(HyMemoryClient, verb, _watched(verb, _PLAIN[verb]))
        setattr(HyMemoryClient, f"async_{verb}", _watched_twin(verb, _PLAIN[f"async_{verb}"]))
    try:
        yield watch
    finally:
        for verb in VERBS:
            delattr(HyMemoryClient, verb)
            delattr(HyMemoryClient, f"async_{verb}")
