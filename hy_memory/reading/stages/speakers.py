"""Speakers: a question that names one of the speakers prefers their turns, and a user's own words count more.

Both speak only for what is related already, and never carry anything past the default `min_score`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.conversations.ties import ties
from hy_memory.conversations.turns import UserTurns
from hy_memory.ports import ScoreArray
from hy_memory.ranking.neighbours import beyond
from hy_memory.reading.state import ReadPorts, SearchState, Support, nothing_related
from hy_memory.text.normalize import fold, normalize
from hy_memory.values.record import is_role

SPEAKER = "Speaker"
_USER = "user"
_WORD = re.compile(r"\w+")
# A question about what the assistant said ("what did you recommend?") wants the assistant's words; "can
# you tell me" is no such question.
_SAY = "say|tell|recommend|suggest|advise|mention|propose|explain|give"
_SAID = "said|told|recommended|suggested|advised|mentioned|proposed|explained|gave"
_ASKS_ASSISTANT = re.compile(
    rf"\bdid you (?:{_SAY})\b|\byou (?:{_SAID})\b"
    r"|\byour (?:advice|answers?|suggestions?|recommendations?|proposals?|explanations?)\b"
    r"|[你您](?:之前|上次|刚才|当时)?(?:说|推荐|建议|提到|告诉|提议|解释)(?:过|了|的)"
    r"|[你您]的(?:建议|推荐|回答|解释|意见)",
    re.IGNORECASE,
)


def speakers(state: SearchState, ports: ReadPorts) -> SearchState:
    """Add the support of who speaks, where the question or the conversation gives any."""
    weights, query = ports.weights, state.request.query
    own = 0.0 if _ASKS_ASSISTANT.search(query) else weights.own_words
    talking = [
        _Speaking(
            user,
            named_speaker(query, user.speakers),
            weights.named_speaker,
            own if _USER in user.speakers else 0.0,
        )
        for user in state.turns
        if user.is_dialogue
    ]
    if not any(one.strongest for one in talking):
        return state
    heard = _Heard(talking)
    support = Support(SPEAKER, nothing_related, nothing_related, heard.evidence, heard.most)
    return replace(state, supports=(*state.supports, support))


def named_speaker(query: str, known: Collection[str]) -> str:
    """Return which of the `known` speakers (folded names) the question names; "" for none or several."""
    words = " ".join(["", *_WORD.findall(fold(normalize(query))), ""])
    named = [one for one in known if one and not is_role(one) and _is_named(one, words)]
    return named[0] if len(named) == 1 else ""


def _is_named(speaker: str, words: str) -> bool:
    """Whether the words hold the speaker's name, or, in scripts without spaces, its characters."""
    return f" {speaker} " in words if speaker.isascii() else speaker in words


@dataclass(frozen=True, slots=True)
class _Speaking:
    """One user's turns with who was named there ("" for nobody), and what the two preferences weigh."""

    turns: UserTurns
    named: str
    named_weight: float
    own_weight: float

    @property
    def strongest(self) -> float:
        """The most that one turn can get."""
        return (self.named_weight if self.named else 0.0) + self.own_weight

    def weight(self, memory_id: str) -> float:
        """Return what one memory gets."""
        tie = ties(memory_id, (self.turns,))
        weight = self.named_weight if self.named and tie.speaker == self.named else 0.0
        # notes to oneself, which nobody answers, are no conversation
        return weight + self.own_weight if tie.speaker == _USER and tie.is_answered else weight


@dataclass(frozen=True, slots=True)
class _Heard:
    """What speakers say for the memories of several users."""

    users: Sequence[_Speaking]

    def evidence(self, ids: Sequence[str], scores: ScoreArray, count: int) -> ScoreArray:
        """Return for the first `count` their weight times what the own score says."""
        said = beyond(scores[:count])
        for at in np.flatnonzero(said).tolist():
            said[at] *= sum(user.weight(ids[at]) for user in self.users)
        return said

    def most(self, score: float) -> float:
        """Return the most for a memory that scores `score`."""
        return max(user.strongest for user in self.users) * float(beyond(score))
