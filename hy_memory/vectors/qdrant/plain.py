"""Plain points: current, of a normal layer, never expiring. Nearly all of anybody's points are.

Every search asks for just that, by conditions that the engine looks up point by point; that costs three
times what going through a user's points does. So a point's payload says under which user it is plain, or
else special, and a search asks twice: for the plain points with what the filter still has to say of
them, mostly nothing, and for the few special ones with all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hy_memory.filters.tree import And, Compare, Filter, Not, Op, Or
from hy_memory.values.point import Payload
from hy_memory.values.record import NORMAL_LAYERS, Status

_NORMAL = frozenset(layer.value for layer in NORMAL_LAYERS)

Known: TypeAlias = Filter | bool
"""What is left to ask, or the answer."""


def is_plain(payload: Payload) -> bool:
    """Return whether a point is plain."""
    return payload.status is Status.ACTIVE and str(payload.layer) in _NORMAL and payload.expires_at is None


def of_plain(tree: Filter) -> Known:
    """Return what `tree` still has to ask of plain points: itself or less, or what it says of all of them."""
    if isinstance(tree, Compare):
        return _compare(tree)
    if isinstance(tree, Not):
        inner = of_plain(tree.part)
        return not inner if isinstance(inner, bool) else Not(inner)
    parts = [of_plain(part) for part in tree.parts]
    decisive = isinstance(tree, Or)  # one such part decides the whole
    if any(part is decisive for part in parts):
        return decisive
    return _joined([part for part in parts if not isinstance(part, bool)], is_or=decisive)


def _joined(parts: Sequence[Filter], *, is_or: bool) -> Known:
    if not parts:
        return not is_or
    if len(parts) == 1:
        return parts[0]
    return Or(tuple(parts)) if is_or else And(tuple(parts))


def _compare(node: Compare) -> Known:
    if node.field == "expires_at":
        return node.op is Op.EXISTS and node.value is not True
    if node.field not in ("status", "layer"):
        return node
    if node.op is Op.EXISTS:
        return node.value is True
    if node.op not in (Op.EQ, Op.IN):
        return False  # texts have no order
    wanted = set(node.value) if isinstance(node.value, tuple) else {node.value}
    held = _NORMAL if node.field == "layer" else {Status.ACTIVE.value}
    if held <= wanted:
        return True
    return node if held & wanted else False
