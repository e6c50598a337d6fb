"""Per-user projections held in memory: built from the ledger at first use, caught up before each read.

A projection is a row of immutable versions over append-only arrays: whoever holds a version may
search it without a lock while the next one is being made.
"""
