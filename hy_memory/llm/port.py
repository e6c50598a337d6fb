"""The port to a language model: a prompt in, an answer of a given shape out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from hy_memory.values.usage import Usage

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told: `instructions` are ours, `material` is what they speak of, fenced."""

    instructions: str
    material: str


@dataclass(frozen=True, slots=True)
class Reply(Generic[S]):
    """A model's answer, checked, and what it took to get it."""

    answer: S
    usage: Usage


class ChatModel(Protocol):
    """A language model. Thread-safe."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def ask(self, prompt: Prompt, shape: type[S]) -> Reply[S]:
        """Return the answer to `prompt` as a `shape`, within the configured time.

        A first answer of another shape is sent back once, with what is wrong with it. Raises LLMError:
        not reached, refused, too late, or no such answer the second time either.
        """
        ...

    def close(self) -> None:
        """Let go of the connections; closing twice is no error."""
        ...
