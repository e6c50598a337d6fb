"""What a language model learns from a session of an agent, beside the lessons that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hy_memory.llm.letters import letter
from hy_memory.llm.port import ChatModel
from hy_memory.llm.prompts import compose, language_of
from hy_memory.llm.texts import LongText, ShortText
from hy_memory.values.usage import Usage

_MOST_LESSONS = 8
_MESSAGE = 1500  # characters shown of one message: results of tools are pages long
_BEGINNING, _END = 6_000, 18_000  # characters shown of a session: what was asked, and how it ended

_Shorts = Annotated[list[ShortText], Field(max_length=16)]
_Share = Annotated[float, Field(ge=0, le=1)]


class Lesson(BaseModel):
    """One lesson; `value` is what it saves whoever meets the task again."""

    model_config = ConfigDict(strict=True)

    task: ShortText
    solution: LongText
    search_keys: _Shorts = Field(default_factory=list[str])
    boundary: _Shorts = Field(default_factory=list[str])
    files: Annotated[list[str], Field(max_length=64)] = Field(default_factory=list[str])
    confidence: _Share = 1.0
    value: _Share
    known: str | None = None


class Lessons(BaseModel):
    """The answer to what was learned."""

    model_config = ConfigDict(strict=True)

    lessons: Annotated[list[Lesson], Field(max_length=_MOST_LESSONS)]


@dataclass(frozen=True, slots=True)
class Learned:
    """A lesson, and the place in the known ones of that which it is to replace, None for a new one."""

    lesson: Lesson
    known: int | None


def learn(
    model: ChatModel, statement: str, messages: Sequence[str], known: Sequence[str]
) -> tuple[list[Learned], Usage]:
    """Return what `model` learns from a session, told by its fact and its messages. Raises LLMError.

    No two lessons replace one of `known`: the second is new.
    """
    language = language_of(statement)
    headings = (
        ("Session:", "Messages:", "Known lessons:")
        if language == "en"
        else ("会话：", "消息：", "已知经验：")
    )
    lettered = {letter(at): at for at in range(len(known))}
    shown = "\n\n".join(f"{name}: {known[at]}" for name, at in lettered.items())
    told = _shortened("\n\n".join(one[:_MESSAGE] for one in messages))
    texts = (statement, told, shown or "–")
    material = {str(heading): text for heading, text in zip(headings, texts, strict=True)}
    reply = model.ask(compose(("learn",), language, {}, material), Lessons)
    found: list[Learned] = []
    replaced: set[int] = set()
    for lesson in reply.answer.lessons:
        at = lettered.get((lesson.known or "").strip().upper())
        if at is not None and at in replaced:
            at = None
        if at is not None:
            replaced.add(at)
        found.append(Learned(lesson, at))
    return found, reply.usage


def _shortened(text: str) -> str:
    if len(text) <= _BEGINNING + _END:
        return text
    return f"{text[:_BEGINNING]}\n\n[…]\n\n{text[-_END:]}"
