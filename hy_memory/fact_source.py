"""The contract between temporal facts and the ledger, which keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from hy_memory.values.fact import Fact, FactChange, FactRelation, FactRules

FactEdit = Callable[[Sequence[Fact], FactRules, float], FactChange]
"""What becomes of a user's believed facts under their rules at a moment; called inside the transaction.

The moment (epoch seconds) is that of the change, and never before what is believed was recorded.
"""


class FactSource(Protocol):
    """Facts of users, every row there ever was; a user's go with `delete_all` of the whole user."""

    def facts(self, user_id: str, subject_keys: Sequence[str] | None = None) -> tuple[Fact, ...]:
        """Return a user's rows, of some names of subjects or of all, the ones recorded first first."""
        ...

    def fact_rules(self, user_id: str) -> FactRules:
        """Return what a user declared of entities and predicates."""
        ...

    def edit_facts(self, user_id: str, edit: FactEdit) -> FactChange:
        """Change a user's facts by what `edit` returns for those believed now; one transaction.

        However many edit at once, each sees what the one before it left. What `edit` raises changes nothing.
        """
        ...

    def keep_alias(self, user_id: str, alias_key: str, entity_key: str) -> None:
        """Let a name mean an entity; raises InvalidArgumentError where that would lead round in a ring."""
        ...

    def keep_predicate(self, user_id: str, predicate: str, is_multi: bool) -> None:
        """Remember whether a predicate holds several values at once."""
        ...

    def relate_facts(self, relation: FactRelation) -> None:
        """Remember a tie; raises MemoryNotFoundError where one of the facts is not this user's."""
        ...

    def fact_relations(self, user_id: str, fact_id: str) -> tuple[FactRelation, ...]:
        """Return the ties of a fact, either way, the ones recorded first first."""
        ...

    def copy_facts(self, source_user: str, target_user: str, renamed: Mapping[str, str]) -> None:
        """Give one user the facts and rules of another; `renamed` are the ids of copied memories."""
        ...
