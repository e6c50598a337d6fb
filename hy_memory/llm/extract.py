"""What a language model reads out of a conversation, and how that goes with what is known already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hy_memory.llm.letters import letter
from hy_memory.llm.moments import Moment, seconds
from hy_memory.llm.port import ChatModel
from hy_memory.llm.prompts import compose, language_of
from hy_memory.llm.texts import Label, LongText
from hy_memory.temporal.calendar import zone_of
from hy_memory.text.sameness import same_text_key
from hy_memory.values.usage import Usage

WINDOW = 24_000  # characters shown at once, some 6,000 tokens: models lose facts in the middle of more
_MOST_PARTS = 40  # of one exchange: a million characters are a book that somebody pasted
_SHOWN = 1000  # characters of a known memory: a longer one is a message, and no fact to be merged with
_MOST_FACTS = 64


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class ProfileValue(_Strict):
    """What a fact says of its user."""

    field: Literal["name", "age", "location", "occupation", "employer"]
    value: LongText
    is_past: bool = False


class Fact(_Strict):
    """One thing worth remembering; `turns` are the numbers of messages, from 1."""

    text: LongText
    turns: Annotated[list[int], Field(min_length=1)]
    owner: Label = "user"
    tags: Annotated[list[Label], Field(max_length=16)] = Field(default_factory=list[str])
    kind: Literal["fact", "intention"] = "fact"
    expires: Moment | None = None
    happened: Moment | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    profile: Annotated[list[ProfileValue], Field(max_length=16)] = Field(default_factory=list[ProfileValue])


class Extraction(_Strict):
    """The answer to what is worth remembering."""

    facts: Annotated[list[Fact], Field(max_length=_MOST_FACTS)]


class Decision(_Strict):
    """What becomes of a new fact, by its number; `memory` is a letter."""

    fact: int
    action: Literal["add", "nothing", "update", "supersede"]
    memory: str | None = None
    text: LongText | None = None


class Reconciliation(_Strict):
    """The answer to how new facts go with known ones."""

    decisions: list[Decision]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A fact with its times in UTC epoch seconds; `turns` are places in the conversation, from 0."""

    fact: Fact
    turns: tuple[int, ...]
    expires_at: float | None
    happened_at: float | None


@dataclass(frozen=True, slots=True)
class Known:
    """A memory that a new fact is held against, or that fact itself: when it happened, when it was said.

    `origin` is the source, agent and session that it is of.
    """

    memory_id: str
    text: str
    at: float
    said_at: float
    origin: tuple[str, str, str]

    @property
    def source(self) -> str:
        """The application that wrote it."""
        return self.origin[0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a new fact: `known` is the memory it is about, `text` what is stored instead."""

    action: Literal["add", "nothing", "update", "supersede"] = "add"
    known: Known | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, how many messages were `shown` (all, but of one as long as a book), and what it cost."""

    facts: tuple[Extracted, ...]
    shown: int
    usage: Usage = field(default_factory=Usage)


def extract(model: ChatModel, messages: Sequence[str], *, now: float, zone: str) -> Reading:
    """Return what `model` finds worth remembering in `messages`, written at `now` in the IANA `zone`.

    Facts that name no message of these are left out. Raises LLMError.
    """
    language, there = language_of(" ".join(messages)), zone_of(zone)
    written = datetime.fromtimestamp(now, there).strftime("%A %Y-%m-%dT%H:%M")
    heading = "Conversation:" if language == "en" else "对话："
    found: dict[str, Extracted] = {}
    usage = Usage()
    shown = 0
    for part, whole in islice(windows(messages), _MOST_PARTS):
        shown = whole
        prompt = compose(("extract",), language, {"now": written, "zone": zone}, {heading: part})
        reply = model.ask(prompt, Extraction)
        usage = usage.plus(reply.usage)
        for fact in reply.answer.facts:
            turns = tuple(sorted({at - 1 for at in fact.turns if 1 <= at <= len(messages)}))
            if turns:
                expires = None if fact.expires is None else seconds(fact.expires, there)
                happened = None if fact.happened is None else seconds(fact.happened, there)
                found.setdefault(same_text_key(fact.text), Extracted(fact, turns, expires, happened))
    return Reading(tuple(found.values()), shown, usage)


def windows(messages: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield numbered messages in parts that a model reads well; one that is longer than a part is cut.

    With each part comes how many messages were shown to their ends by then.
    """
    part: list[str] = []
    size = whole = 0
    for at, text in enumerate(messages, start=1):
        for begin in range(0, len(text), WINDOW):
            piece = text[begin : begin + WINDOW]
            if part and size + len(piece) > WINDOW:
                yield "\n\n".join(part), whole
                part, size = [], 0
            part.append(f"[{at}] {piece}")
            size += len(piece)
        whole = at
    if part:
        yield "\n\n".join(part), whole


def reconcile(
    model: ChatModel, facts: Mapping[int, tuple[Known, Sequence[Known]]]
) -> tuple[dict[int, Verdict], Usage]:
    """Return what becomes of `facts`, by their numbers, each given with the memories most like it.

    A fact of which the answer says nothing, or names no memory that was shown, is added; so is one that is to
    be merged with a memory too long to be shown. Raises LLMError.
    """
    verdicts: dict[int, Verdict] = {}
    usage = Usage()
    for group in _groups(facts):
        decided, more = _reconcile(model, group)
        verdicts.update(decided)
        usage = usage.plus(more)
    return verdicts, usage


def _groups(
    facts: Mapping[int, tuple[Known, Sequence[Known]]],
) -> Iterator[dict[int, tuple[Known, Sequence[Known]]]]:
    """Yield facts with their memories in groups that fit into a window."""
    group: dict[int, tuple[Known, Sequence[Known]]] = {}
    size = 0
    for number, (fact, known) in facts.items():
        length = len(fact.text) + sum(min(len(one.text), _SHOWN) for one in known)
        if group and size + length > WINDOW:
            yield group
            group, size = {}, 0
        group[number] = (fact, known)
        size += length
    if group:
        yield group


def _reconcile(
    model: ChatModel, facts: Mapping[int, tuple[Known, Sequence[Known]]]
) -> tuple[dict[int, Verdict], Usage]:
    language = language_of(" ".join(fact.text for fact, _ in facts.values()))
    letters: dict[str, Known] = {}
    lines: list[str] = []
    for number, (fact, known) in facts.items():
        lines.append(f"[{number}] ({_day(fact)}): {fact.text}")
        for one in known:
            name = letter(len(letters))
            letters[name] = one
            lines.append(f"    {name} ({_day(one)}): {one.text[:_SHOWN]}")
    heading = "Facts and memories:" if language == "en" else "事实与记忆："
    reply = model.ask(compose(("reconcile",), language, {}, {heading: "\n".join(lines)}), Reconciliation)
    verdicts: dict[int, Verdict] = {}
    for one in reply.answer.decisions:
        shown = facts[one.fact][1] if one.fact in facts else ()
        known = letters.get((one.memory or "").strip().upper())
        is_merged = one.action == "update" and known is not None and len(known.text) > _SHOWN
        if one.action != "add" and known is not None and known in shown and not is_merged:
            text = one.text if one.action == "update" else None
            verdicts[one.fact] = Verdict(one.action, known, text)
    return verdicts, reply.usage


def _day(one: Known) -> str:
    try:
        return f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):  # beyond the calendar
        return "?"
