"""Symbols that one turn took out here and put in there: the same code under another name or elsewhere."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hy_memory.values.code import Piece, Place

_ALIKE = 0.6  # of two texts: below that a symbol was removed, and another one written
_MOST = 40  # symbols taken out or put in by one turn; more are a restructuring that nobody can follow


def with_moves(edits: Sequence[tuple[str, tuple[Piece, ...]]]) -> list[tuple[Piece, ...]]:
    """Return the pieces of one turn's edits (path, pieces), those told apart that were moved or renamed."""
    first: dict[Place, Piece] = {}
    last: dict[Place, Piece] = {}
    for path, pieces in edits:
        for piece in pieces:
            if piece.symbol:
                first.setdefault((path, piece.symbol), piece)
                last[path, piece.symbol] = piece
    taken = {at: one.before for at, one in first.items() if one.before is not None and last[at].after is None}
    put = {
        at: last[at].after for at, one in first.items() if one.before is None and last[at].after is not None
    }
    if not taken or not put or max(len(taken), len(put)) > _MOST:
        return [pieces for _, pieces in edits]
    came_from = _matched(taken, put)
    went_to = {source: target for target, source in came_from.items()}
    return [
        tuple(
            replace(
                piece,
                origin=came_from.get((path, piece.symbol))
                if piece is first.get((path, piece.symbol))
                else None,
                target=went_to.get((path, piece.symbol)) if piece.after is None else None,
            )
            for piece in pieces
        )
        for path, pieces in edits
    ]


def _matched(taken: Mapping[Place, str | None], put: Mapping[Place, str | None]) -> dict[Place, Place]:
    """Return for what was put in where it came from, most alike first; each is one other's at most."""
    scored = sorted(
        (-_likeness(source, before or "", target, after or ""), source, target)
        for source, before in taken.items()
        for target, after in put.items()
    )
    found: dict[Place, Place] = {}
    used: set[Place] = set()
    for likeness, source, target in scored:
        if -likeness >= _ALIKE and source not in used and target not in found:
            found[target] = source
            used.add(source)
    return found


def _likeness(source: Place, before: str, target: Place, after: str) -> float:
    """Return how alike two symbols are beside their names, in [0, 2]: the name counts as the code does."""
    old, new = (place[1].rpartition(".")[2].partition("#")[0] for place in (source, target))
    one, other = (" ".join(text.split()) for text in (_named("_", old, before), _named("_", new, after)))
    matcher = difflib.SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < _ALIKE / 2:
        return 0.0
    return matcher.ratio() + (old == new)


def _named(name: str, old: str, text: str) -> str:
    return re.sub(rf"(?<![\w$]){re.escape(old)}(?![\w$])", name, text)
