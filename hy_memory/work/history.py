"""The history of the code that facts touch: read from edits and commits, shown beside the facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from hy_memory.chain.align import aligned
from hy_memory.chain.block import Doubts, block
from hy_memory.chain.paths import clean, relative
from hy_memory.chain.threads import Thread, Version, folded
from hy_memory.chain.wording import wording_for
from hy_memory.edit_source import Commits, EditSource
from hy_memory.filters.evaluate import Filterable, predicate
from hy_memory.filters.tree import Filter
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading.request import MIXED
from hy_memory.values.code import CodeEdit, Ground
from hy_memory.values.request import SearchRequest
from hy_memory.values.result import Hit
from hy_memory.work.scope import place_of
from hy_memory.work.search import Chain, ChainPorts, WorkResult, fact_of_hit

_NEWEST = 400  # edits of a file, and as many of those that renamed it
_RENAMES = 6  # names that a file is followed to, back and forth
_FILES = 24  # of which commits are read
GIT = "git"
"""The source by which a filter can name commits; like what is mixed they are left out where none does."""
_NOBODY = ""  # a source that nothing has: what admits it admits whatever is not named


def with_chain(result: WorkResult, request: SearchRequest, ports: ChainPorts) -> WorkResult:
    """Return what a search found with the history of the code; where that fails, it only degrades."""
    made = guard("chain", lambda: chain_of(result.facts, request, ports))
    if isinstance(made, Guarded):
        made = (Chain(), (made,))
    chain, failures = made
    return replace(result, chain=chain).degraded_by(*failures)


@dataclass(frozen=True, slots=True)
class _Sourced:
    """What a source filter looks at."""

    source: str


@dataclass(slots=True)
class _Touched:
    """What facts of one ground touch: their files, and the edits they tell of by raw turn."""

    files: set[str] = field(default_factory=set[str])
    turns: set[str] = field(default_factory=set[str])


def chain_of(
    facts: Sequence[Hit], request: SearchRequest, ports: ChainPorts
) -> tuple[Chain, tuple[Guarded, ...]]:
    """Return the history of the code that facts touch, with what failed on the way.

    Only of the facts' own users, workspaces and branches, only what the search's source filter admits, and
    only what was so at the moment it asks about.
    """
    if not facts or ports.max_tokens <= 0:
        return Chain(), ()
    threads: list[Thread] = []
    outdated: set[int] = set()
    unclear: set[int] = set()
    failures: list[Guarded] = []
    is_allowed = _allowed(request.sources)
    for ground, touched in _touched(facts, ports).items():
        edits = [one for one in _related(ground, touched, ports.source) if _is_by(one, request.as_of)]
        found = folded(one for one in edits if is_allowed(one.source))
        hidden = [one for one in edits if not is_allowed(one.source)]
        if ports.commits is not None and _admits_commits(is_allowed):
            found, failed = _with_commits(found, (ground, request.as_of), touched, ports.commits)
            failures += failed
        for thread in found:
            if _is_touched(thread, touched):
                if _is_overtaken(thread, hidden):
                    outdated.add(len(threads))
                elif _is_unclear(thread, edits):
                    unclear.add(len(threads))
                threads.append(thread)
    doubts = Doubts(frozenset(outdated), frozenset(unclear))
    made = block(threads, ports.max_tokens, wording_for(request.query), doubts)
    used = tuple(at for at, hit in enumerate(facts) if made.record_ids & set(hit.record.evidence_ids))
    return Chain(made.text, used), tuple(failures)


def _touched(facts: Sequence[Hit], ports: ChainPorts) -> Mapping[Ground, _Touched]:
    """Return what the facts touch, by ground, in the order of the best fact of each."""
    turns = list(dict.fromkeys(id_ for hit in facts for id_ in hit.record.evidence_ids))
    paths_of: dict[str, set[str]] = {}
    for edit in ports.source.edits_of(turns):
        if edit.is_unclear:
            continue  # what a session may have changed by a command is not what it tells of
        paths_of.setdefault(edit.record_id, set()).add(edit.path)
    found: dict[Ground, _Touched] = {}
    for hit in facts:
        place = place_of(hit.record)
        ground = Ground(hit.record.user_id, place.workspace_id or "", place.branch or "")
        touched = found.setdefault(ground, _Touched())
        named = [relative(clean(path), ports.root) for path in fact_of_hit(hit).files]
        touched.files.update(path for path in named if path)
        for turn in hit.record.evidence_ids:
            touched.files.update(paths_of.get(turn, ()))
            if turn in paths_of:
                touched.turns.add(turn)
    return found


def _related(ground: Ground, touched: _Touched, source: EditSource) -> list[CodeEdit]:
    """Return the edits of the files that were touched, under every name they and their symbols ever had."""
    found: dict[int, CodeEdit] = {}
    asked: set[str] = set()
    wanted = set(touched.files)
    for _ in range(_RENAMES):
        new = wanted - asked
        if not new:
            break
        asked |= new
        for edit in source.edits(ground, sorted(new), _NEWEST):
            found[edit.seq] = edit
            wanted.add(edit.path)
            wanted.update(path for path in (edit.old_path,) if path)
            for piece in edit.pieces:
                wanted.update(place[0] for place in (piece.origin, piece.target) if place is not None)
    return [found[seq] for seq in sorted(found)]


def _with_commits(
    threads: list[Thread], when: tuple[Ground, float | None], touched: _Touched, commits: Commits
) -> tuple[list[Thread], list[Guarded]]:
    """Return the threads with what was committed of the same files, and what failed on the way."""
    ground, until = when
    paths = sorted({path for one in threads for path, _ in (one.place,)} | touched.files)[:_FILES]
    committed: list[Thread] = []
    for path in paths:
        read = guard("chain", partial(commits.edits, ground, path, until))
        if isinstance(read, Guarded):
            return threads, [read]
        committed += [_committed(one) for one in folded(read)]
    return aligned(threads, list({one.place: one for one in committed}.values())), []


def _committed(thread: Thread) -> Thread:
    versions = [_of_commit(one) for one in thread.versions]
    return Thread(thread.place, tuple(versions), thread.returns, thread.parts)


def _of_commit(one: Version) -> Version:
    return replace(one, commit=one.edit[0], record_ids=frozenset())


def _is_touched(thread: Thread, touched: _Touched) -> bool:
    """Return whether a fact tells of a change of the symbol, or of its file and of no change at all."""
    if any(one.record_ids & touched.turns for one in thread.versions):
        return True
    return not touched.turns and bool({path for path, _ in thread.places} & touched.files)


def _is_overtaken(thread: Thread, hidden: Sequence[CodeEdit]) -> bool:
    """Return whether an edit that may not be shown changed the symbol, or lines that are in it, later."""
    last, files = thread.versions[-1].at, {path for path, _ in thread.places}
    later = [edit for edit in hidden if edit.at > last and edit.path in files]
    return any(
        (edit.path, piece.symbol) in thread.places
        or (not piece.is_whole and piece.before and piece.before in (thread.current or ""))
        for edit in later
        for piece in edit.pieces
    )


def _is_unclear(thread: Thread, edits: Sequence[CodeEdit]) -> bool:
    """Return whether something changed the symbol's file after its newest version, nobody knows how."""
    last, path = thread.versions[-1], thread.place[0]
    later = (edit for edit in edits if edit.is_unclear and edit.path == path)
    return any((edit.at, edit.seq) > (last.at, 0 if last.commit else last.seq) for edit in later)


def _is_by(edit: CodeEdit, moment: float | None) -> bool:
    return moment is None or edit.at <= moment


def _allowed(sources: Filter | None) -> Callable[[str], bool]:
    """Return whether a search admits a source; its filter of sources looks at nothing else."""
    if sources is None:
        return lambda source: True
    admits = predicate(sources)
    return lambda source: admits(cast("Filterable", _Sourced(source)))


def _admits_commits(is_allowed: Callable[[str], bool]) -> bool:
    """Return whether commits may be shown: they may hold anybody's work, so a filter must name them."""
    return is_allowed(MIXED) or (is_allowed(GIT) and not is_allowed(_NOBODY))
