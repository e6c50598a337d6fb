"""Temporal facts: what is true of whom, from when until when, and since when that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from hy_memory.aio import twin
from hy_memory.errors import InvalidArgumentError, MemoryNotFoundError
from hy_memory.facts import answers, questions
from hy_memory.facts.book import Assertion, Now, applied, asserted, confidence_at, ended, joined
from hy_memory.facts.names import entity_key, meaning, predicate_key, resolved
from hy_memory.facts.parse import assertion, check_order
from hy_memory.reading.request import parse_until
from hy_memory.values import check
from hy_memory.values.fact import Fact, FactChange, FactRelation, FactRules
from hy_memory.values.instant import to_epoch
from hy_memory.verbs.arguments import Moment

if TYPE_CHECKING:
    from hy_memory.lifecycle import Lifecycle
    from hy_memory.runtime import Runtime

_MOST = 10_000  # facts of one call


class Facts:
    """The verbs of facts, at `client.facts`. All of them take a user; nobody sees another's.

    `as_of` asks what was believed at an earlier moment: what was recorded later is not seen.
    """

    def __init__(self, client: Lifecycle) -> None:
        self._client = client

    def pool(self) -> Executor:
        """Return the client's threads, for the async twins."""
        return self._client.pool()

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        user_id: str,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        confidence: float = 1.0,
        source: str = "default",
        memory_id: str | None = None,
    ) -> answers.Written:
        """Say that something holds, from `valid_from` (now) until before `valid_to` (until known otherwise).

        Of a single-valued predicate it takes the place of what held in that time; what is known of later
        times stays. The same value again extends it. Of two that begin at one moment the later told stands.

        Raises:
            InvalidArgumentError: an argument cannot be meant; nothing was touched.
            MemoryNotFoundError: the user has no memory `memory_id`.
        """
        said: dict[str, object] = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "confidence": confidence,
            "source": source,
            "memory_id": memory_id,
        }
        return self.add_many([said], user_id=user_id)

    def add_many(self, facts: Sequence[Mapping[str, object]], *, user_id: str) -> answers.Written:
        """Say several things, each with the arguments of `add`, one after the other; all or none.

        Raises as `add` does.
        """
        whose = check.identifier("user_id", user_id)
        now = self._runtime().clock.now()
        if isinstance(facts, str | Mapping) or not isinstance(facts, list | tuple) or not facts:
            raise InvalidArgumentError("facts", facts, "give a non-empty list of mappings")
        if len(facts) > _MOST:
            raise InvalidArgumentError("facts", len(facts), f"give at most {_MOST} at once")
        said = [assertion(f"facts[{at}]", one, now) for at, one in enumerate(facts)]
        self._check_memories([one.memory_id for one in said if one.memory_id is not None], whose)
        ids: list[str] = []

        def edit(rows: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            changes: list[FactChange] = []
            ids.clear()
            for one in said:
                change, fact_id = asserted(one, whose, rows, rules, self._now(at))
                rows = applied(rows, change)
                changes.append(change)
                ids.append(fact_id)
            return joined(changes)

        change = self._runtime().ledger.edit_facts(whose, edit)
        return _written(ids, change)

    def update(
        self,
        fact_id: str,
        *,
        user_id: str,
        object: str | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        confidence: float | None = None,
    ) -> answers.Written:
        """Correct a fact: it never was as it said, but is as it says now; history keeps what was believed.

        Raises:
            MemoryNotFoundError: the user has no such fact, or it is believed no more.
        """
        whose, name = check.identifier("user_id", user_id), check.identifier("fact_id", fact_id)
        if all(one is None for one in (object, valid_from, valid_to, confidence)):
            raise InvalidArgumentError("object", object, "give what to change: object, times or confidence")
        start = None if valid_from is None else to_epoch("valid_from", valid_from)
        end = None if valid_to is None else to_epoch("valid_to", valid_to)
        value = None if object is None else check.text("object", object)
        sure = None if confidence is None else check.share("confidence", confidence)
        ids: list[str] = []

        def edit(rows: Sequence[Fact], rules: FactRules, at: float) -> FactChange:
            old = _found(name, rows)
            gone = ended(old, None, rows, rules, self._now(at))
            begin, limit = old.valid_from if start is None else start, old.valid_to if end is None else end
            check_order(begin, limit)
            said = Assertion(
                subject=old.subject,
                subject_key=old.subject_key,
                predicate=old.predicate,
                object=value or old.object,
                object_key=old.object_key if value is None else entity_key(value),
                valid_from=begin,
                valid_to=limit,
                confidence=old.confidence if sure is None else sure,
                source=old.source,
                memory_id=old.memory_id,
            )
            change, made = asserted(said, whose, applied(rows, gone), rules, self._now(at))
            ids[:] = [made]
            return joined([gone, change])

        change = self._runtime().ledger.edit_facts(whose, edit)
        return _written(ids, change)

    def retract(self, fact_id: str, *, user_id: str, at: Moment | None = None) -> answers.Written:
        """Say that a fact is over since `at`, or, without it, that it never was true.

        Raises:
            MemoryNotFoundError: the user has no such fact, or it is believed no more.
        """
        whose, name = check.identifier("user_id", user_id), check.identifier("fact_id", fact_id)
        since = None if at is None else to_epoch("at", at)

        def edit(rows: Sequence[Fact], rules: FactRules, now: float) -> FactChange:
            return ended(_found(name, rows), since, rows, rules, self._now(now))

        return _written([name], self._runtime().ledger.edit_facts(whose, edit))

    def current(
        self,
        *,
        user_id: str,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: Moment | None = None,
    ) -> list[answers.FactRow]:
        """Return what holds now."""
        return self.at(
            self._runtime().clock.now(), user_id=user_id, subject=subject, predicate=predicate, as_of=as_of
        )

    def at(
        self,
        time: Moment,
        *,
        user_id: str,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: Moment | None = None,
    ) -> list[answers.FactRow]:
        """Return what holds at a moment, as far as is believed, or was `as_of` an earlier moment."""
        moment = to_epoch("time", time)
        return self._shown(questions.holding(self._believed(user_id, subject, predicate, as_of), moment))

    def between(
        self,
        start: Moment,
        end: Moment,
        *,
        user_id: str,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: Moment | None = None,
    ) -> list[answers.FactRow]:
        """Return what holds at any time from `start` to `end`, both inclusive; a day as end is all of it."""
        first, last = to_epoch("start", start), parse_until("end", end)
        if last < first:
            raise InvalidArgumentError("end", end, "give an end that is not before the start")
        rows = self._believed(user_id, subject, predicate, as_of)
        return self._shown(questions.holding_between(rows, first, last))

    def history(
        self, *, user_id: str, subject: str | None = None, predicate: str | None = None
    ) -> list[answers.FactRow]:
        """Return every row there ever was, the one recorded first first; closed ones say when that was."""
        rows, _ = self._rows(user_id, subject, predicate)
        return self._shown(rows)

    def timeline(self, subject: str, *, user_id: str, as_of: Moment | None = None) -> list[answers.FactRow]:
        """Return all that is believed of a subject, by predicate and in the order of time."""
        return self._shown(questions.in_order(self._believed(user_id, subject, None, as_of)))

    def compare(
        self,
        first: Moment,
        second: Moment,
        *,
        user_id: str,
        subject: str | None = None,
        as_of: Moment | None = None,
    ) -> answers.Comparison:
        """Return what became of what held between two moments."""
        then, later = to_epoch("first", first), to_epoch("second", second)
        rows = self._believed(user_id, subject, None, as_of)
        rules = self._runtime().ledger.fact_rules(check.identifier("user_id", user_id))
        before, after = questions.holding(rows, then), questions.holding(rows, later)
        came, gone, changed, stayed = questions.compared(before, after, rules)
        return {
            "added": self._shown(came),
            "removed": self._shown(gone),
            "changed": [(self._shown([one])[0], self._shown([other])[0]) for one, other in changed],
            "unchanged": self._shown(stayed),
        }

    def conflicts(
        self, *, user_id: str, subject: str | None = None, as_of: Moment | None = None
    ) -> list[tuple[answers.FactRow, answers.FactRow]]:
        """Return the pairs of believed facts that cannot both be so."""
        rows = self._believed(user_id, subject, None, as_of)
        rules = self._runtime().ledger.fact_rules(check.identifier("user_id", user_id))
        pairs = questions.conflicting(rows, rules)
        return [(self._shown([one])[0], self._shown([other])[0]) for one, other in pairs]

    def volatile(self, *, user_id: str, least: int = 2) -> list[answers.Volatility]:
        """Return what changed at least `least` times, most often first."""
        count = check.count("least", least)
        rules = self._runtime().ledger.fact_rules(check.identifier("user_id", user_id))
        groups = questions.changing(self._believed(user_id, None, None, None), rules, count)
        return [
            {
                "subject": rows[0].subject,
                "predicate": rows[0].predicate,
                "changes": changes,
                "values": [row.object for row in rows],
            }
            for rows, changes in groups
        ]

    def relate(self, from_fact_id: str, to_fact_id: str, kind: str, *, user_id: str) -> answers.RelationRow:
        """Tie two facts of a user; `kind` is yours, such as "because". Again it changes nothing.

        Raises:
            MemoryNotFoundError: one of them is not the user's.
        """
        whose = check.identifier("user_id", user_id)
        one, other = (
            check.identifier("from_fact_id", from_fact_id),
            check.identifier("to_fact_id", to_fact_id),
        )
        made = FactRelation(whose, one, other, check.identifier("kind", kind), self._runtime().clock.now())
        self._runtime().ledger.relate_facts(made)
        return answers.relation(made)

    def relations(self, fact_id: str, *, user_id: str) -> list[answers.RelationRow]:
        """Return the ties of a fact, either way."""
        whose, name = check.identifier("user_id", user_id), check.identifier("fact_id", fact_id)
        return [answers.relation(one) for one in self._runtime().ledger.fact_relations(whose, name)]

    def declare(self, predicate: str, *, user_id: str, multi: bool) -> None:
        """Say whether a predicate holds several values at once; what is stored stays (see `conflicts`)."""
        whose, name = check.identifier("user_id", user_id), predicate_key(check.text("predicate", predicate))
        self._runtime().ledger.keep_predicate(whose, name, check.flag("multi", multi))

    def alias(self, name: str, entity: str, *, user_id: str) -> None:
        """Say that a name means an entity: both are one in every question and insertion from now on.

        Raises:
            InvalidArgumentError: the entity means the name already.
        """
        whose = check.identifier("user_id", user_id)
        alias, target = entity_key(check.text("name", name)), entity_key(check.text("entity", entity))
        ledger = self._runtime().ledger
        if resolved(target, ledger.fact_rules(whose).aliases) == alias:
            raise InvalidArgumentError("entity", entity, "it means that name already: name another entity")
        ledger.keep_alias(whose, alias, target)

    def _runtime(self) -> Runtime:
        return self._client.runtime()

    def _now(self, at: float) -> Now:
        return Now(at, self._runtime().clock.new_id)

    def _rows(self, user_id: str, subject: str | None, predicate: str | None) -> tuple[list[Fact], FactRules]:
        """Return a user's rows of a subject under all its names, and of a predicate; None for all."""
        whose, ledger = check.identifier("user_id", user_id), self._runtime().ledger
        rules = ledger.fact_rules(whose)
        keys = None
        if subject is not None:
            keys = sorted(meaning(entity_key(check.text("subject", subject)), rules.aliases))
        rows = ledger.facts(whose, keys)
        wanted = None if predicate is None else predicate_key(check.text("predicate", predicate))
        return [row for row in rows if wanted is None or row.predicate == wanted], rules

    def _believed(
        self, user_id: str, subject: str | None, predicate: str | None, as_of: Moment | None
    ) -> list[Fact]:
        moment = None if as_of is None else parse_until("as_of", as_of)
        return questions.believed(self._rows(user_id, subject, predicate)[0], moment)

    def _shown(self, rows: Sequence[Fact]) -> list[answers.FactRow]:
        now = self._runtime().clock.now()
        return [answers.row(row, confidence_at(row, now)) for row in rows]

    def _check_memories(self, memory_ids: Sequence[str], user_id: str) -> None:
        known = self._runtime().ledger.records(memory_ids) if memory_ids else {}
        for one in memory_ids:
            if one not in known or known[one].user_id != user_id:
                raise MemoryNotFoundError(one)

    async_add = twin(add)
    async_add_many = twin(add_many)
    async_update = twin(update)
    async_retract = twin(retract)
    async_current = twin(current)
    async_at = twin(at)
    async_between = twin(between)
    async_history = twin(history)
    async_timeline = twin(timeline)
    async_compare = twin(compare)
    async_conflicts = twin(conflicts)
    async_volatile = twin(volatile)
    async_relate = twin(relate)
    async_relations = twin(relations)
    async_declare = twin(declare)
    async_alias = twin(alias)


def _found(fact_id: str, rows: Sequence[Fact]) -> Fact:
    found = next((row for row in rows if row.fact_id == fact_id), None)
    if found is None:
        raise MemoryNotFoundError(fact_id)
    return found


def _written(fact_ids: Sequence[str], change: FactChange) -> answers.Written:
    return {
        "success": True,
        "fact_ids": list(fact_ids),
        "closed_count": len(change.closed),
        "added_count": len(change.added),
    }
