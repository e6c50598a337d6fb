"""The contracts between the coding chain and whoever knows of edits: the ledger, and a repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from hy_memory.values.code import CodeEdit, Ground


class EditSource(Protocol):
    """The edits of coding sessions: stored with the raw turns they were read from, and gone with them."""

    def edits(self, ground: Ground, paths: Sequence[str], limit: int) -> tuple[CodeEdit, ...]:
        """Return the newest `limit` edits of each kind on a ground, in their order.

        The kinds are those of files that have one of the names `paths` afterwards, and those of files that
        had one before and another afterwards. `CodeEdit.content` is None throughout.
        """
        ...

    def edits_of(self, record_ids: Sequence[str]) -> tuple[CodeEdit, ...]:
        """Return the edits that were read from some raw turns, in their order, without `content`."""
        ...

    def contents(self, ground: Ground, source: str, paths: Sequence[str]) -> dict[str, str | None]:
        """Return the files that are known as a whole: their texts, None for those that are gone.

        Only the edits of one source count: what it makes of them must hold nothing of another's.
        """
        ...

    def edit_count(self, user_id: str) -> int:
        """Return how many edits are kept of a user."""
        ...

    def copy_edits(self, source_user: str, target_user: str, renamed: Mapping[str, str]) -> None:
        """Give one user the edits of another, in their order; `renamed` has the ids of the copied turns."""
        ...


class Commits(Protocol):
    """What knows of commits."""

    def edits(self, ground: Ground, path: str, until: float | None = None) -> tuple[CodeEdit, ...]:
        """Return a file's commits on the branch of a ground, oldest first, up to a moment (epoch seconds).

        `CodeEdit.record_id` is the commit's id. Raises RepositoryError where it cannot tell.
        """
        ...
