"""Changes of code: what a tool or a diff says was edited, and what became of each piece of a file by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Place: TypeAlias = "tuple[str, str]"
"""A file and a symbol in it; the symbol is "" for what lies outside all of them."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines that took the place of others. `old` is "" where lines were only put in.

    `line` is where `old` begins, or where `new` was put in front of, from 1; 0 where nobody said.
    `header` is what a diff names the place, `everywhere` that each occurrence of `old` was replaced.
    """

    old: str
    new: str
    line: int = 0
    header: str = ""
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What was done to one file. `content` is all of it afterwards, where the edit says that.

    `old_path` is the name it had before, "" where it kept it. `is_new`: there must have been nothing before.
    `is_unclear`: it was changed, or may have been, and nobody can tell how.
    """

    path: str
    fragments: tuple[Fragment, ...] = ()
    content: str | None = None
    is_deleted: bool = False
    old_path: str = ""
    is_new: bool = False
    is_unclear: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What a user asked, and what was edited for it, in order."""

    words: str
    edits: tuple[FileEdit, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What an edit made of one symbol: its code before and after, None where there is none.

    `is_whole` says that the code is all of the symbol's; else it is the lines around the change. `line` is
    where it begins afterwards, from 1, 0 where that is not known. `origin` is where the code came from,
    `target` where it went, if it was moved or renamed.
    """

    symbol: str
    before: str | None
    after: str | None
    is_whole: bool = True
    line: int = 0
    origin: Place | None = None
    target: Place | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """What keeps histories apart: a user's coding memory, a workspace, a branch; "" where none is named."""

    user_id: str
    workspace: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class CodeEdit:
    """An edit of one file as it is kept: where it was made, what was asked for, what it did to each symbol.

    `record_id` is the raw turn it was read from, and goes with that. `turn` numbers what a user asked for
    within that. `seq` orders all edits of a store, 0 before it is stored. `content` is the whole file
    afterwards, None where that is not known, or the file gone (`is_gone`); the two are not read back with
    the rest. One without pieces, of a file that kept its name, changed it in a way that nobody can tell.
    """

    record_id: str
    ground: Ground
    path: str
    turn: int
    words: str
    pieces: tuple[Piece, ...]
    at: float
    source: str = "default"
    old_path: str = ""
    content: str | None = field(default=None, repr=False)
    is_gone: bool = False
    seq: int = 0

    @property
    def is_unclear(self) -> bool:
        """Whether nobody can tell what it did."""
        return not self.pieces and not self.old_path
