"""Dates that a text names outright, by calendar: "7 May 2023", "2023-05-07", "2023年5月7日".

What is understood here needs no "now".  A date without its year stays without one; who knows
the moment of speaking (`hy_memory.temporal`) adds it.

Three numbers with the year last are read by their separator: `5/7/2023` is May 7 (slashes are
the American habit), `7.5.2023` and `7-5-2023` are 7 May (dots and dashes the European one).
Where that reading is impossible (`25/12/2023`), the other one is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hy_memory.text.numerals import HAN_NUMBER, han_number

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
"""English month names and abbreviations, lower case, to 1–12."""

_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
YEAR = r"(?:1[89]|20)\d\d"
"""Pattern of the years people speak of; a wider one would take prices and counts for years."""
_FLAGS = re.IGNORECASE | re.ASCII  # ASCII: a date may stand right beside Han, which is a word character too
_NOT_INSIDE = r"(?<![\w/.\-+])"  # not the tail of a path, a version or a longer number
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_NO_MORE = r"(?![\w/]|[-.:,]\d)"  # "May 7,000", "May 7-day", "May 7:30" are no days

_YEAR_FIRST = re.compile(
    rf"{_NOT_INSIDE}(?P<year>{YEAR})(?:(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)|-(?P<only>0[1-9]|1[0-2]))"
    r"(?=T\d\d:)?(?!\d|[-/][\w]|\.\d)",
    re.ASCII,
)
_YEAR_LAST = re.compile(
    rf"{_NOT_INSIDE}(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark)(?P<year>{YEAR})(?![\w/]|[-.]\d)",
    re.ASCII,
)
_DAY_FIRST = re.compile(rf"{_NOT_INSIDE}{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>{YEAR})(?!\d))?", _FLAGS)
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}{_NO_MORE}(?:,?\s+(?P<year>{YEAR})(?!\d))?", _FLAGS
)
_MONTH_YEAR = re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?(?P<year>{YEAR})(?!\d)", _FLAGS)

HAN_YEAR = rf"(?<!\d)(?:{YEAR}|[一二][〇零○一二三四五六七八九]{{3}})(?=\s?年)"
"""Pattern of a written year of four digits before 年."""
HAN_MONTH = r"(?<![\d一二三四五六七八九十第个])(?:0?[1-9]|1[0-2]|十[一二]?|[一二三四五六七八九])(?=\s?月)"
"""Pattern of a month number before 月."""
_HAN = re.compile(
    rf"(?:(?P<year>{HAN_YEAR})\s?年的?\s?)?(?P<month>{HAN_MONTH})\s?月(?:份的?)?"
    rf"(?:\s?(?P<day>{HAN_NUMBER})\s?[日号號](?!楼|线|店|馆|院|房|门|机|选手))?"
)
# A month in words and no day's sign after it is the old calendar (八月十五), and 五月天 is a band.
_NO_HAN_MONTH = re.compile(r"[一二三四五六七八九十初廿]|[龄薪饼亮票嫂]|天(?!气)|大")
_LOWER_WORDS = {"may", "march", "mar", "sun"}  # words of another meaning unless capitalised


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A date as it is written; missing parts are None. `start` and `end` are places in the text."""

    year: int | None
    month: int
    day: int | None
    start: int
    end: int

    @property
    def key(self) -> str:
        """ISO form: 2023-05-07, 2023-05, and --05-07 or --05 without the year."""
        head = "-" if self.year is None else f"{self.year:04d}"
        return f"{head}-{self.month:02d}" + ("" if self.day is None else f"-{self.day:02d}")


def dates(text: str) -> list[CalendarDate]:
    """Return the dates that normalised `text` names, in order, none inside another.

    A month alone counts in Chinese (5月) and not in English ("May"), where it needs its
    surroundings to be one.
    """
    found: list[CalendarDate] = []
    if _ANY_DIGIT.search(text):
        for one in _english(text):
            if all(one.end <= other.start or one.start >= other.end for other in found):
                found.append(one)
    if "月" in text:
        found.extend(_chinese(text))
    found.sort(key=lambda one: one.start)
    return found


_ANY_DIGIT = re.compile("[0-9]")


def _english(text: str) -> Iterator[CalendarDate]:
    for found in _YEAR_FIRST.finditer(text):
        month, day = found["month"] or found["only"], found["day"]
        yield from _checked(found, int(found["year"]), int(month), int(day) if day else None)
    for found in _YEAR_LAST.finditer(text):
        month, day = int(found["one"]), int(found["two"])
        if found["mark"] != "/":
            month, day = day, month
        if month > 12:
            month, day = day, month
        yield from _checked(found, int(found["year"]), month, day)
    for pattern in (_DAY_FIRST, _MONTH_FIRST, _MONTH_YEAR):
        for found in pattern.finditer(text):
            groups = found.groupdict()
            year, day = groups["year"], groups.get("day")
            if not year and found["month"] in _LOWER_WORDS and not _is_after_on(text, found.start()):
                continue
            yield from _checked(
                found,
                int(year) if year else None,
                MONTHS[found["month"].lower()],
                int(day) if day else None,
            )


def _chinese(text: str) -> Iterator[CalendarDate]:
    for found in _HAN.finditer(text):
        if not found["day"] and _NO_HAN_MONTH.match(text, found.end()):
            continue
        month = han_number(found["month"])
        if month is not None:
            year = han_number(found["year"]) if found["year"] else None
            yield from _checked(found, year, month, han_number(found["day"]) if found["day"] else None)


def _checked(found: re.Match[str], year: int | None, month: int, day: int | None) -> Iterator[CalendarDate]:
    if 1 <= month <= 12 and (day is None or 1 <= day <= _DAYS_IN_MONTH[month - 1]):
        yield CalendarDate(year, month, day, found.start(), found.end())


def _is_after_on(text: str, start: int) -> bool:
    return text[max(0, start - 7) : start].lower().endswith(("on ", "on the ", "since ", "until "))
