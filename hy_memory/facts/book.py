"""What an assertion, a correction or a retraction makes of a user's facts: pure functions over rows.

Nothing is overwritten: a row that is no longer believed is closed, and what is believed instead is added. So
whoever asks what was known at an earlier moment gets what was known then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hy_memory.facts.names import is_single, resolved
from hy_memory.facts.spans import Span, end_of, with_one_value, with_several_values, without
from hy_memory.values.fact import Fact, FactChange, FactRules

CONFIDENCE_RATE = 0.001
"""Per day since it was recorded: half of it is left after 693 days, so that a year makes a difference."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Assertion:
    """What somebody says: `valid_to` None where no end is known."""

    subject: str
    subject_key: str
    predicate: str
    object: str
    object_key: str
    valid_from: float
    valid_to: float | None = None
    confidence: float = 1.0
    source: str = "default"
    memory_id: str | None = None


def confidence_at(fact: Fact, moment: float) -> float:
    """Return in [0, 1] how sure a fact is at a moment: confidence exp(-rate days since it was recorded)."""
    return fact.confidence * math.exp(-CONFIDENCE_RATE * max(0.0, moment - fact.recorded_from) / _DAY)


def asserted(
    said: Assertion, user_id: str, believed: Sequence[Fact], rules: FactRules, now: Now
) -> tuple[FactChange, str]:
    """Return what an assertion changes, and the id of the fact that says it then.

    `believed` are the rows of the subject, under any of its names, that are believed now.
    """
    rows = _rows_of(said.subject_key, said.predicate, believed, rules)
    known = [_span(row, rules) for row in rows]
    value = resolved(said.object_key, rules.aliases)
    is_one = is_single(said.predicate, rules)
    limits = known if is_one else [one for one in known if one.value == value]
    new = Span(said.valid_from, end_of(said.valid_from, said.valid_to, limits if is_one else []), value)
    after = with_one_value(known, new) if is_one else with_several_values(known, new)
    made = next(one for one in after if one.value == value and one.start <= new.start <= one.limit)

    def fresh(span: Span, before: Fact | None) -> Fact:
        if span is made:
            like = before or _first(said, user_id, now)
            sure = max(said.confidence, 0.0 if before is None else confidence_at(before, now.at))
            return replace(like, confidence=sure, source=said.source, memory_id=said.memory_id)
        assert before is not None
        return before

    change = _changed(rows, known, after, fresh, now, also=made)
    named = {_place(row, rules): row.fact_id for row in (*change.added, *rows)}
    return change, named[made.start, made.end, made.value]


def ended(fact: Fact, at: float | None, believed: Sequence[Fact], rules: FactRules, now: Now) -> FactChange:
    """Return what is believed when a fact is over since `at`; None where it never was true."""
    rows = _rows_of(fact.subject_key, fact.predicate, believed, rules)
    known = [_span(row, rules) for row in rows]
    start = fact.valid_from if at is None else max(at, fact.valid_from)
    after = without(known, start, fact.valid_to, resolved(fact.object_key, rules.aliases))
    return _changed(rows, known, after, _kept, now)


def joined(changes: Sequence[FactChange]) -> FactChange:
    """Return several changes, one after the other, as one: what one adds and the next closes is neither."""
    closed: dict[str, None] = {}
    added: dict[str, Fact] = {}
    for one in changes:
        for row_id in one.closed:
            if row_id in added:
                del added[row_id]
            else:
                closed[row_id] = None
        added.update((row.row_id, row) for row in one.added)
    return FactChange(tuple(closed), tuple(added.values()))


def applied(believed: Sequence[Fact], change: FactChange) -> list[Fact]:
    """Return the rows that are believed after a change."""
    gone = set(change.closed)
    return [*(row for row in believed if row.row_id not in gone), *change.added]


@dataclass(frozen=True, slots=True)
class Now:
    """The moment of a change (epoch seconds), and where its rows get their ids."""

    at: float
    new_id: Callable[[], str]


def _changed(
    rows: Sequence[Fact],
    before: Sequence[Span],
    after: Sequence[Span],
    fresh: Callable[[Span, Fact | None], Fact],
    now: Now,
    *,
    also: Span | None = None,
) -> FactChange:
    """Return which rows are closed and added so that the spans are `after`; `also` is told anew."""
    by_name = {row.row_id: row for row in rows}
    same = {span.name for span in after if span in before and span is not also}
    closed = tuple(row.row_id for row in rows if row.row_id not in same)
    added = [
        _row(span, fresh(span, by_name.get(span.name or "") or _like(span, rows, before)), now)
        for span in after
        if span.name not in same
    ]
    return FactChange(closed, _with_own_names(added, by_name, same, now))


def _with_own_names(
    added: Sequence[Fact], by_name: dict[str, Fact], same: set[str | None], now: Now
) -> tuple[Fact, ...]:
    """Give each of `added` a fact id that no other believed row has: of two parts the earlier keeps it."""
    taken = {row.fact_id for name, row in by_name.items() if name in same}
    named: list[Fact] = []
    for row in sorted(added, key=lambda one: one.valid_from):
        own = row if row.fact_id not in taken else replace(row, fact_id=now.new_id())
        taken.add(own.fact_id)
        named.append(own)
    return tuple(named)


def _like(span: Span, rows: Sequence[Fact], before: Sequence[Span]) -> Fact | None:
    """Return a row that a part was cut out of."""
    return next(
        (
            row
            for row, one in zip(rows, before, strict=True)
            if one.value == span.value and one.start <= span.start < one.limit
        ),
        None,
    )


def _kept(span: Span, before: Fact | None) -> Fact:
    assert before is not None
    return before


def _row(span: Span, like: Fact, now: Now) -> Fact:
    return replace(
        like,
        row_id=now.new_id(),
        valid_from=span.start,
        valid_to=span.end,
        recorded_from=now.at,
        recorded_to=None,
    )


def _first(said: Assertion, user_id: str, now: Now) -> Fact:
    return Fact(
        row_id="",
        fact_id=now.new_id(),
        user_id=user_id,
        subject=said.subject,
        subject_key=said.subject_key,
        predicate=said.predicate,
        object=said.object,
        object_key=said.object_key,
        valid_from=said.valid_from,
        valid_to=said.valid_to,
        recorded_from=now.at,
    )


def _rows_of(subject_key: str, predicate: str, believed: Sequence[Fact], rules: FactRules) -> list[Fact]:
    entity = resolved(subject_key, rules.aliases)
    return [
        row
        for row in believed
        if row.predicate == predicate and resolved(row.subject_key, rules.aliases) == entity
    ]


def _span(row: Fact, rules: FactRules) -> Span:
    return Span(row.valid_from, row.valid_to, resolved(row.object_key, rules.aliases), row.row_id)


def _place(row: Fact, rules: FactRules) -> tuple[float, float | None, str]:
    return row.valid_from, row.valid_to, resolved(row.object_key, rules.aliases)
