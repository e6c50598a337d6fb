"""What a lane is asked, made of what chat memory would be: the same question, users, sources and times."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.scope import scoped
from hy_memory.reading.request import SCENES, within
from hy_memory.values import check
from hy_memory.values.lane import Lane
from hy_memory.values.record import Layer
from hy_memory.values.request import BucketRequest, SearchRequest
from hy_memory.work.scope import CHAT, EVERYWHERE, Place, in_lane

EXPERIENCE_MARGIN = 0.10
"""By how much better than a fact an experience must fit, where the caller does not say (contract §2)."""
_OFF = BucketRequest(Layer.L6_SCHEMA, None, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The lowest scores of facts and of experiences."""

    fact: float
    experience: float


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One question to one lane: what its facts are asked, and the lowest score of its experiences."""

    lane: Lane
    search: SearchRequest
    experience_min_score: float


def parse_scene(scene: object) -> str:
    """Return the scene of a call; None means chat memory."""
    if scene is None:
        return CHAT
    if not isinstance(scene, str) or scene not in SCENES:
        raise InvalidArgumentError("scene", scene, f"give None or one of {', '.join(SCENES)}")
    return str(scene)


def lanes_of(scene: str) -> tuple[Lane, ...]:
    """Return the lanes that a scene reads."""
    return tuple(Lane) if scene == EVERYWHERE else tuple(one for one in Lane if one == scene)


def parse_lane(scene: str) -> Lane:
    """Return the one lane that a write goes to."""
    if scene == EVERYWHERE:
        raise InvalidArgumentError("scene", scene, "a write goes to one scene: chat, working or coding")
    return Lane(scene)


def parse_thresholds(fact: object, experience: object) -> Thresholds:
    """Return the lowest scores of a lane's two kinds; that of experiences follows the other's."""
    least = check.score("working_fact_min_score", fact)
    if experience is None:
        return Thresholds(least, least + EXPERIENCE_MARGIN)
    return Thresholds(least, check.score("working_experience_min_score", experience))


def refuse_mismatch(scene: str, place: Place, layers: object) -> None:
    """Raise where a scene has no use for an argument: a filter that is not applied would mislead."""
    if scene == CHAT and place != Place():
        raise InvalidArgumentError(
            "workspace_id", place.workspace_id, "only working and coding memory have workspaces"
        )
    if scene in tuple(Lane) and layers:
        raise InvalidArgumentError("layers", layers, "working and coding memory have no layers to choose")


def work_request(chat: SearchRequest, lane: Lane, place: Place, thresholds: Thresholds) -> WorkRequest:
    """Return what a lane is asked where chat memory would be asked `chat`."""
    asked = in_lane(scoped(chat.where.user_ids, chat.scope), lane)
    where = within(asked, *place.filters())
    search = replace(
        chat,
        where=where,
        min_score=thresholds.fact,
        schemas=_OFF,
        intentions=_OFF,
        neighbours=0,
        scope=where.tree,
    )
    return WorkRequest(lane, search, thresholds.experience)
