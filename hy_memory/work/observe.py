"""What a session did to code: its turns read from the messages, their edits on what is known of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hy_memory.chain.calls import edits_of
from hy_memory.chain.patches import edits_in
from hy_memory.chain.paths import relative
from hy_memory.chain.replay import replay
from hy_memory.edit_source import EditSource
from hy_memory.values.code import CodeEdit, FileEdit, Ground, Turn
from hy_memory.work.fact import commands_of
from hy_memory.work.trace import Call, Step, Trace

_WORDS = 4000  # characters of what a user asked for; the rest stays in the raw turn


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads edits. `root` is the folder of the repository that absolute paths lie in, "" for none."""

    source: EditSource
    root: str = ""

    def edits(
        self, trace: Trace, asked_before: str, raw_id: str, made: tuple[Ground, str, float]
    ) -> tuple[CodeEdit, ...]:
        """Return the edits of a session's messages, to be stored with the raw turn `raw_id`.

        `made` says where, by which source and when; `asked_before` is what the user last asked in an
        earlier part of the session. Must see what the writes before it stored.
        """
        turns = turns_of(trace, asked_before)
        if not turns:
            return ()
        ground, source, at = made
        changed = [[self._placed(one) for one in turn.edits] for turn in turns]
        paths = {path for edits in changed for one in edits for path in (one.path, one.old_path) if path}
        contents = self.source.contents(ground, source, sorted(paths))
        return tuple(
            CodeEdit(
                record_id=raw_id,
                ground=ground,
                path=done.path,
                turn=number,
                words=turn.words[:_WORDS],
                pieces=done.pieces,
                at=at,
                source=source,
                old_path=done.old_path,
                content=done.content,
                is_gone=done.is_gone,
            )
            for number, (turn, edits) in enumerate(zip(turns, changed, strict=True))
            for done in replay(edits, contents)
        )

    def _placed(self, edit: FileEdit) -> FileEdit:
        """Return an edit with its paths from the root of the repository, where they are in it."""
        return replace(edit, path=relative(edit.path, self.root), old_path=relative(edit.old_path, self.root))


def turns_of(trace: Trace, asked_before: str = "") -> tuple[Turn, ...]:
    """Return what each message of the user led to, without those that led to no edit.

    What comes before the first message belongs to what was `asked_before`. The same words said twice are
    two turns.
    """
    turns: list[Turn] = []
    words, steps = asked_before, list[Step]()
    for step in (*trace.steps, None):
        if step is None or (step.role == "user" and step.text.strip()):
            edits = tuple(_edits(steps))
            if edits:
                turns.append(Turn(words, edits))
            steps = []
        if step is not None:
            words = step.text.strip() if step.role == "user" and step.text.strip() else words
            steps.append(step)
    return tuple(turns)


def _edits(steps: Sequence[Step]) -> Iterator[FileEdit]:
    """Yield the edits of one turn: those of tools, and those of diffs in words on files no tool touched.

    An agent that tells at the end what it did shows its diff once more.
    """
    called = [[edit for call in step.calls for edit in _called(call)] for step in steps]
    touched = {path for edits in called for one in edits for path in (one.path, one.old_path)}
    for step, edits in zip(steps, called, strict=True):
        yield from (edit for edit in edits_in(step.text) if edit.path and edit.path not in touched)
        yield from (edit for edit in edits if edit.path)


def _called(call: Call) -> tuple[FileEdit, ...]:
    """Return what a call did; where its arguments do not say, the diff that it answered with may."""
    if call.failed:
        return ()
    edits = edits_of(call.name, call.arguments)
    if edits or call.result is None or commands_of(call):
        return edits
    return edits_in(call.result)
