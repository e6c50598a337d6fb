"""Where time and identifiers come from, so that tests can choose both."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

_NOISE_BITS = 74


def time_ordered_ids(now: float, count: int) -> tuple[str, ...]:
    """Return `count` UUIDs (version 7, RFC 9562) in rising order: milliseconds, then 74 bits.

    Ids that grow with time keep inserts at the right edge of the ledger's B-trees, and those of one
    call keep its order. Their noise starts at random and rises by random steps, so that nobody can
    guess one id from another.
    """
    milliseconds = int(now * 1000) & ((1 << 48) - 1)
    noise = int.from_bytes(os.urandom(10), "big") >> (80 - _NOISE_BITS + 1)  # leaves room to rise
    made: list[str] = []
    for _ in range(count):
        noise += int.from_bytes(os.urandom(4), "big") + 1
        high, low = noise >> 62 & 0xFFF, noise & ((1 << 62) - 1)
        text = f"{milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"
        made.append(f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}")
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Clock:
    """The two sources a client needs: UTC epoch seconds and fresh ids."""

    now: Callable[[], float] = time.time
    make_ids: Callable[[float, int], tuple[str, ...]] = time_ordered_ids

    def new_id(self) -> str:
        """Return a fresh id."""
        return self.make_ids(self.now(), 1)[0]
