"""One thread of two that tell of the same code: what sessions did to it, and what was committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hy_memory.chain.threads import Thread, Version, closed

_MOST = 200  # versions of either side that are compared: the newest


def aligned(observed: Sequence[Thread], committed: Sequence[Thread]) -> list[Thread]:
    """Return the threads of sessions with those of commits joined to them where they tell of the same symbol.

    A change that both tell of is one version, with the user's words and the commit's id. Threads that only
    commits tell of are returned too.
    """
    partners: dict[int, list[Thread]] = {}
    alone: list[Thread] = []
    for thread in observed:
        parts = _regions(thread)
        homes = [_home(part, committed) for part in parts]
        if all(home is None for home in homes):
            alone.append(thread)
            continue
        for part, home in zip(parts, homes, strict=True):
            if home is None:
                alone.append(part)
            else:
                partners.setdefault(home, []).append(part)
    joined: list[Thread] = []
    for at, commits in enumerate(committed):
        versions: Sequence[Version] = commits.versions
        told = [version for one in partners.get(at, ()) for version in _named(one, commits)]
        if told:
            versions = _joined(sorted(told, key=_moment), versions)
        known = [commits, *(one for one in partners.get(at, ()) if one.is_whole)]
        place = max(known, key=lambda one: _moment(one.versions[-1])).place
        joined.append(closed(place, versions))
    return [*alone, *joined]


def _regions(thread: Thread) -> list[Thread]:
    """Return a thread of which only lines are known as one for each run of lines: they may be anywhere."""
    if all(one.is_whole for one in thread.versions):
        return [thread]
    places = sorted({one.region for one in thread.versions})
    apart = [[one for one in thread.versions if one.region == place] for place in places]
    return [closed(thread.place, held, (held[-1].after or "",)) for held in apart]


def _home(thread: Thread, committed: Sequence[Thread]) -> int | None:
    """Return which thread of commits is of the symbol that a session's is of, None for none.

    Of lines alone it is the one that has, or had, them; if several do, the only one that a session's change
    was committed to.
    """
    if thread.place[1] and thread.is_whole:
        return next((at for at, one in enumerate(committed) if thread.places & one.places), None)
    near = [at for at, one in enumerate(committed) if _may_be(thread, one)]
    if thread.is_whole:
        return near[0] if len(near) == 1 else None
    exact = [at for at in near if any(_is_in(a, b) for a in thread.versions for b in committed[at].versions)]
    holding = [at for at in near if any(_holds(one, committed[at]) for one in thread.versions)]
    return next((found[0] for found in (exact, holding) if len(found) == 1), None)


def _may_be(observed: Thread, commits: Thread) -> bool:
    """Return whether the names allow that two threads are of one symbol."""
    if observed.places & commits.places:
        return True
    path, symbol = observed.place
    if path not in {name for name, _ in commits.places} or observed.is_whole:
        return False
    return not symbol or any(own.endswith(f".{symbol}") for _, own in commits.places)


def _holds(part: Version, commits: Thread) -> bool:
    """Return whether a symbol ever had the lines that a session changed."""
    lines = (part.before or "").strip("\n") or (part.after or "").strip("\n")
    return bool(lines) and any(lines in (one.after or "") for one in commits.versions)


def _is_in(part: Version, commit: Version) -> bool:
    """Return whether a commit changed the lines that a session changed, in the same way."""
    after, before = (part.after or "").strip("\n"), (part.before or "").strip("\n")
    old, new = commit.before or "", commit.after or ""
    return bool(after or before) and old != new and after in new and before in old


def _named(observed: Thread, commits: Thread) -> list[Version]:
    """Return the versions of a session's thread, by the name that commits know where it knew only lines."""
    return [one if one.is_whole else replace(one, place=commits.place) for one in observed.versions]


def _same(observed: Sequence[Version], at: int, commits: Sequence[Version], other: int) -> bool:
    """Return whether a commit holds what a session did.

    A session that changed a symbol so many times made at most so many of the commits of it that there were
    when it was stored, and these are the last ones: an older commit of the same change is another change.
    A later commit holds what was done last before it.
    """
    one, commit = observed[at], commits[other]
    there = sum(each.at + 1 <= one.at for each in commits)  # commits know the second, and no more
    turns = sum(each.record_ids == one.record_ids for each in observed[at:])
    is_followed = any(one.at < each.at <= commit.at for each in observed[at + 1 :])
    if other < there - turns or is_followed:
        return False
    if not one.is_whole:
        return _is_in(one, commit)
    if commit.before is None or one.after != commit.after:  # what was there first says nothing of the order
        return False
    return any(each.before == commit.before for each in observed[: at + 1])


def _joined(observed: Sequence[Version], commits: Sequence[Version]) -> list[Version]:
    """Return both lists as one in which each version goes on from the one before it.

    By time alone or by what they have in common, whichever leaves fewer versions that do not go on.
    """
    ways = (sorted((*commits, *observed), key=_moment), _merged(observed, commits))
    linked = [_linked(way) for way in ways]
    return min(linked, key=lambda way: (sum(one.is_gap or not one.is_whole for one in way), len(way)))


def _merged(observed: Sequence[Version], commits: Sequence[Version]) -> list[Version]:
    """Return both lists as one, each in its own order, equal ones as one; between these by time."""
    pairs = _common(observed[-_MOST:], commits[-_MOST:])
    skipped, passed = max(0, len(observed) - _MOST), max(0, len(commits) - _MOST)
    found: list[Version] = []
    at = other = 0
    for one, commit in [*((a + skipped, b + passed) for a, b in pairs), (len(observed), len(commits))]:
        found += sorted((*commits[other:commit], *observed[at:one]), key=_moment)
        if one < len(observed):
            found.append(_both(observed[one], commits[commit]))
        at, other = one + 1, commit + 1
    return found


def _both(observed: Version, commit: Version) -> Version:
    words = observed.words if observed.words.strip() else commit.words
    return replace(commit, words=words, record_ids=observed.record_ids | commit.record_ids)


def _common(observed: Sequence[Version], commits: Sequence[Version]) -> list[tuple[int, int]]:
    """Return the places of the longest list of versions that both have, in the order of both."""
    rows, columns = len(observed), len(commits)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    same = [[_same(observed, at, commits, other) for other in range(columns)] for at in range(rows)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if same[i][j] else max(best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if same[i][j] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _linked(versions: Sequence[Version]) -> list[Version]:
    """Return versions each of which goes on from the one before it, as far as all of the code is known."""
    found: list[Version] = []
    for one in versions:
        last = found[-1] if found else None
        if last is None or not last.is_whole:
            found.append(one)
        elif not one.is_whole:
            whole = _applied(one, last.after)
            if whole is None and last.commit and _is_in(one, last):
                found[-1] = _both(one, last)  # what it did was committed together with what came before it
            else:
                found.append(replace(one, is_gap=True) if whole is None else whole)
        elif one.after == last.after and one.came_from is None:
            found[-1] = _both(one, last) if last.commit else _both(last, one)
        else:
            found.append(replace(one, before=last.after, is_gap=one.before not in (last.after, None)))
    return found


def _applied(part: Version, code: str | None) -> Version | None:
    """Return a change of some lines as one of the whole code, None where they are not in it."""
    if code is None or not part.before or part.before not in code:
        return None
    after = code.replace(part.before, part.after or "", 1)
    return replace(part, before=code, after=after, is_whole=True, region=0)


def _moment(one: Version) -> tuple[float, int]:
    return (one.at, one.seq)
