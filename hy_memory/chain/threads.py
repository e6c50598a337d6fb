"""Edits in their order folded into threads: one for each symbol, whatever its name and wherever it stood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hy_memory.values.code import CodeEdit, Piece, Place


@dataclass(frozen=True, slots=True)
class Version:
    """What a symbol was made by one turn, or one commit.

    `before` and `after` are its code, None where there is none; of a symbol not known as a whole they are
    the lines of one of its `region`s. `words` are the user's, or the commit's; `commit` is "" where it was
    not committed, or nobody knows. `place` is where it then stood, `came_from` where before, if elsewhere.
    `is_gap` says that `before` is not what the version before made: something else came between.
    """

    edit: tuple[str, int]
    seq: int
    at: float
    words: str
    place: Place
    before: str | None
    after: str | None
    line: int = 0
    is_whole: bool = True
    region: int = 0
    came_from: Place | None = None
    is_gap: bool = False
    commit: str = ""
    record_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Thread:
    """All known versions of one symbol, oldest first, and where it stands now.

    `current` is its code, None where it is gone; where only parts are known, these, in `parts`.
    `returns` has for each version the place of the version whose code it brought back: -1 is what there was
    before the first one, None where it brought none back.
    """

    place: Place
    versions: tuple[Version, ...]
    returns: tuple[int | None, ...]
    parts: tuple[str, ...] = ()

    @property
    def current(self) -> str | None:
        """The code that the newest version left."""
        return self.versions[-1].after

    @property
    def is_whole(self) -> bool:
        """Whether `current` is all of the symbol."""
        return self.versions[-1].is_whole or self.current is None

    @property
    def places(self) -> frozenset[Place]:
        """Everywhere it ever stood."""
        moved = {one.came_from for one in self.versions if one.came_from is not None}
        return frozenset({self.place, *moved, *(one.place for one in self.versions)})


@dataclass(slots=True)
class _Open:
    """A thread while it is being followed; `regions` are the lines known of a symbol that is not whole.

    `is_known`: `state` is what it is now; `is_blurred`: it was so until something changed the file.
    """

    place: Place
    versions: list[Version] = field(default_factory=list[Version])
    state: str | None = None
    is_known: bool = False
    is_blurred: bool = False
    regions: list[str | None] = field(default_factory=list[str | None])
    moved_from: Place | None = None


def folded(edits: Iterable[CodeEdit]) -> list[Thread]:
    """Return the threads of edits of one user, workspace and branch, given in their order.

    What one turn did to a symbol is one version, in however many steps; what it undid itself is none.
    """
    fold = _Fold()
    for edit in edits:
        if edit.is_unclear:
            fold.blur(edit.path)
        fold.rename(edit)
        for piece in edit.pieces:
            fold.add(edit, piece)
    return [closed(one.place, one.versions, _parts(one)) for one in fold.all if one.versions]


def closed(place: Place, versions: Sequence[Version], parts: tuple[str, ...] = ()) -> Thread:
    """Return the thread of versions, with what each of them brought back."""
    return Thread(place, tuple(versions), tuple(_returns(versions)), parts)


def _code(one: _Open) -> str | None:
    return one.state if one.is_known or one.is_blurred else "\n".join(_parts(one)) or None


def _parts(one: _Open) -> tuple[str, ...]:
    return tuple(text for text in one.regions if text is not None)


class _Fold:
    """The threads so far: those that are open by where they stand, and all in the order they began."""

    def __init__(self) -> None:
        self.open: dict[Place, _Open] = {}
        self.all: list[_Open] = []

    def rename(self, edit: CodeEdit) -> None:
        """Take the threads of a renamed file along; what stood under the new name is at its end."""
        if not edit.old_path:
            return
        moving = [place for place in self.open if place[0] == edit.old_path]
        if moving:
            for place in [place for place in self.open if place[0] == edit.path]:
                del self.open[place]
        for place in moving:
            self._move(place, (edit.path, place[1]))

    def blur(self, path: str) -> None:
        """Hold what stands in a file for what it was: something changed it that nobody can tell."""
        for place, thread in self.open.items():
            if place[0] == path and thread.is_known:
                thread.is_known, thread.is_blurred = False, True

    def add(self, edit: CodeEdit, piece: Piece) -> None:
        """Give the thread of a piece its next version."""
        place = (edit.path, piece.symbol)
        if piece.before is None and piece.after is None:  # a file went of which nothing else was known
            for thread in [one for at, one in self.open.items() if at[0] == edit.path]:
                _append(thread, _version(edit, replace(piece, before=_code(thread), is_whole=True), thread))
            return
        if piece.target is not None:
            self._leave(place, piece)
            return
        if piece.origin is not None:
            if piece.origin in self.open:
                self._move(piece.origin, place)
            else:
                self._begin(place).moved_from = piece.origin
        thread = self._thread(place, piece)
        if piece.is_whole:
            _append(thread, _version(edit, piece, thread))
        else:
            _append_part(thread, edit, piece)

    def _leave(self, place: Place, piece: Piece) -> None:
        """Note what a symbol was where it was taken from, unless it is followed already."""
        target = self.open.get(piece.target or place)
        if target is not None and target.moved_from == place and not target.is_known:
            target.state, target.is_known = piece.before, True
        elif target is not None and target.versions and target.versions[-1].came_from == place:
            last = target.versions[-1]
            if last.before is None:
                target.versions[-1] = replace(last, before=piece.before)
        elif place not in self.open:
            begun = self._begin(place)
            begun.state, begun.is_known = piece.before, True

    def _thread(self, place: Place, piece: Piece) -> _Open:
        found = self.open.get(place)
        if found is None and not piece.is_whole:
            found = self._containing(place, piece)
        return found or self._begin(place)

    def _containing(self, place: Place, piece: Piece) -> _Open | None:
        """Return the thread of a symbol that a change of unnamed, or shortly named, lines belongs to."""
        path, symbol = place
        near = [one for at, one in self.open.items() if at[0] == path]
        if symbol:
            named = [one for one in near if one.place[1].endswith(f".{symbol}")]
            return named[0] if len(named) == 1 else None
        if not piece.before:
            return None
        holding = [
            one for one in near if any(piece.before in (text or "") for text in (one.state, *one.regions))
        ]
        return holding[0] if len(holding) == 1 else None

    def _begin(self, place: Place) -> _Open:
        begun = self.open[place] = _Open(place)
        self.all.append(begun)
        return begun

    def _move(self, source: Place, target: Place) -> None:
        thread = self.open.pop(source)
        thread.moved_from = thread.moved_from or source
        thread.place = target
        self.open[target] = thread


def _version(edit: CodeEdit, piece: Piece, thread: _Open) -> Version:
    was_known = thread.is_known or thread.is_blurred
    is_gap = was_known and piece.before is not None and piece.before != thread.state
    moved = thread.moved_from if thread.moved_from != thread.place else None
    return Version(
        edit=(edit.record_id, edit.turn),
        seq=edit.seq,
        at=edit.at,
        words=edit.words,
        place=thread.place,
        before=thread.state if thread.is_known and piece.before is None else piece.before,
        after=piece.after,
        line=piece.line,
        is_whole=piece.is_whole,
        came_from=moved,
        is_gap=is_gap,
        record_ids=frozenset((edit.record_id,)),
    )


def _append(thread: _Open, new: Version) -> None:
    """Add a version; the steps of one turn become one, and steps that lead nowhere none."""
    last = thread.versions[-1] if thread.versions else None
    if last is not None and last.edit == new.edit and (last.region == new.region or new.is_whole):
        thread.versions.pop()
        came_from = last.came_from or new.came_from
        is_whole = new.is_whole
        before = last.before if last.is_whole == is_whole else new.before
        new = replace(new, before=before, came_from=came_from, is_gap=last.is_gap)
    is_nothing = new.before == new.after and new.came_from is None
    if not is_nothing or (new.is_gap and new.after is not None):
        thread.versions.append(new)
    thread.moved_from = None
    if new.is_whole:
        thread.state, thread.is_known, thread.is_blurred, thread.regions = new.after, True, False, []


def _append_part(thread: _Open, edit: CodeEdit, piece: Piece) -> None:
    """Add a change of some lines: of the symbol where it is known, else of the region that they are in."""
    if thread.is_known and thread.state is not None and piece.before and piece.before in thread.state:
        whole = replace(
            piece,
            before=thread.state,
            after=thread.state.replace(piece.before, piece.after or "", 1),
            is_whole=True,
        )
        _append(thread, _version(edit, whole, thread))
        return
    region = next(
        (at for at, text in enumerate(thread.regions) if text and piece.before and piece.before in text), None
    )
    before, after = piece.before, piece.after
    if region is None:
        region = len(thread.regions)
        thread.regions.append(None)
    else:
        before = thread.regions[region] or ""
        after = before.replace(piece.before or "", piece.after or "", 1)
    thread.is_known, thread.is_blurred, thread.state = False, False, None
    version = _version(edit, replace(piece, before=before, after=after), thread)
    thread.regions[region] = after
    _append(thread, replace(version, region=region))


def _returns(versions: Sequence[Version]) -> Iterable[int | None]:
    """Yield for each version the newest earlier one with the same code, if another came between."""
    for at, version in enumerate(versions):
        found: int | None = None
        if version.after is not None and version.before != version.after:
            mine = [(place, one) for place, one in enumerate(versions[:at]) if one.region == version.region]
            texts = [(place, one.after) for place, one in mine]
            if mine:
                texts.insert(0, (-1, mine[0][1].before))
            found = next((place for place, text in reversed(texts[:-1]) if text == version.after), None)
        yield found
