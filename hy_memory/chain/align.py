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
    left = list(observed)
    joined: list[Thread] = []
    for commits in committed:
        partners = [one for one in left if _is_same(one, commits)]
        for one in partners:
            left.remove(one)
        versions: Sequence[Version] = commits.versions
        for one in partners:
            versions = _merged(one.versions, versions)
        place = max((commits, *partners), key=lambda one: (one.versions[-1].at, one.versions[-1].seq)).place
        joined.append(closed(place, _linked(versions)))
    return [*left, *joined]


def _is_same(observed: Thread, commits: Thread) -> bool:
    """Return whether two threads are of one symbol, which a session may have known by less of its name."""
    if observed.places & commits.places:
        return observed.place[1] != "" or observed.is_whole or _tells_of(observed, commits)
    if observed.is_whole:
        return False
    files = {path for path, _ in commits.places}
    if observed.place[0] not in files:
        return False
    symbol = observed.place[1]
    named = not symbol or any(own.endswith(f".{symbol}") for _, own in commits.places)
    return named and _tells_of(observed, commits)


def _tells_of(observed: Thread, commits: Thread) -> bool:
    """Return whether the lines that a session changed are in what was committed."""
    return any(_matches(one, other) for one in observed.versions for other in commits.versions)


def _matches(one: Version, commit: Version) -> bool:
    """Return whether a commit holds what a session did."""
    if one.after is None or commit.after is None:
        return one.after is commit.after
    if one.is_whole:
        return one.after == commit.after
    after, before = one.after.strip("\n"), (one.before or "").strip("\n")
    was = commit.before or ""
    return bool(after or before) and after in commit.after and before in was and commit.after != was


def _merged(observed: Sequence[Version], commits: Sequence[Version]) -> list[Version]:
    """Return both lists as one, each in its own order, equal ones as one; between these by time."""
    pairs = _common(observed[-_MOST:], commits[-_MOST:])
    skipped, passed = max(0, len(observed) - _MOST), max(0, len(commits) - _MOST)
    found: list[Version] = []
    at = other = 0
    for one, commit in [*((a + skipped, b + passed) for a, b in pairs), (len(observed), len(commits))]:
        between = [*observed[at:one], *commits[other:commit]]
        if one < len(observed):
            # what a session did on the way to a commit came before it, whenever it was stored
            found += sorted(commits[other:commit], key=_moment)
            found += observed[at:one]
            found.append(_both(observed[one], commits[commit]))
        else:
            found += sorted(between, key=_moment)
        at, other = one + 1, commit + 1
    return found


def _both(observed: Version, commit: Version) -> Version:
    words = observed.words if observed.words.strip() else commit.words
    return replace(commit, words=words, record_ids=observed.record_ids | commit.record_ids)


def _common(observed: Sequence[Version], commits: Sequence[Version]) -> list[tuple[int, int]]:
    """Return the places of the longest list of versions that both have, in the order of both."""
    rows, columns = len(observed), len(commits)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    same = [[_matches(one, commit) for commit in commits] for one in observed]
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
            found.append(replace(one, is_gap=True) if whole is None else whole)
        elif one.after == last.after and one.came_from is None:
            found[-1] = replace(
                last, commit=last.commit or one.commit, record_ids=last.record_ids | one.record_ids
            )
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
