"""Which stretches of time a text speaks of, by rules in English and Chinese.

The result is a preference, not a filter: a query about "last spring" likes memories of that
spring, and must still find the one that was written down late.  Hence precision first, and
one reading per expression:

* a date, month, season or feast without a year is the latest one that has begun;
* "last" is the latest that is over, "next" the first that has not begun;
* "since X" and "after X" reach to today; "before X" and "until X" have no beginning and say
  too little to prefer anything, so they give no window;
* an ISO date-time with an offset is that moment wherever the asker is.
"""

from __future__ import annotations

import re
from calendar import isleap
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice

from hy_memory.temporal import calendar, chinese, english
from hy_memory.temporal.calendar import Asking, Stretch
from hy_memory.temporal.rule import Rule
from hy_memory.temporal.window import Precision, Window
from hy_memory.text.dates import CalendarDate, dates
from hy_memory.text.normalize import normalize

_WORD = re.compile("[a-z]+")
_DIGIT = re.compile("[0-9]")
_INSTANT = re.compile(
    r"(?<![\w.-])\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)",
    re.ASCII,
)
_OPEN = re.compile(r"\b(since|after|before|until|till|prior to)\s+(?:the\s+)?$", re.IGNORECASE)
_OPEN_INSIDE = re.compile(r"(since|after|before|until|till)\b", re.IGNORECASE)
_HAN_SINCE = re.compile("以来|以后|之后|起(?!床|来)|至今|到现在")
_HAN_BEFORE = re.compile("以前|之前|前(?![天年晚后往])")
_LONGEST = 4_000  # beyond it a text is a document, and its many dates prefer nothing
_MOST = 32  # times in one text; whoever names more prefers none, and each is compared with all before
_MOST_TRIED = 256  # matches looked at, those that overlap earlier ones among them

_Reading = tuple[int, int, Stretch]


def time_windows(text: str, now: float, timezone: str) -> tuple[Window, ...]:
    """Return the windows that `text` speaks of, in the order of the text, each once.

    Args:
        text: A question or a note; only its first 4,000 characters are read.
        now: The moment of asking, epoch seconds.  Beyond the years 1-9999
            there is no calendar, and no window.
        timezone: IANA name of the zone in which "yesterday" begins and ends.

    Raises:
        InvalidArgumentError: `timezone` is unknown.
    """
    zone = calendar.zone_of(timezone)
    words = normalize(text[:_LONGEST])
    has_digit = _DIGIT.search(words) is not None
    is_chinese = not words.isascii() and chinese.TRIGGER.search(words) is not None
    is_english = has_digit or not english.TRIGGERS.isdisjoint(_WORD.findall(words.lower()))
    asked = calendar.asking(now, zone) if is_english or is_chinese else None
    if asked is None:
        return ()
    if "’" in words:
        words = words.replace("’", "'")
    readings: list[_Reading] = []
    for reading in islice(_readings(words, asked, is_english, is_chinese), _MOST_TRIED):
        if all(reading[1] <= start or reading[0] >= end for start, end, _ in readings):
            readings.append(reading)
            if len(readings) == _MOST:
                break
    readings.sort(key=lambda one: one[:2])
    return _windows(words, asked, readings)


def _readings(text: str, asked: Asking, is_english: bool, is_chinese: bool) -> Iterator[_Reading]:
    """Yield what each rule reads, the most certain first; later ones may overlap earlier ones."""
    for found in _INSTANT.finditer(text):
        yield from _reading(found, _instant, asked)
    if is_chinese:
        yield from _matches(chinese.RULES, text, asked)
    for one in dates(text):
        yield from _dated(one, asked)
    if is_english:
        yield from _matches(english.RULES, text, asked)


def _matches(rules: tuple[Rule, ...], text: str, asked: Asking) -> Iterator[_Reading]:
    for rule in rules:
        for found in rule.pattern.finditer(text):
            yield from _reading(found, rule.meaning, asked)


def _reading(
    found: re.Match[str], meaning: Callable[[re.Match[str], Asking], Stretch | None], asked: Asking
) -> Iterator[_Reading]:
    try:
        stretch = meaning(found, asked)
    except (OverflowError, ValueError):
        return  # no day of the calendar: 30 February, "90 years ago" asked in the year 50
    if stretch is not None:
        yield found.start(), found.end(), stretch


def _instant(found: re.Match[str], asked: Asking) -> Stretch:
    hour = datetime.fromisoformat(found[0]).replace(minute=0, second=0, microsecond=0)
    return Stretch(hour, hour + timedelta(hours=1), Precision.HOUR)


def _dated(one: CalendarDate, asked: Asking) -> Iterator[_Reading]:
    make = partial(_in_year, one)
    try:
        stretch = make(one.year) if one.year else calendar.recurring(asked, make, "")
    except (OverflowError, ValueError):
        return
    yield one.start, one.end, stretch


def _in_year(one: CalendarDate, year: int) -> Stretch:
    if one.day is None:
        return calendar.month(year, one.month)
    if (one.month, one.day) == (2, 29) and one.year is None:
        while not isleap(year):
            year -= 1
    return calendar.days(date(year, one.month, one.day), 1)


def _windows(text: str, asked: Asking, readings: list[_Reading]) -> tuple[Window, ...]:
    windows: dict[tuple[float, float], Window] = {}
    for start, end, stretch in readings:
        window = _bounded(text, start, end, asked.window(stretch, text[start:end].strip()), asked)
        # A day of the calendar that the zone skipped (Samoa, 30 December 2011) has no length.
        if window is not None and window.start < window.end:
            windows.setdefault((window.start, window.end), window)
    return tuple(windows.values())


def _bounded(text: str, start: int, end: int, window: Window, asked: Asking) -> Window | None:
    """Return the window that "since", "after", "before" make of it; None where it has no beginning."""
    inside = _OPEN_INSIDE.match(window.surface)
    around = inside or _OPEN.search(text[max(0, start - 20) : start])
    word = around[1].lower() if around else _han_bound(text, end)
    if not word:
        return window
    if word not in ("since", "after"):
        return None
    opening = window.end if word == "after" else window.start
    closing = asked.window(calendar.days(asked.today, 1), "").end
    return replace(window, start=opening, end=closing) if opening < closing else window


def _han_bound(text: str, end: int) -> str:
    if _HAN_SINCE.match(text, end):
        return "since"
    return "before" if _HAN_BEFORE.match(text, end) else ""
