"""What a language model cost."""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """Requests to the service, and the tokens it counted (0 where it does not say)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, more: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(*(mine + its for mine, its in zip(self, more, strict=True)))
