"""Where work belongs: its lane, its workspace and branch, held apart by equality and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.scope import ScopedFilter, scoped
from hy_memory.filters.tree import Compare, Filter, Op
from hy_memory.values import check
from hy_memory.values.lane import Lane, partition, partitions
from hy_memory.values.record import Json, MemoryRecord

CHAT = "chat"
EVERYWHERE = "all"
WORKSPACE = "@workspace"
BRANCH = "@branch"
EXPERIENCE = "@experience"
LEARNED = "@learned"
"""Which model an experience is of, and what it was thought to be worth."""


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace and a branch of it; None where none was named."""

    workspace_id: str | None = None
    branch: str | None = None

    def filters(self) -> tuple[Filter, ...]:
        """Return what narrows a search to this place; a workspace without a branch holds all its branches."""
        named = ((WORKSPACE, self.workspace_id), (BRANCH, self.branch))
        return tuple(Compare(f"metadata.{key}", Op.EQ, value) for key, value in named if value is not None)

    def attributes(self) -> dict[str, Json]:
        """Return what a record that was written here says of it."""
        named = {WORKSPACE: self.workspace_id, BRANCH: self.branch}
        return {key: value for key, value in named.items() if value is not None}

    def holds(self, record: MemoryRecord) -> bool:
        """Return whether a record was written at exactly this place."""
        return place_of(record) == self


def parse_place(workspace_id: object, branch: object) -> Place:
    """Return the place that arguments name."""
    if branch is not None and workspace_id is None:
        raise InvalidArgumentError("branch", branch, "a branch is of a workspace; give workspace_id too")
    return Place(
        check.optional_identifier("workspace_id", workspace_id), check.optional_identifier("branch", branch)
    )


def place_of(record: MemoryRecord) -> Place:
    """Return where a record was written."""
    workspace, branch = record.attributes.get(WORKSPACE), record.attributes.get(BRANCH)
    return Place(
        workspace if isinstance(workspace, str) else None, branch if isinstance(branch, str) else None
    )


def in_scene(where: ScopedFilter, scene: str) -> ScopedFilter:
    """Return the same scope in the memory that a scene names: that of chat, of a lane, or all of them."""
    if scene == EVERYWHERE:
        return scoped(tuple(key for user_id in where.user_ids for key in partitions(user_id)), where.tree)
    return where if scene == CHAT else in_lane(where, Lane(scene))


def in_lane(where: ScopedFilter, lane: Lane) -> ScopedFilter:
    """Return the same scope in the lane of each of its users."""
    return scoped(tuple(partition(user_id, lane) for user_id in where.user_ids), where.tree)
