"""What the factory of a language model gets to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hy_memory.llm.port import ChatModel


@dataclass(frozen=True, slots=True)
class LLMOptions:
    """One model of one OpenAI-compatible service; `timeout` (seconds) is for a question, retries included."""

    model: str
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 30.0


class LLMFactory(Protocol):
    """How an adapter is opened."""

    def __call__(self, options: LLMOptions) -> ChatModel:
        """Return the model; nothing is asked yet."""
        ...
