"""A session as one fact, by rules: what was asked, how it was gone about, what came of it.

A session that goes on gets a new fact that stands for all of it; what is kept of the earlier ones is
bounded, so that a session of a year costs what one of an hour does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from hy_memory.text.tokenize import count_unspaced
from hy_memory.values.lane import FACT, LEARNED_FROM
from hy_memory.values.record import Json, MemoryRecord
from hy_memory.work.trace import Call, Trace

_TASKS = 12  # asks kept of a session: its first, and the newest
_FILES = 64
_DETAILS = 24
_LONG = 400  # characters of a task or a result in the statement; the whole text stays in the raw turns
_SHORT = 120  # of a subject, a detail, or a link of the chain
_SHOWN = 6  # files and commands named in the statement

_PATH_KEYS = ("path", "file_path", "filename", "file", "filepath", "target_file", "notebook_path", "old_path")
_EDIT_KEYS = (
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "old",
    "new",
    "edits",
    "file_text",
    "content",
    "contents",
    "insert_line",
    "patch",
    "diff",
    "code_edit",
)  # fmt: skip - arguments that only a tool which changes a file has
_COMMAND_KEYS = ("command", "cmd", "script")
_PATCH = ("patch", "diff", "input")
_PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ b/)(.+?)\s*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s|\n")

_LABELS = {
    False: {"approach": "Approach", "result": "Result", "edit": "edited", "run": "ran", "read": "read"},
    True: {"approach": "做法", "result": "结果", "edit": "修改", "run": "运行", "read": "查看"},
}


@dataclass(frozen=True, slots=True)
class Detail:
    """A place where a verbatim text stands: message `at` of raw turn `raw_id`, and how it begins."""

    raw_id: str
    at: int
    kind: str
    preview: str


@dataclass(frozen=True, slots=True)
class SessionFact:
    """What is known of a session. `earlier` are the results it had before, oldest first."""

    tasks: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    result: str = ""
    details: tuple[Detail, ...] = ()
    earlier: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    versions: int = 1
    subject: str = ""
    experience_ids: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were changed; where none was, those that were looked at."""
        return self.edited or self.read

    @property
    def statement(self) -> str:
        """The fact as a text: the task, the approach, the result, in the language of the task."""
        label = _LABELS[count_unspaced("".join(self.tasks)) > 0]
        tasks = _unique(self.tasks)
        tasks = tasks if len(tasks) < 4 else (tasks[0], *tasks[-2:])
        parts = [_clipped("; ".join(_clipped(one, _LONG) for one in tasks), 2 * _LONG)]
        approach = "; ".join(
            f"{label[how]} {_listed(what)}"
            for how, what in (("edit", self.edited), ("run", self.commands), ("read", self.read))
            if what and not (how == "read" and self.edited)
        )
        parts += [f"{label['approach']}: {approach}"] if approach else []
        parts += [f"{label['result']}: {_clipped(self.result, _LONG)}"] if self.result else []
        return "\n".join(part for part in parts if part)

    @property
    def chain_summary(self) -> str:
        """How the session came to this fact, oldest first; "" where it is the first."""
        return " → ".join(self.earlier)


def fact_of(trace: Trace, raw_id: str, digest: str, before: SessionFact | None = None) -> SessionFact:
    """Return the fact of a session that `trace` begins, or goes on with where there was one `before`."""
    tasks = tuple(_first_words(text) for text in trace.said("user"))
    answers = trace.said("assistant")
    edits = [call for call in trace.calls if not call.failed and is_edit(call)]
    reads = [call for call in trace.calls if not is_edit(call)]
    new = SessionFact(
        tasks=tasks,
        edited=_unique(paths for call in edits for paths in paths_of(call)),
        read=_unique(paths for call in reads for paths in paths_of(call)),
        commands=_unique(one for call in trace.calls for one in commands_of(call)),
        result=_clipped(answers[-1], _LONG) if answers else "",
        details=tuple(_details(trace, raw_id)),
        digests=(digest,),
    )
    whole = new if before is None else _joined(before, new)
    subject = whole.tasks[0] if whole.tasks else ", ".join(whole.files) or whole.result
    return replace(
        whole,
        tasks=_ends(whole.tasks, _TASKS),
        edited=whole.edited[-_FILES:],
        read=whole.read[-_FILES:],
        commands=whole.commands[-_FILES:],
        details=whole.details[-_DETAILS:],
        earlier=_ends(whole.earlier, _TASKS),
        digests=whole.digests[-_FILES:],
        subject=_clipped(subject, _SHORT),
    )


def _joined(before: SessionFact, new: SessionFact) -> SessionFact:
    was = _clipped(before.result or (before.tasks[-1] if before.tasks else before.subject), _SHORT)
    return SessionFact(
        tasks=(*before.tasks, *new.tasks),
        edited=_latest(before.edited, new.edited),
        read=_latest(before.read, new.read),
        commands=_latest(before.commands, new.commands),
        result=new.result or before.result,
        details=(*before.details, *new.details),
        earlier=(*before.earlier, was),
        digests=(*before.digests, *new.digests),
        versions=before.versions + 1,
        experience_ids=before.experience_ids,
    )


def is_edit(call: Call) -> bool:
    """Return whether a call changes a file, by its arguments: names of tools are anybody's choice."""
    if any(key in call.arguments for key in _EDIT_KEYS) and (paths_of(call) or _patch_of(call)):
        return True
    return bool(_PATCHED.search(_patch_of(call)))


def paths_of(call: Call) -> tuple[str, ...]:
    """Return the files that a call names."""
    named = [value for key in _PATH_KEYS if isinstance(value := call.arguments.get(key), str) and value]
    return tuple(dict.fromkeys((*named, *_PATCHED.findall(_patch_of(call)))))


def commands_of(call: Call) -> tuple[str, ...]:
    """Return the command lines that a call runs, each on one line."""
    if is_edit(call):
        return ()
    found: list[str] = []
    for key in _COMMAND_KEYS:
        value = call.arguments.get(key)
        if isinstance(value, list | tuple):
            value = " ".join(str(one) for one in cast("Sequence[object]", value))
        if isinstance(value, str) and value.strip() and not paths_of(call):
            found.append(_clipped(value, _SHORT))
    return tuple(found)


def as_json(fact: SessionFact) -> dict[str, Json]:
    """Return a fact as the ledger keeps it beside its statement."""
    details: list[Json] = [[one.raw_id, one.at, one.kind, one.preview] for one in fact.details]
    return {
        "tasks": list(fact.tasks),
        "edited": list(fact.edited),
        "read": list(fact.read),
        "commands": list(fact.commands),
        "result": fact.result,
        "details": details,
        "earlier": list(fact.earlier),
        "digests": list(fact.digests),
        "versions": fact.versions,
        "subject": fact.subject,
        LEARNED_FROM: list(fact.experience_ids),
    }


def from_json(value: Mapping[str, Json]) -> SessionFact:
    """Return the fact that `as_json` kept."""
    details = cast("list[tuple[str, int, str, str]]", value["details"])
    return SessionFact(
        tasks=_texts(value["tasks"]),
        edited=_texts(value["edited"]),
        read=_texts(value["read"]),
        commands=_texts(value["commands"]),
        result=str(value["result"]),
        details=tuple(Detail(*one) for one in details),
        earlier=_texts(value["earlier"]),
        digests=_texts(value["digests"]),
        versions=cast("int", value["versions"]),
        subject=str(value["subject"]),
        experience_ids=_texts(value[LEARNED_FROM]),
    )


def with_experiences(record: MemoryRecord, experience_ids: Sequence[str]) -> MemoryRecord:
    """Return the record of a fact with the experiences that it gave rise to."""
    kept = cast("Mapping[str, Json]", record.attributes[FACT])
    linked: dict[str, Json] = {**kept, LEARNED_FROM: list(experience_ids)}
    return replace(record, attributes={**record.attributes, FACT: linked})


def _details(trace: Trace, raw_id: str) -> Iterable[Detail]:
    for step in trace.steps:
        for call in step.calls:
            if call.failed:
                yield Detail(raw_id, step.at, "error", _clipped(call.result or "", _SHORT))
            elif is_edit(call):
                yield Detail(raw_id, step.at, "edit", _clipped(", ".join(paths_of(call)), _SHORT))
            else:
                for command in commands_of(call):
                    yield Detail(raw_id, step.at, "command", command)


def _patch_of(call: Call) -> str:
    return "\n".join(value for key in _PATCH if isinstance(value := call.arguments.get(key), str))


def _first_words(text: str) -> str:
    """Return the first sentences of what was asked, up to a length."""
    plain = text.strip()
    if len(plain) <= _LONG:
        return " ".join(plain.split())
    kept = ""
    for sentence in _SENTENCE_END.split(plain):
        if len(kept) + len(sentence) > _LONG:
            break
        kept = f"{kept} {sentence.strip()}".strip()
    return " ".join(kept.split()) or _clipped(plain, _LONG)


def _clipped(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(values[-_SHOWN:])
    return shown if len(values) <= _SHOWN else f"{shown} (+{len(values) - _SHOWN})"


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _latest(before: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """Return both, each value where it came last: what a bound then drops is the longest untouched."""
    return (*(one for one in before if one not in new), *new)


def _ends(values: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return at most `most` values: the first, and the newest of the rest."""
    return values if len(values) <= most else (values[0], *values[-(most - 1) :])


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(str(one) for one in cast("list[Json]", value))
