"""The verbs of the ledger over what is kept beside records, and goes with them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from hy_memory.clock import Clock
from hy_memory.fact_source import FactEdit
from hy_memory.ledger.database import Database
from hy_memory.ledger.edits import EditTable
from hy_memory.ledger.extractions import ExtractionTable
from hy_memory.ledger.facts import FactTable
from hy_memory.ledger.likenesses import LikenessTable
from hy_memory.ledger.repeats import RepeatTable
from hy_memory.ledger.transaction import Transaction
from hy_memory.ledger.uses import UseTable
from hy_memory.values.code import CodeEdit, Ground
from hy_memory.values.fact import Fact, FactChange, FactRelation, FactRules
from hy_memory.values.use import Lesson, Use
from hy_memory.values.write import Likeness, Pending, Settlement


class SideTables:
    """Edits of code, exchanges that wait for a language model, repeats, and how memories are used."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._edits = EditTable(database)
        self._extractions = ExtractionTable(database)
        self._uses = UseTable(database)
        self._repeats = RepeatTable(database)
        self._likenesses = LikenessTable(database)
        self._facts = FactTable(database)

    # what waits for a language model

    def pending(self, user_id: str | None, due_by: float, limit: int) -> tuple[Pending, ...]:
        """Return the exchanges that are due."""
        with self._database.read() as cursor:
            return self._extractions.read(cursor, user_id, due_by, limit)

    def claim(self, waiting: Pending, until: float) -> bool:
        """Keep an exchange from others until a moment."""
        with self._writing() as transaction:
            return self._extractions.claim(transaction.cursor, waiting, until)

    def postpone(self, record_id: str, error: str, due_at: float) -> None:
        """Count a failed attempt at an exchange."""
        with self._writing() as transaction:
            self._extractions.postpone(transaction.cursor, record_id, error, due_at)

    def extracted(self, record_ids: Sequence[str]) -> None:
        """Take exchanges off the queue."""
        with self._writing() as transaction:
            self._extractions.remove(transaction.cursor, record_ids)

    def settle(self, settlement: Settlement) -> bool:
        """Store what reading an exchange led to, and take it off the queue."""
        with self._writing() as transaction:
            if not self._extractions.remove(transaction.cursor, [settlement.record_id]):
                return False
            transaction.check_version(settlement.record_id, settlement.version)
            outcome = settlement.outcome
            if outcome is not None:
                transaction.keep_outcome(outcome)
            if settlement.entries:
                transaction.insert(settlement.entries, outcome.request_id if outcome else None)
            for one in settlement.changed:
                transaction.replace(one, one.record.version)
            transaction.relink(settlement.linked)
            transaction.rewrite(settlement.retired)
            return True

    # temporal facts

    def facts(self, user_id: str, subject_keys: Sequence[str] | None = None) -> tuple[Fact, ...]:
        """Return a user's facts, every row there ever was."""
        with self._database.read() as cursor:
            return self._facts.read(cursor, user_id, subject_keys)

    def fact_rules(self, user_id: str) -> FactRules:
        """Return what a user declared."""
        with self._database.snapshot() as cursor:
            return self._facts.rules(cursor, user_id)

    def edit_facts(self, user_id: str, edit: FactEdit) -> FactChange:
        """Change a user's facts."""
        with self._writing() as transaction:
            cursor = transaction.cursor
            believed = self._facts.believed(cursor, user_id)
            at = max([transaction.at, *(row.recorded_from for row in believed)])  # a clock may go back
            change = edit(believed, self._facts.rules(cursor, user_id), at)
            self._facts.apply(cursor, change, at)
            return change

    def keep_alias(self, user_id: str, alias_key: str, entity_key: str) -> None:
        """Let a name mean an entity."""
        with self._writing() as transaction:
            self._facts.keep_alias(transaction.cursor, user_id, alias_key, entity_key)

    def keep_predicate(self, user_id: str, predicate: str, is_multi: bool) -> None:
        """Remember how many values a predicate holds."""
        with self._writing() as transaction:
            self._facts.keep_predicate(transaction.cursor, user_id, predicate, is_multi)

    def relate_facts(self, relation: FactRelation) -> None:
        """Remember a tie between facts."""
        with self._writing() as transaction:
            self._facts.relate(transaction.cursor, relation)

    def fact_relations(self, user_id: str, fact_id: str) -> tuple[FactRelation, ...]:
        """Return the ties of a fact."""
        with self._database.read() as cursor:
            return self._facts.relations(cursor, user_id, fact_id)

    def copy_facts(self, source_user: str, target_user: str, renamed: Mapping[str, str]) -> None:
        """Give one user the facts of another."""
        with self._writing() as transaction:
            self._facts.copy(transaction.cursor, source_user, target_user, renamed)

    # what is said again

    def repeats(self, user_id: str, keys: Sequence[str]) -> dict[str, str]:
        """Return which of a user's records say what the digests stand for."""
        with self._database.read() as cursor:
            return self._repeats.read(cursor, user_id, keys)

    def alike(self, user_id: str, likenesses: Sequence[Likeness]) -> tuple[tuple[str, ...], ...]:
        """Return which of a user's records may say nearly the same."""
        with self._database.read() as cursor:
            return self._likenesses.read(cursor, user_id, likenesses)

    # how memories are used

    def uses(self, record_ids: Sequence[str]) -> dict[str, Use]:
        """Return what is kept of the use of records."""
        with self._database.read() as cursor:
            return self._uses.read(cursor, record_ids)

    def uses_since(self, user_id: str, since: float) -> tuple[Use, ...]:
        """Return what is kept of a user's records that changed lately."""
        with self._database.read() as cursor:
            return self._uses.changed(cursor, user_id, since)

    def learn(self, lessons: Sequence[Lesson]) -> int:
        """Let the salience of records grow."""
        with self._writing() as transaction:
            return self._uses.learn(transaction.cursor, lessons, transaction.at)

    def pin(self, record_id: str, is_pinned: bool) -> None:
        """Let a record fade no more, or again."""
        with self._writing() as transaction:
            self._uses.pin(transaction.cursor, record_id, is_pinned, transaction.at)

    def copy_uses(self, renamed: Mapping[str, str], target_user: str) -> None:
        """Give copies of records what is kept of the use of these, and of their words."""
        with self._writing() as transaction:
            self._repeats.copy(transaction.cursor, renamed, target_user)
            self._likenesses.copy(transaction.cursor, renamed, target_user)
            self._uses.copy(transaction.cursor, renamed, target_user, transaction.at)

    # the coding chain

    def edits(self, ground: Ground, paths: Sequence[str], limit: int) -> tuple[CodeEdit, ...]:
        """Return the newest edits of files by their names, in their order."""
        with self._database.snapshot() as cursor:
            return tuple(self._edits.read(cursor, ground, paths, limit))

    def edits_of(self, record_ids: Sequence[str]) -> tuple[CodeEdit, ...]:
        """Return the edits read from raw turns."""
        with self._database.read() as cursor:
            return tuple(self._edits.of_records(cursor, record_ids))

    def contents(self, ground: Ground, source: str, paths: Sequence[str]) -> dict[str, str | None]:
        """Return the files that are known as a whole."""
        with self._database.snapshot() as cursor:
            return self._edits.contents(cursor, ground, source, paths)

    def edit_count(self, user_id: str) -> int:
        """Return how many edits a user has."""
        with self._database.read() as cursor:
            return self._edits.count(cursor, user_id)

    def copy_edits(self, source_user: str, target_user: str, renamed: Mapping[str, str]) -> None:
        """Give one user the edits of another."""
        with self._writing() as transaction:
            self._edits.copy(transaction.cursor, source_user, target_user, renamed)

    @contextmanager
    def _writing(self) -> Generator[Transaction]:
        with self._database.write() as cursor:
            yield Transaction(self._database, cursor, self._clock.now())
