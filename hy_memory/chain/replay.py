"""Edits one after another on what is known of the files: what each did to which symbol."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hy_memory.chain.moves import with_moves
from hy_memory.chain.symbols import Segment, headed, lines_of, segments
from hy_memory.values.code import FileEdit, Fragment, Piece

_WHOLE_LINES = 200  # of a file without symbols: one that is longer is followed by the lines around changes
_CONTEXT = 3
_LARGEST = 400_000  # characters of a file that is kept whole: larger ones are data, not code


@dataclass(frozen=True, slots=True)
class Replayed:
    """One edit of a file: what it did to each symbol, and the whole file afterwards, if known."""

    path: str
    pieces: tuple[Piece, ...]
    content: str | None = None
    old_path: str = ""
    is_gone: bool = False


def replay(edits: Sequence[FileEdit], contents: dict[str, str | None]) -> list[Replayed]:
    """Return what the edits of one turn did, in order; moves from one to another are told.

    `contents` holds the files that are known before the first of them: the text, None for one that is gone.
    It is brought to what is known after the last. Edits that change nothing are left out.
    """
    done = [one for edit in edits if (one := _replayed(edit, contents)) is not None]
    pieces = with_moves([(one.path, one.pieces) for one in done])
    return [replace(one, pieces=held) for one, held in zip(done, pieces, strict=True)]


def _replayed(edit: FileEdit, known: dict[str, str | None]) -> Replayed | None:
    source = edit.old_path or edit.path
    before = known.get(source)
    if edit.is_unclear:
        known.pop(edit.path, None)
        return Replayed(edit.path, ())
    if edit.is_new and before:  # the tool refused: the file was there
        return None
    if edit.old_path:
        known[source] = None
    if edit.is_deleted:
        was_there = before is not None or source not in known
        known[edit.path] = None
        gone = () if before is None else compared(before, "", source, is_gone=True)
        gone = gone or (Piece("", None, None),)  # of all that is known of it
        return Replayed(edit.path, gone, is_gone=True) if was_there else None
    after = _after(edit, before)
    known.pop(edit.path, None)
    if after is None:
        pieces = tuple(piece for one in edit.fragments for piece in _around(one, edit.path))
        return Replayed(edit.path, pieces, None, edit.old_path) if pieces or edit.old_path else None
    if len(after) <= _LARGEST:
        known[edit.path] = after
    pieces = compared(before, after, edit.path, old_path=source)
    if not pieces and not edit.old_path and before is not None:
        return None
    return Replayed(edit.path, pieces, known.get(edit.path), edit.old_path)


def applied(fragment: Fragment, text: str) -> str | None:
    """Return a text after one fragment of it was replaced, None where that does not fit.

    Of several places where the old lines stand, the one nearest to where they were said to be.
    """
    old, new = fragment.old, fragment.new
    if not old:
        lines = lines_of(text)
        at = fragment.line - 1
        if not 0 <= at <= len(lines):
            return None
        head = "".join(lines[:at])
        return (f"{head}\n" if head and not head.endswith("\n") else head) + new + "".join(lines[at:])
    if fragment.everywhere:
        return text.replace(old, new) if old in text else None
    places = _places(old, text)
    if not places and old.endswith("\n") and text.endswith(old[:-1]):  # the last line has no end
        places, old, new = [len(text) - len(old) + 1], old[:-1], new.removesuffix("\n")
    if not places:
        return None
    if fragment.line:
        wanted = len("".join(lines_of(text)[: fragment.line - 1]))
        at = min(places, key=lambda place: abs(place - wanted))
    else:
        at = places[0]
    return text[:at] + new + text[at + len(old) :]


def compared(
    before: str | None, after: str, path: str, *, old_path: str = "", is_gone: bool = False
) -> tuple[Piece, ...]:
    """Return what became of each symbol of a file; `before` is None where that is not known.

    `is_gone` says that there is no file any more: nothing is left outside its symbols either.
    """
    new = segments(after, path)
    old = {} if before is None else segments(before, old_path or path)
    if new is None or old is None:
        return _plain(before, None if is_gone else after)
    found: list[Piece] = []
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if not _is_same(was, now):
            text = now.text if now else None
            found.append(Piece(name, was.text if was else None, text, True, now.line if now else 0))
    return tuple(found)


def _after(edit: FileEdit, before: str | None) -> str | None:
    """Return a file after an edit, None where what it was before is not known or does not fit."""
    if edit.content is not None:
        return edit.content
    text = before
    moved = 0
    for fragment in edit.fragments:
        if text is None:
            return None
        here = replace(fragment, line=fragment.line + moved) if fragment.line else fragment
        length = text.count("\n")
        text = applied(here, text)
        if fragment.line and text is not None:  # a diff's numbers are of the file before
            moved += text.count("\n") - length
    return text


def _is_same(was: Segment | None, now: Segment | None) -> bool:
    """Return whether a symbol is as it was; around other symbols blank lines come and go with those."""
    if was is None or now is None:
        here = was or now
        return here is not None and here.is_remainder and not here.text.strip()
    if was.text == now.text:
        return True
    return was.is_remainder and now.is_remainder and _without_blank(was.text) == _without_blank(now.text)


def _without_blank(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _plain(before: str | None, after: str | None) -> tuple[Piece, ...]:
    """Return the pieces of a file whose language has no grammar: all of it, or the lines around changes."""
    if before == after:
        return ()
    old, new = lines_of(before or ""), lines_of(after or "")
    if after is None or max(len(old), len(new)) <= _WHOLE_LINES:
        short = None if before is None else "".join(old[:_WHOLE_LINES])
        return (Piece("", short, after, len(old) <= _WHOLE_LINES, 1),)
    if before is None:
        return (Piece("", None, "".join(new[:_WHOLE_LINES]), False, 1),)
    groups = difflib.SequenceMatcher(None, old, new, autojunk=True).get_grouped_opcodes(_CONTEXT)
    return tuple(
        Piece(
            "",
            "".join(old[ops[0][1] : ops[-1][2]]),
            "".join(new[ops[0][3] : ops[-1][4]]),
            False,
            ops[0][3] + 1,
        )
        for ops in groups
    )


def _around(fragment: Fragment, path: str) -> Iterator[Piece]:
    """Yield the pieces of a change in a file that is not known as a whole."""
    if fragment.old == fragment.new:
        return
    outer, line = headed(fragment.header), fragment.line
    old, new = segments(fragment.old, path), segments(fragment.new, path)
    if old is None or new is None or not ({*old, *new} - {""}):
        yield Piece(outer, fragment.old, fragment.new, False, line)
        return
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if not _is_same(was, now):
            own = name or outer
            start = line + now.line - 1 if line and now else line
            yield Piece(own, was.text if was else None, now.text if now else None, False, start)


def _places(old: str, text: str) -> list[int]:
    """Return where `old` begins, at the beginning of a line if there is one such place."""
    found, at = list[int](), text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    starting = [at for at in found if at == 0 or text[at - 1] == "\n"]
    return starting or found
