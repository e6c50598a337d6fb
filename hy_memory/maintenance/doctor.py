"""Doctor: is the ledger sound, and do the projections hold exactly what it holds?"""

from __future__ import annotations

from typing import TypedDict

from hy_memory.identity import identity_of, mismatch
from hy_memory.ports import Embedder, Ledger
from hy_memory.projection import Feeder
from hy_memory.values.lane import user_of


class Diagnosis(TypedDict):
    """What was found. `healthy` is True where nothing is wrong (any more); `repaired` counts mended ids."""

    healthy: bool
    problems: list[str]
    repaired: int
    users: int


def examine(ledger: Ledger, embedder: Embedder, feeder: Feeder | None, *, repair: bool) -> Diagnosis:
    """Return what is wrong; with `repair`, make the projection agree with the ledger first.

    The ledger itself is never changed: it is the truth, and only a backup can mend it.
    """
    problems = list(ledger.problems())
    theirs, ours = ledger.embedder(), identity_of(embedder)
    if theirs is not None and theirs != ours:
        problems.append(mismatch(theirs, ours))
    repaired = 0
    if feeder is not None:
        feeder.catch_up()
        missing, stray = feeder.differences()
        if repair and (missing or stray):
            feeder.repair(sorted(missing | stray))
            repaired = len(missing | stray)
            missing, stray = feeder.differences()
        if missing:
            problems.append(f"{feeder.name} lacks {len(missing)} memories; run `hy-memory doctor --repair`")
        if stray:
            problems.append(
                f"{feeder.name} holds {len(stray)} that are gone; run `hy-memory doctor --repair`"
            )
    return {
        "healthy": not problems,
        "problems": problems,
        "repaired": repaired,
        "users": len({user_of(one) for one in ledger.users()}),
    }
