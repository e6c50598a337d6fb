"""Diffs in texts: unified ones, those of `apply_patch`, and blocks of search and replace."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from hy_memory.chain.paths import clean
from hy_memory.values.code import FileEdit, Fragment

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$")
_GIT = "diff --git "
_EXTENDED = re.compile(
    r"^(?:index |(?:old|new|deleted file|new file) mode |(?:dis)?similarity index |rename |copy )"
)
_NOTHING = "/dev/null"
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+?)\s*$")
_BLOCK = re.compile(
    r"^<{5,9} ?SEARCH[^\n]*\n(?P<old>.*?)^={5,9}[^\n]*\n(?P<new>.*?)^>{5,9} ?REPLACE",
    re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")


def edits_in(text: str) -> tuple[FileEdit, ...]:
    """Return every edit that a text holds in one of the usual forms, in no other order than these."""
    found: list[FileEdit] = []
    if _BEGIN in text:
        found += _applied(text)
    if "@@" in text or _GIT in text:
        found += _unified(text)
    if "SEARCH" in text and "REPLACE" in text:
        found += _named_blocks(text)
    return tuple(found)


def blocks_in(text: str) -> tuple[Fragment, ...]:
    """Return the blocks of search and replace in a text that belongs to a file already named."""
    return tuple(Fragment(found["old"], found["new"]) for found in _BLOCK.finditer(text))


def hunks_in(text: str) -> tuple[Fragment, ...]:
    """Return the hunks of a diff that names no file itself."""
    lines = text.split("\n")
    at = next((place for place, line in enumerate(lines) if _HUNK.match(line)), None)
    if at is None:
        return ()
    region, _ = _hunks(lines, at)
    return next((edit.fragments for edit in _parsed(["--- a/x", "+++ b/x", *region])), ())


def _named_blocks(text: str) -> Iterator[FileEdit]:
    """Yield blocks of search and replace with the file that the line before them names."""
    path, end = "", 0
    for found in _BLOCK.finditer(text):
        above = [line for line in text[end : found.start()].split("\n") if line.strip()]
        named = next((line for line in reversed(above) if not _FENCE.match(line)), "")
        path = clean(named.strip("`*: ")) or path
        end = found.end()
        if path and " " not in path:
            yield FileEdit(path, (Fragment(found["old"], found["new"]),))


# the form of apply_patch


def _applied(text: str) -> Iterator[FileEdit]:
    for part in text.split(_BEGIN)[1:]:
        lines = part.split(_END)[0].split("\n")
        starts = [at for at, line in enumerate(lines) if _FILE.match(line)]
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
            edit = _applied_file(lines[start], lines[start + 1 : end])
            if edit is not None:
                yield edit


def _applied_file(header: str, lines: Sequence[str]) -> FileEdit | None:
    found = _FILE.match(header)
    if found is None:
        return None
    kind, path = found[1], clean(found[2])
    if kind == "Delete":
        return FileEdit(path, is_deleted=True)
    if kind == "Add":
        return FileEdit(path, content="".join(f"{line[1:]}\n" for line in lines if line.startswith("+")))
    moved = _MOVE.match(lines[0]) if lines else None
    target = clean(moved[1]) if moved else path
    fragments = tuple(_sections(lines[1:] if moved else lines))
    return FileEdit(target, fragments, old_path=path if target != path else "")


def _sections(lines: Sequence[str]) -> Iterator[Fragment]:
    header, old, new = "", list[str](), list[str]()
    for line in (*lines, "@@"):
        if line.startswith("@@"):
            if old != new:
                yield Fragment("".join(old), "".join(new), header=header)
            header, old, new = line.strip("@ "), [], []
        elif line[:1] in (" ", "-", "+") or (line == "" and old):
            old += [f"{line[1:]}\n"] if line[:1] in (" ", "-", "") else []
            new += [f"{line[1:]}\n"] if line[:1] in (" ", "+", "") else []


# unified diffs


def _unified(text: str) -> Iterator[FileEdit]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        region, after = _region(lines, at)
        if region:
            yield from _parsed(region)
        at = max(after, at + 1)


def _region(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the diff of one file that begins at a line, and the place after it; nothing where none does."""
    start = at
    if lines[at].startswith(_GIT):
        at += 1
        while at < len(lines) and _EXTENDED.match(lines[at]):
            at += 1
    region = list(lines[start:at])
    if at + 1 < len(lines) and lines[at].startswith("--- ") and lines[at + 1].startswith("+++ "):
        region += lines[at : at + 2]
        hunks, at = _hunks(lines, at + 2)
        region += hunks
        return (region, at) if hunks else ([], start + 1)
    return (region, at) if len(region) > 1 else ([], start + 1)


def _hunks(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the hunks that begin at a line, their headers told the lengths they have, and what follows.

    Models count badly; what a hunk holds is plain to see.
    """
    region: list[str] = []
    while at < len(lines) and (found := _HUNK.match(lines[at])):
        left = [int(found[2] or 1), int(found[4] or 1)]
        at += 1
        body: list[str] = []
        while at < len(lines) and _is_hunk_line(lines, at, left):
            sign = lines[at][:1] or " "
            left[0] -= sign in " -"
            left[1] -= sign in " +"
            body.append(lines[at] or " ")
            at += 1
        while max(left) > 0 and body and body[-1] == " ":  # counted too many: blank lines end it
            body.pop()
        old, new = (sum(line[0] in signs for line in body) for signs in (" -", " +"))
        region += [f"@@ -{found[1]},{old} +{found[3]},{new} @@{found[5]}", *body]
    return region, at


def _is_hunk_line(lines: Sequence[str], at: int, left: Sequence[int]) -> bool:
    line = lines[at]
    if line.startswith("\\"):
        return True
    if left[0] > 0 or left[1] > 0:
        return line[:1] in ("", " ", "-", "+")
    is_header = line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return line[:1] in ("-", "+") and not is_header


def _parsed(region: Sequence[str]) -> Iterator[FileEdit]:
    try:
        files = PatchSet(io.StringIO("\n".join(region) + "\n"))
    except UnidiffParseError:  # what only looks like a diff is none
        return
    for one in files:
        edit = _file_edit(one)
        if edit is not None:
            yield edit


def _file_edit(one: PatchedFile) -> FileEdit | None:
    source, target = _unquoted(one.source_file, "a/"), _unquoted(one.target_file, "b/")
    fragments = tuple(_fragment(hunk) for hunk in one)
    if target == _NOTHING:  # unidiff also calls a file that became empty removed
        return FileEdit(clean(source), is_deleted=True)
    path = clean(target)
    if not path:
        return None
    if source == _NOTHING:
        return FileEdit(path, content="".join(part.new for part in fragments))
    old_path = clean(source)
    if not fragments and old_path == path:
        return None
    return FileEdit(path, fragments, old_path="" if old_path == path else old_path)


def _fragment(hunk: Sequence[object]) -> Fragment:
    old, new = list[str](), list[str]()
    last: list[list[str]] = []
    for line in hunk:
        sign, value = str(getattr(line, "line_type", " ")), str(getattr(line, "value", ""))
        if sign == "\\":  # the line before it has no end
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
            continue
        last = [side for side, signs in ((old, " -"), (new, " +")) if sign in signs]
        for side in last:
            side.append(value)
    start, header = int(getattr(hunk, "source_start", 0)), str(getattr(hunk, "section_header", ""))
    return Fragment("".join(old), "".join(new), start + (not old), header.strip())


def _unquoted(name: str, prefix: str) -> str:
    """Return a file's name without git's quotes and its one-letter prefix."""
    plain = name.partition("\t")[0]
    if plain.startswith('"') and plain.endswith('"'):
        octets = plain[1:-1].encode().decode("unicode_escape").encode("latin-1", "replace")
        plain = octets.decode(errors="replace")
    return plain.removeprefix(prefix)
