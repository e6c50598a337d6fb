"""What memories are called in a prompt: models mix up numbers that stand for two things."""

from __future__ import annotations

from string import ascii_uppercase


def letter(number: int) -> str:
    """Return A … Z, AA, AB …, for a number from 0 to 701."""
    high, low = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[high - 1] if high else "") + ascii_uppercase[low]
