"""What a command line does to files, as far as it is plain to see; else that they may have changed."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

from hy_memory.chain.patches import edits_in
from hy_memory.chain.paths import clean
from hy_memory.values.code import FileEdit

_HEREDOC = re.compile(
    r"cat\s*>\s*(?P<path>[^\s<>|;&]+)\s*<<-?\s*(['\"]?)(?P<mark>\w+)\2\n(?P<text>.*?)^\s*(?P=mark)\s*$",
    re.MULTILINE | re.DOTALL,
)
_SEPARATORS = frozenset(("&&", ";", "|", "&"))
_OTHERWISE = "||"
_WRITES = frozenset((">", ">>", ">|", "&>", "&>>"))
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_SCRIPT = re.compile(r"-[a-zA-Z]*[ef]$|--(?:expression|file)")
_BRINGS_BACK = frozenset(("checkout", "restore"))
_UNSURE = frozenset("*?$`{")
"""Characters by which a word may stand for other words."""


def edits_by(command: str) -> Iterator[FileEdit]:
    """Yield what a command line does to files that it names.

    Where it changes a file in a way that its text does not show, the edit is `is_unclear`.
    """
    if "*** Begin Patch" in command:
        yield from edits_in(command)
        return
    for found in _HEREDOC.finditer(command):
        yield FileEdit(clean(found["path"]), content=found["text"])
    lines = _HEREDOC.sub("", command).splitlines()
    commands = [words for line in lines for words in _commands(line)]
    if any(words[0] == "cd" for words in commands):  # its names are of elsewhere
        return
    for words in commands:
        yield from (one for one in _done(words) if one.path and not set(one.path) & _UNSURE)


def _commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, but of those that are run only if another failed."""
    lexer = shlex.shlex(line, punctuation_chars="&|;<>")  # keeps quotation marks: `'>'` is no sign
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # a quotation without an end
        return
    own, is_otherwise = list[str](), False
    for word in (*words, ";"):
        if word not in _SEPARATORS and word != _OTHERWISE:
            own.append(word)
            continue
        if own and not is_otherwise and word != _OTHERWISE:
            yield own
        own, is_otherwise = [], word == _OTHERWISE


def _done(words: Sequence[str]) -> Iterator[FileEdit]:
    """Yield what one command does."""
    said, written = _redirected(words)
    yield from (FileEdit(clean(one), is_unclear=True) for one in written)
    is_git = said[:1] == ["git"]
    name, *said = (said[1:] if is_git else said) or [""]
    named = [clean(word) for word in said if not word.startswith("-")]
    if name in ("mv", "rm"):
        if not any(set(word) & _UNSURE for word in named):
            yield from _moved(named, said[-1]) if name == "mv" else _removed(named)
    elif name == "cp" and len(named) == 2:
        yield FileEdit(_place(named, said[-1]), is_unclear=True)
    else:
        yield from (FileEdit(one, is_unclear=True) for one in _rewritten(name, said, named, is_git=is_git))


def _redirected(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a command's words without where its output goes, and the files that it goes to."""
    said, written = list[str](), list[str]()
    rest = iter(words)
    for word in rest:
        if set(word) - set("<>&|"):
            said.append(word.strip("'\""))
            continue
        if said and said[-1].isdigit():  # the number of a stream: `2> errors`
            said.pop()
        target = next(rest, "")
        if word in _WRITES and not target.startswith("/dev/"):
            written.append(target)
    return said, written


def _moved(named: Sequence[str], target: str) -> Iterator[FileEdit]:
    if len(named) == 2:
        yield FileEdit(_place(named, target), old_path=named[0])


def _removed(named: Sequence[str]) -> Iterator[FileEdit]:
    yield from (FileEdit(one, is_deleted=True) for one in named)


def _rewritten(name: str, said: Sequence[str], named: Sequence[str], *, is_git: bool) -> Sequence[str]:
    """Return the files that a command gives another content."""
    if name == "tee" or (is_git and name in _BRINGS_BACK):
        return named
    if name in ("sed", "perl") and any(_IN_PLACE.match(word) for word in said):
        has_option = any(_SCRIPT.match(word) for word in said)  # then its script is no word of its own kind
        return named if has_option else named[1:]
    return ()


def _place(named: Sequence[str], target: str) -> str:
    """Return the name that a file gets by `mv` or `cp`, into a folder or not."""
    base = posixpath.basename(named[0])
    is_folder = target.endswith("/") or ("." in base and "." not in named[1])
    return posixpath.join(named[1], base) if is_folder else named[1]
