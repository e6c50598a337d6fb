"""Questions about facts that are believed: pure functions over rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hy_memory.facts.names import is_single, resolved
from hy_memory.facts.spans import Span, overlaps
from hy_memory.values.fact import Fact, FactRules


def believed(rows: Iterable[Fact], moment: float | None) -> list[Fact]:
    """Return the rows believed at a moment, None for now."""
    if moment is None:
        return [row for row in rows if row.recorded_to is None]
    return [row for row in rows if row.is_believed_at(moment)]


def holding(rows: Iterable[Fact], moment: float) -> list[Fact]:
    """Return what holds at a moment, in order."""
    return in_order(row for row in rows if row.holds_at(moment))


def holding_between(rows: Iterable[Fact], start: float, end: float) -> list[Fact]:
    """Return what holds at any time from `start` to `end`, both inclusive, in order."""
    return in_order(
        row for row in rows if row.valid_from <= end and (row.valid_to is None or row.valid_to > start)
    )


def in_order(rows: Iterable[Fact]) -> list[Fact]:
    """Return rows by subject, predicate, when they begin to hold, and object."""
    return sorted(
        rows, key=lambda one: (one.subject_key, one.predicate, one.valid_from, one.object_key, one.row_id)
    )


def compared(
    before: Sequence[Fact], after: Sequence[Fact], rules: FactRules
) -> tuple[list[Fact], list[Fact], list[tuple[Fact, Fact]], list[Fact]]:
    """Return what came, what went, what became another (single-valued ones, in pairs), and what stayed."""
    old = {_statement(row, rules): row for row in before}
    new = {_statement(row, rules): row for row in after}
    came = [row for key, row in new.items() if key not in old]
    gone = [row for key, row in old.items() if key not in new]
    stayed = [row for key, row in new.items() if key in old]
    changed: list[tuple[Fact, Fact]] = []
    for row in list(gone):
        if not is_single(row.predicate, rules):
            continue
        other = next((one for one in came if _statement(one, rules)[:2] == _statement(row, rules)[:2]), None)
        if other is not None:
            changed.append((row, other))
            gone.remove(row)
            came.remove(other)
    return in_order(came), in_order(gone), changed, in_order(stayed)


def conflicting(rows: Iterable[Fact], rules: FactRules) -> list[tuple[Fact, Fact]]:
    """Return the pairs of believed facts that cannot both be so: one predicate of one value, two at once.

    Insertions never leave any; names that turn out to mean one entity, and predicates that turn out to hold
    one value, do.
    """
    pairs: list[tuple[Fact, Fact]] = []
    for group in _groups(rows, rules).values():
        if is_single(group[0].predicate, rules):
            spans = [
                Span(row.valid_from, row.valid_to, resolved(row.object_key, rules.aliases), row.row_id)
                for row in group
            ]
            by_name = {row.row_id: row for row in group}
            pairs += [(by_name[a.name or ""], by_name[b.name or ""]) for a, b in overlaps(spans)]
    return pairs


def changing(rows: Iterable[Fact], rules: FactRules, least: int) -> list[tuple[list[Fact], int]]:
    """Return the groups of one subject and predicate whose value changed `least` times, most first."""
    found: list[tuple[list[Fact], int]] = []
    for group in _groups(rows, rules).values():
        ordered = in_order(group)
        ordered.sort(key=lambda one: one.valid_from)
        keys = [resolved(row.object_key, rules.aliases) for row in ordered]
        changes = sum(one != other for one, other in pairwise(keys))
        if changes >= least:
            found.append((ordered, changes))
    return sorted(found, key=lambda one: (-one[1], one[0][0].subject_key, one[0][0].predicate))


def _groups(rows: Iterable[Fact], rules: FactRules) -> dict[tuple[str, str], list[Fact]]:
    groups: dict[tuple[str, str], list[Fact]] = {}
    for row in in_order(rows):
        groups.setdefault((resolved(row.subject_key, rules.aliases), row.predicate), []).append(row)
    return groups


def _statement(row: Fact, rules: FactRules) -> tuple[str, str, str]:
    return (
        resolved(row.subject_key, rules.aliases),
        row.predicate,
        resolved(row.object_key, rules.aliases),
    )
