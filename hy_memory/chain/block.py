"""The block for a prompt: how code came to be what it is, newest first, within a budget, quoted as data."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hy_memory.chain.symbols import lines_of
from hy_memory.chain.threads import Thread, Version
from hy_memory.chain.wording import ENGLISH, Wording
from hy_memory.text.tokens import estimate_tokens

_OPEN, _CLOSE = "<code_history>", "</code_history>"
_CLOSING = re.compile(r"</(?=code_history)", re.IGNORECASE)
_WORDS = 300  # characters of a user's words
_CODE_LINES = 80  # of the code that is there now
_DIFF_LINES = 24  # of one version


@dataclass(frozen=True, slots=True)
class Block:
    """The text, "" where nothing fits, and the raw turns whose edits it shows."""

    text: str = ""
    record_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Doubts:
    """The places of threads whose code may be another now.

    Of `outdated` ones something newer may not be shown; of `unclear` ones nobody knows what a command made.
    """

    outdated: frozenset[int] = frozenset()
    unclear: frozenset[int] = frozenset()

    def of(self, at: int, wording: Wording) -> tuple[str, ...]:
        """Return what is to be said of a thread."""
        if at in self.outdated:
            return (wording.outdated,)
        return (wording.unclear,) if at in self.unclear else ()


@dataclass(slots=True)
class _Shown:
    """What of a thread is in the block so far: its head and, newest first, some of its versions."""

    thread: Thread
    head: list[str]
    versions: list[list[str]] = field(default_factory=list[list[str]])

    def lines(self, wording: Wording) -> list[str]:
        left = len(self.thread.versions) - len(self.versions)
        return [*self.head, *(line for one in self.versions for line in one), *_earlier(left, wording)]


def block(
    threads: Sequence[Thread],
    max_tokens: int,
    wording: Wording = ENGLISH,
    doubts: Doubts | None = None,
) -> Block:
    """Return the block of threads, the one changed last first, in at most `max_tokens` as they are estimated.

    What each is now and its newest change come before older ones, with the `doubts` about it. Nothing in a
    quotation can end the block.
    """
    ordered = sorted(enumerate(threads), key=lambda one: _recency(one[1]), reverse=True)
    left = max_tokens - _cost([_OPEN, wording.preface, _CLOSE])
    shown: list[_Shown] = []
    for at, thread in ordered:
        made = _Shown(thread, _head(thread, (doubts or Doubts()).of(at, wording), left, wording))
        made.versions.append(_version(thread, len(thread.versions) - 1, wording))
        cost = _cost(made.lines(wording)) + 1
        if cost > left:
            continue  # a smaller one may still fit
        left -= cost
        shown.append(made)
    _add_older(shown, left, wording)
    if not shown:
        return Block()
    lines = [_OPEN, wording.preface]
    for one in shown:
        lines += ["", *one.lines(wording)]
    seen = {id_ for one in shown for v in one.thread.versions[-len(one.versions) :] for id_ in v.record_ids}
    return Block("\n".join([*lines, _CLOSE]), frozenset(seen))


def _add_older(shown: Sequence[_Shown], left: int, wording: Wording) -> None:
    """Show older versions too, whichever thread's is the newest next, while there is room."""
    growing = [one for one in shown if len(one.thread.versions) > 1]
    while growing:
        one = max(growing, key=lambda each: _moment(each.thread.versions[-1 - len(each.versions)]))
        lines = _version(one.thread, len(one.thread.versions) - 1 - len(one.versions), wording)
        cost = _cost(lines)
        if cost > left:
            growing.remove(one)
            continue
        left -= cost
        one.versions.append(lines)
        if len(one.versions) == len(one.thread.versions):
            growing.remove(one)


def _head(thread: Thread, doubts: Sequence[str], left: int, wording: Wording) -> list[str]:
    """Return what a thread is of and the code that is there now."""
    path, symbol = thread.place
    names = [_named(place) for place in sorted(thread.places - {thread.place})]
    was = f" ({wording.formerly} {', '.join(names)})" if names else ""
    lines = [f"{_named((path, symbol))}{was}", *doubts]
    if thread.current is None:
        return [*lines, wording.removed]
    if thread.is_whole:
        first = thread.versions[-1].line
        where = f" ({wording.line} {first})" if first else ""
        return [*lines, f"{wording.now}{where}:", *_quoted(thread.current, _room(left), wording)]
    code = [line for part in thread.parts for line in (*_quoted(part, _room(left), wording), "  ⋯")][:-1]
    return [*lines, f"{wording.now_parts}:", *code]


def _room(left: int) -> int:
    """Return how many lines of code may be shown: about half of what is left is theirs."""
    return max(6, min(_CODE_LINES, left // 20))


def _version(thread: Thread, at: int, wording: Wording) -> list[str]:
    """Return one version: its number, when, why, what it brought back or moved, and its change."""
    one, back = thread.versions[at], thread.returns[at]
    said = f"“{_plain(one.words)}”" if one.words.strip() else wording.unsaid
    notes = [said]
    if one.commit:
        notes.append(f"{wording.commit} {one.commit[:10]}")
    if one.came_from is not None and one.after is not None:
        notes.append(wording.moved.format(source=_named(one.came_from), target=_named(one.place)))
    if back is not None:
        notes.append(_returned(at, back, wording))
    if one.is_gap:
        notes.append(wording.gap)
    if one.after is None:
        notes.append(wording.removal)
    elif one.before is None:
        notes.append(wording.first if at == 0 else wording.again)
    lines = [f"{at + 1}. {_day(one.at)} {' · '.join(notes)}"]
    if one.before is None and one.after is not None and at == len(thread.versions) - 1:
        return lines  # all of it is what is there now
    return lines + _change(one, wording)


def _returned(at: int, back: int, wording: Wording) -> str:
    undone = ", ".join(str(number + 1) for number in range(back + 1, at))
    what = wording.back_to_start if back < 0 else wording.back_to.format(number=back + 1)
    return f"{what} ({wording.undone} {undone})" if undone else what


def _change(one: Version, wording: Wording) -> list[str]:
    """Return the lines that a version took out and put in, each quoted."""
    old, new = lines_of(one.before or ""), lines_of(one.after or "")
    changed = [line for line in difflib.unified_diff(old, new, n=1) if not line.startswith(("---", "+++"))]
    return list(_marked(changed, wording))


def _marked(changed: Sequence[str], wording: Wording) -> Iterator[str]:
    kept = [line for line in changed if not line.startswith("@@")]
    for line in kept[:_DIFF_LINES]:
        yield f"   {line[:1]}| {_safe(line[1:])}"
    if len(kept) > _DIFF_LINES:
        yield f"   {wording.more_lines.format(number=len(kept) - _DIFF_LINES)}"


def _quoted(code: str, most: int, wording: Wording) -> list[str]:
    lines = lines_of(code.rstrip("\n"))
    shown = [f"    | {_safe(line)}" for line in lines[:most]]
    return shown + (
        [f"    {wording.more_lines.format(number=len(lines) - most)}"] if len(lines) > most else []
    )


def _earlier(number: int, wording: Wording) -> list[str]:
    return [wording.earlier.format(number=number)] if number > 0 else []


def _named(place: tuple[str, str]) -> str:
    path, symbol = (_plain(part) for part in place)
    return f"{path} · {symbol}" if symbol else path


def _plain(text: str) -> str:
    """Return words on one line, as a JSON text has them, without its quotes."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= _WORDS else f"{flat[: _WORDS - 1]}…"
    return _safe(json.dumps(short, ensure_ascii=False)[1:-1].replace('\\"', '"'))


def _safe(line: str) -> str:
    """Return a line as it is, but for a mark that would end the block."""
    return _CLOSING.sub(r"<\/", line.removesuffix("\n").removesuffix("\r").replace("\r", "␍"))


def _moment(one: Version) -> tuple[float, int]:
    return (one.at, one.seq)


def _recency(thread: Thread) -> tuple[float, int]:
    return _moment(thread.versions[-1])


def _cost(lines: Sequence[str]) -> int:
    return sum(estimate_tokens(line) + 1 for line in lines)


def _day(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "undated"
