"""Calls of tools that edit files, known by their arguments: names of tools are anybody's choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from hy_memory.chain.commands import edits_by
from hy_memory.chain.patches import blocks_in, edits_in, hunks_in
from hy_memory.chain.paths import clean
from hy_memory.values.code import FileEdit, Fragment

_PATHS = ("path", "file_path", "filePath", "filename", "file", "filepath", "target_file", "notebook_path")
_OLD = ("old_string", "old_str", "old_text", "oldString", "oldText", "old", "search")
_NEW = ("new_string", "new_str", "new_text", "newString", "newText", "new", "replace", "replacement")
_WHOLE = ("file_text", "content", "contents")
_LISTS = ("edits", "changes", "replacements")
_INSERTED = ("insert_text", "new_str", "text", "new_string")
_DIFFS = ("patch", "diff", "input")
_COMMANDS = ("command", "cmd", "script", "input")
_RENAMED = (("old_path", "new_path"), ("source", "destination"), ("source_path", "destination_path"))
_DELETES = re.compile(r"(?:^|[_\-. ])(?:delete|remove|rm)(?:$|[_\-. ])", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def edits_of(name: str, arguments: Mapping[str, object]) -> tuple[FileEdit, ...]:
    """Return what a call of a tool does to files; nothing for a call that only looks or runs."""
    path = _path(arguments)
    patched = [edit for key in _DIFFS for edit in edits_in(_text(arguments.get(key)))]
    if patched:
        return tuple(patched)
    listed = [edit for key in _LISTS for edit in _listed(path, arguments.get(key))]
    if listed:
        return tuple(listed)
    edit = _renamed(arguments) or (_edited(path, arguments) if path else None)
    if edit is None and path and _deletes(name, arguments):
        edit = FileEdit(path, is_deleted=True)
    if edit is not None:
        return (edit,)
    return () if path else tuple(edit for key in _COMMANDS for edit in edits_by(_text(arguments.get(key))))


def _edited(path: str, arguments: Mapping[str, object]) -> FileEdit | None:
    """Return what the arguments of one edit of one file say."""
    line = arguments.get("insert_line")
    if isinstance(line, int):
        new = next((_text(arguments[key]) for key in _INSERTED if key in arguments), "")
        return FileEdit(path, (Fragment("", new if new.endswith("\n") else f"{new}\n", line + 1),))
    fragment = _replaced(arguments)
    if fragment is not None:
        if fragment.old == "":  # as some tools make a file: there was nothing to be replaced
            return FileEdit(path, content=fragment.new, is_new=True)
        return FileEdit(path, (fragment,))
    for key in _DIFFS:
        given = _text(arguments.get(key))
        fragments = blocks_in(given) or hunks_in(given)
        if fragments:
            return FileEdit(path, fragments)
    whole = next((arguments[key] for key in _WHOLE if isinstance(arguments.get(key), str)), None)
    return None if whole is None else FileEdit(path, content=str(whole))


def _replaced(arguments: Mapping[str, object]) -> Fragment | None:
    old = next((arguments[key] for key in _OLD if isinstance(arguments.get(key), str)), None)
    new = next((arguments[key] for key in _NEW if isinstance(arguments.get(key), str)), None)
    if old is None or (new is None and arguments.get("command") != "str_replace"):
        return None
    everywhere = bool(arguments.get("replace_all", arguments.get("replaceAll", False)))
    return Fragment(str(old), str(new or ""), everywhere=everywhere)


def _listed(path: str, given: object) -> Iterator[FileEdit]:
    """Yield the edits of a list: those of one file that follow each other as one."""
    where, fragments = "", list[Fragment]()
    for one in cast("Sequence[object]", given) if isinstance(given, list | tuple) else ():
        if not isinstance(one, Mapping):
            continue
        fields = cast("Mapping[str, object]", one)
        own, fragment = _path(fields) or path, _replaced(fields)
        if own != where and fragments:
            yield FileEdit(where, tuple(fragments))
            fragments = []
        where = own
        if fragment is not None and own:
            fragments.append(fragment)
        elif own and fragment is None and (edit := _edited(own, fields)):
            yield edit
    if fragments:
        yield FileEdit(where, tuple(fragments))


def _renamed(arguments: Mapping[str, object]) -> FileEdit | None:
    for old, new in _RENAMED:
        before, after = clean(_text(arguments.get(old))), clean(_text(arguments.get(new)))
        if before and after and before != after:
            return FileEdit(after, old_path=before)
    return None


def _deletes(name: str, arguments: Mapping[str, object]) -> bool:
    said = arguments.get("command")
    return said == "delete" or (said is None and bool(_DELETES.search(_CAMEL.sub("_", name))))


def _path(arguments: Mapping[str, object]) -> str:
    return next((clean(str(arguments[key])) for key in _PATHS if isinstance(arguments.get(key), str)), "")


def _text(value: object) -> str:
    """Return an argument as a text; a command as a list of words is one too."""
    if isinstance(value, list | tuple):
        words = [one for one in cast("Sequence[object]", value) if isinstance(one, str)]
        return ("\n" if any(len(one.split()) > 1 for one in words) else " ").join(words)
    return value if isinstance(value, str) else ""
