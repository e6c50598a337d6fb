"""Groups of vectors that say much the same, found without chance: the same vectors, the same groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hy_memory.values.point import FloatArray

_BLOCK = 1024  # rows compared at once: 4 MB of similarities per thousand vectors


def clusters(vectors: FloatArray, names: Sequence[str], *, least: float, smallest: int) -> list[list[int]]:
    """Return groups of rows, each around the row with most neighbours, in the order they were formed.

    Two rows are neighbours when their cosine is at least `least`. The row with most neighbours that
    are still free takes them as its group (ties go to the smaller name) until no row has `smallest`
    members, itself included. So every member is near one common centre: chains of acquaintances, as
    single linkage makes them, do not join.

    Args:
        vectors: (n, dims) of unit length.
        names: n names that decide ties; ids, so that row order does not matter.
        least: Cosine from which two rows are neighbours.
        smallest: Members a group must have.
    """
    near = _neighbours(vectors, least)
    free = set(range(len(near)))
    found: list[list[int]] = []
    while free:
        members = {row: near[row] & free for row in free}
        centre = min(free, key=lambda row: (-len(members[row]), names[row]))
        if len(members[centre]) < smallest:
            break
        found.append([centre, *sorted(members[centre] - {centre}, key=lambda row: names[row])])
        free -= members[centre]
    return found


def _neighbours(vectors: FloatArray, least: float) -> list[set[int]]:
    """Return for every row the set of its neighbours, itself included."""
    near: list[set[int]] = []
    for start in range(0, len(vectors), _BLOCK):
        alike = vectors[start : start + _BLOCK] @ vectors.T
        for row, line in enumerate(alike, start=start):
            near.append({row, *np.flatnonzero(line >= least).tolist()})
    return near
