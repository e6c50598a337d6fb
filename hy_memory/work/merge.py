"""One list of several: the best of all, but none left out by another that has more to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def fair(lists: Sequence[Sequence[tuple[float, T]]], limit: int) -> list[T]:
    """Return at most `limit` of several scored lists, each best first, in the order of their scores.

    Each list is sure of its part, `limit` over the number of lists, if it has so many; what one does not
    use goes to the best of the others. Of equal scores the earlier list's comes first.
    """
    share = -(-limit // len(lists)) if lists else 0
    sure = [
        (score, at, place) for at, one in enumerate(lists) for place, (score, _) in enumerate(one[:share])
    ]
    rest = [
        (score, at, place)
        for at, one in enumerate(lists)
        for place, (score, _) in enumerate(one[share:], start=share)
    ]
    chosen = _best(sure)[:limit]
    chosen += _best(rest)[: max(0, limit - len(chosen))]
    return [lists[at][place][1] for _, at, place in _best(chosen)]


def _best(places: Sequence[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    return sorted(places, key=lambda one: (-one[0], one[1], one[2]))
