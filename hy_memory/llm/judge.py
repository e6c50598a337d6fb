"""One question to a language model before a search or a write: which scene, and what is really asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from hy_memory.errors import LLMAnswerError
from hy_memory.llm.judgement import Judgement, Task
from hy_memory.llm.moments import Moment, last_second, seconds
from hy_memory.llm.port import ChatModel
from hy_memory.llm.prompts import compose, language_of
from hy_memory.temporal.calendar import zone_of
from hy_memory.values.usage import Usage

_MOST = 8_000  # characters of a conversation that are shown, its end: enough for a dozen long turns


class Scene(BaseModel):
    """The answer to which scene it is."""

    model_config = ConfigDict(strict=True)

    scene: Literal["chat", "working", "coding"]


class Query(BaseModel):
    """The answer to what is asked, and of which time."""

    model_config = ConfigDict(strict=True)

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_MOST)]
    after: Moment | None = Field(default=None)
    before: Moment | None = Field(default=None)


class Both(Scene, Query):
    """Both answers."""


def judge(model: ChatModel, task: Task, texts: Sequence[str], *, now: float, zone: str) -> Judgement:
    """Return what `model` makes of the last of `texts`, asked at `now` (epoch seconds) in the IANA `zone`.

    Raises LLMError; LLMAnswerError also for a question in another language, or a time that ends before it
    begins.
    """
    language, there = language_of(texts[-1]), zone_of(zone)
    values = {"now": datetime.fromtimestamp(now, there).strftime("%A %Y-%m-%dT%H:%M"), "zone": zone}
    heading = "Conversation:" if language == "en" else "对话："
    prompt = compose(("judge", *task.parts), language, values, {heading: _end_of(texts)})
    if task is Task.SCENE:
        reply = model.ask(prompt, Scene)
        return Judgement(reply.usage, reply.answer.scene)
    if task is Task.QUERY:
        asked = model.ask(prompt, Query)
        return _in_full(asked.answer, None, asked.usage, texts[-1], there)
    both = model.ask(prompt, Both)
    return _in_full(both.answer, both.answer.scene, both.usage, texts[-1], there)


def judge_session(model: ChatModel, texts: Sequence[str]) -> Judgement:
    """Return what kind of session an agent's messages are of. Raises LLMError."""
    language = language_of(texts[0]) if texts else "en"
    heading = "Session:" if language == "en" else "会话："
    reply = model.ask(compose(("session",), language, {}, {heading: _end_of(texts)}), Scene)
    return Judgement(reply.usage, reply.answer.scene)


def _in_full(answer: Query, scene: str | None, usage: Usage, asked: str, zone: tzinfo) -> Judgement:
    if language_of(answer.query) != language_of(asked):
        raise LLMAnswerError("the language model rewrote the question in another language")
    after = None if answer.after is None else seconds(answer.after, zone)
    before = None if answer.before is None else last_second(answer.before, zone)
    if after is not None and before is not None and after > before:
        raise LLMAnswerError("the language model gave a time that ends before it begins")
    return Judgement(usage, scene, answer.query, after, before)


def _end_of(texts: Sequence[str]) -> str:
    """Return a conversation, a message after the other, cut at its beginning where it is too long."""
    whole = "\n\n".join(f"[{at}] {text}" for at, text in enumerate(texts, start=1))
    return whole[-_MOST:]
