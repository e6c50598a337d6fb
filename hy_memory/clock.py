"""Where time and identifiers come from, so that tests can choose both."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass


def time_ordered_id(now: float) -> str:
    """Return a UUID (version 7, RFC 9562): milliseconds first, then 74 random bits.

    Ids that grow with time keep inserts at the right edge of the ledger's B-trees.
    """
    milliseconds = int(now * 1000) & ((1 << 48) - 1)
    noise = int.from_bytes(os.urandom(10), "big")
    value = milliseconds << 80 | 0x7 << 76 | (noise >> 68) << 64 | 0b10 << 62 | (noise & ((1 << 62) - 1))
    return str(uuid.UUID(int=value))


@dataclass(frozen=True, slots=True)
class Clock:
    """The two sources a client needs: UTC epoch seconds and fresh ids."""

    now: Callable[[], float] = time.time
    make_id: Callable[[float], str] = time_ordered_id

    def new_id(self) -> str:
        """Return a fresh id."""
        return self.make_id(self.now())
