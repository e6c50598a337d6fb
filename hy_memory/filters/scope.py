"""The one maker of the only kind of filter that a store accepts: one tied to its users."""

from __future__ import annotations

from dataclasses import dataclass

from hy_memory.errors import InvalidArgumentError
from hy_memory.filters.evaluate import Filterable, Predicate, predicate
from hy_memory.filters.tree import Filter


@dataclass(frozen=True, slots=True)
class ScopedFilter:
    """A predicate that is already ANDed with whose memories may be seen.

    Made by `scoped` alone; `user_ids` is non-empty, so that no store can be asked for everybody's.
    """

    user_ids: tuple[str, ...]
    tree: Filter

    def __post_init__(self) -> None:
        if not self.user_ids or not all(user_id.strip() for user_id in self.user_ids):
            raise InvalidArgumentError(
                "user_ids", self.user_ids, "name at least one user, none of them blank"
            )

    def admits(self, subject: Filterable) -> bool:
        """Return whether `subject` belongs to one of the users and satisfies the tree."""
        return self.predicate()(subject)

    def predicate(self) -> Predicate:
        """Return `admits` as a function of its own, for those who ask it of many subjects."""
        user_ids, holds = self.user_ids, predicate(self.tree)
        return lambda subject: subject.user_id in user_ids and holds(subject)


def scoped(user_ids: tuple[str, ...], tree: Filter) -> ScopedFilter:
    """Return `tree` tied to `user_ids`, each named once, in a fixed order so that equal scopes are equal."""
    return ScopedFilter(tuple(sorted(set(user_ids))), tree)
