"""The import itself: batches, request ids that make it repeatable, and the counts at the end."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hy_memory.errors import InvalidArgumentError
from hy_memory.importers.files import Opened, Shape, open_file
from hy_memory.importers.units import Origin, Unit, to_unit

BATCH = 500
"""Memories of one transaction: embedding them takes about a second with the offline model, so that an
interruption loses little, and the cost of a commit is spread thin."""
_NAMED = 10  # bad places that the report quotes; the rest are counted


class Sink(Protocol):
    """The three verbs of a client that an import needs."""

    def add(self, data: Any, *, user_id: str, request_id: str) -> Mapping[str, Any]:
        """Store messages."""
        ...

    def add_extracted(self, contents: Any, *, user_id: str, request_id: str) -> Mapping[str, Any]:
        """Store ready memories."""
        ...

    def get_write_outcome(self, request_id: str, *, user_id: str) -> Mapping[str, Any] | None:
        """Return what a write led to, None if it was never acknowledged."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did. `added` and `already_there` count memories, `bad` counts skipped places.

    `ignored` says how often a key occurred that nobody reads; `searchable` is False where a
    projection was down and will catch up later.
    """

    shape: str
    added: int
    already_there: int
    bad: int
    bad_places: tuple[str, ...]
    ignored: Mapping[str, int]
    searchable: bool


@dataclass(slots=True)
class _Counts:
    added: int = 0
    already_there: int = 0
    bad: int = 0
    bad_places: list[str] = field(default_factory=list[str])
    ignored: Counter[str] = field(default_factory=Counter[str])
    searchable: bool = True


@dataclass(frozen=True, slots=True)
class _Group:
    """What goes into one write: elements of one origin, and where each one stood."""

    is_chat: bool
    origin: Mapping[str, object]
    seed: str
    elements: tuple[object, ...]
    places: tuple[int, ...]


class Import:
    """One file on its way into a store."""

    def __init__(self, path: Path, origin: Origin, *, skip_bad: bool = False) -> None:
        """Recognise the file; raises InvalidArgumentError where that is not possible."""
        self._opened: Opened = open_file(path)
        self._origin = origin
        self._skip_bad = skip_bad

    @property
    def shape(self) -> Shape:
        """What kind of file it is."""
        return self._opened.shape

    def run(self, sink: Sink, progress: Callable[[int, int], None] | None = None) -> Report:
        """Store everything and return the counts; `progress` is told bytes done and bytes in all.

        Raises InvalidArgumentError for a bad place, before anything of its batch is written, unless
        bad ones are skipped; whatever the store raises. What was written before stays, and running
        the same import again goes on behind it.
        """
        counts = _Counts()
        for batch, end in self._batches(counts):
            for group in _groups(batch):
                _write(group, sink, counts)
            if progress is not None:
                progress(end, self._opened.size)
        return Report(
            shape=str(self.shape),
            added=counts.added,
            already_there=counts.already_there,
            bad=counts.bad,
            bad_places=tuple(counts.bad_places),
            ignored=dict(counts.ignored),
            searchable=counts.searchable,
        )

    def _batches(self, counts: _Counts) -> Iterator[tuple[list[Unit], int]]:
        batch: list[Unit] = []
        waiting = end = 0
        for place in self._opened.places():
            end = place.end
            try:
                unit = to_unit(place.number, place.value, self._origin)
            except InvalidArgumentError as error:
                named = _named(error, self._opened.unit, place.number)
                if not self._skip_bad:
                    raise named from error
                counts.bad += 1
                if len(counts.bad_places) < _NAMED:
                    counts.bad_places.append(str(named))
                continue
            counts.ignored.update(unit.ignored)
            batch.append(unit)
            waiting += len(unit.elements)
            if waiting >= BATCH:
                yield batch, end
                batch, waiting = [], 0
        if batch:
            yield batch, end


def import_file(
    path: Path,
    sink: Sink,
    *,
    user_id: str,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Store a file's memories in a client, those that name no user for `user_id`; see `Import.run`."""
    return Import(path, Origin(user_id), skip_bad=skip_bad).run(sink, progress)


def _groups(batch: Sequence[Unit]) -> Iterator[_Group]:
    """Yield what is written at once: a conversation by itself, everything else by origin.

    A conversation is recognised by what it says, wherever it stands, so that a later export of the
    same chats adds only what is new. Other elements are recognised by line and content: the same
    words in two lines are two memories.
    """
    together: dict[str, list[Unit]] = {}
    for unit in batch:
        if not unit.stands_alone:
            together.setdefault(unit.key, []).append(unit)
            continue
        for start in range(0, len(unit.elements), BATCH):
            elements = unit.elements[start : start + BATCH]
            seed = f"{unit.key}@{start}"
            yield _Group(unit.is_chat, unit.origin, seed, elements, (0,) * len(elements))
    for key, units in together.items():
        elements = tuple(one for unit in units for one in unit.elements)
        places = tuple(unit.number for unit in units for _ in unit.elements)
        yield _Group(units[0].is_chat, units[0].origin, key, elements, places)


def _write(group: _Group, sink: Sink, counts: _Counts) -> None:
    origin: dict[str, Any] = dict(group.origin)
    ids = _request_ids(group)
    known = _known(ids, sink, origin["user_id"])
    counts.already_there += known
    rest = group.elements[known:]
    if not rest:
        return
    verb = sink.add if group.is_chat else sink.add_extracted
    answer = verb(list(rest), request_id=ids[-1], **origin)
    repeated = len(answer["deduplicated"])
    counts.added += len(answer["memory_ids"]) - repeated
    counts.already_there += repeated
    counts.searchable = counts.searchable and bool(answer["searchable"])


def _request_ids(group: _Group) -> list[str]:
    """Return an id for each prefix of a group, the last one being that of the whole."""
    digest = hashlib.sha256(group.seed.encode())
    ids: list[str] = []
    for element, place in zip(group.elements, group.places, strict=True):
        digest.update(json.dumps([place, element], sort_keys=True).encode())
        ids.append(f"import-{digest.hexdigest()[:40]}")
    return ids


def _known(ids: Sequence[str], sink: Sink, user_id: str) -> int:
    """Return how many elements were stored by an earlier run: all, none, or those of a shorter file."""
    for size in range(len(ids), 0, -1):
        if sink.get_write_outcome(ids[size - 1], user_id=user_id) is not None:
            return size
    return 0


def _named(error: InvalidArgumentError, unit: str, number: int) -> InvalidArgumentError:
    """Return the error with its place in the file in front of the field."""
    name = error.argument
    for prefix in ("contents[0].", "contents[0]", "data[0]."):
        name = name.removeprefix(prefix)
    place = f"{unit} {number}"
    return InvalidArgumentError(f"{place}, {name}" if name else place, error.value, error.fix)
