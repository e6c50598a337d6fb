"""How many tokens a model reads, estimated without one."""

from __future__ import annotations

from hy_memory.text.tokenize import count_unspaced

_CHARACTERS_PER_TOKEN = 4  # of spaced scripts; a character of an unspaced script is a token (memory-dynamics)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model reads: a character of CJK and the like, four of other scripts."""
    dense = count_unspaced(text)
    return dense + -(-(len(text) - dense) // _CHARACTERS_PER_TOKEN)
