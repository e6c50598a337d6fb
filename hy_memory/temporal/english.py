"""English expressions of time: each rule is a pattern and what it means at the moment of asking.

Precision first.  A rule asks for the words that make a reading certain ("last Sunday", "on
Sunday", never "Sunday" alone; "in May", never "may"), and says nothing about spans without
numbers ("recently", "years ago") or about the future of a story ("in three days").
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from hy_memory.temporal import calendar
from hy_memory.temporal.calendar import Asking, Stretch
from hy_memory.temporal.rule import Meaning, Rule
from hy_memory.text.dates import MONTHS, YEAR
from hy_memory.text.numerals import ENGLISH_NUMBER, english_number

_WEEKDAYS: tuple[str, ...] = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip
_SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 23), "night": (18, 30)}
_WHICH = {
    "past": "last", "previous": "last", "last": "last", "this": "this", "next": "next", "coming": "next",
    "upcoming": "next",
}  # fmt: skip
_HOLIDAYS = {
    "christmas": (12, 24, 3), "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1),
    "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1), "new year's": (1, 1, 1),
    "valentine's day": (2, 14, 1), "halloween": (10, 31, 1), "thanksgiving": (11, 0, 1),
}  # fmt: skip
"""Month, day, length. Thanksgiving is the fourth Thursday; feasts of moving calendars are left out."""

TRIGGERS = frozenset(
    f"{' '.join(MONTHS)} {' '.join(_WEEKDAYS)} {' '.join(_SEASONS)} {' '.join(_PARTS)} today yesterday "
    "tomorrow tonight hour hours day days week weeks weekend month months year years christmas halloween "
    "thanksgiving valentine".split()
)
"""Words of which every rule without digits needs one: where none stands, no rule is tried."""

_MONTH = rf"(?P<month>{'|'.join(name for name in MONTHS if len(name) > 3)}|May)\b"
_NEXT_LAST = r"(?P<which>last|this|next|past|previous|coming|upcoming)"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night)\b)?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b"
_COUNT = rf"(?P<count>an?|(?:a\s+)?couple(?:\s+of)?|{ENGLISH_NUMBER})"
_UNIT = r"(?P<unit>hour|day|week|month|year)s?\b"
_BOUND = r"(?P<bound>since|after|before|until|till)"
# "fall" the movement and seasons as attributes ("spring onions", "a summer dress", "winter coat")
_NO_THING = (
    r"(?!\s*-|\s+(?:onion|roll|clean|break|water|dress|coat|jacket|job|camp|school|olympic|sport|semester|"
    r"term|tire|boot|cloth|collection|sale|internship|vacation|holiday|evening|night|day|morning|air|weather)s?)"
)


def _number(text: str) -> int:
    word = text.lower()
    if word in ("a", "an"):
        return 1
    return 2 if "couple" in word else english_number(word) or 0


def _which(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return _WHICH.get((groups.get("which") or "").lower(), "")


def _relative_year(found: re.Match[str], asked: Asking) -> int:
    written = found.groupdict().get("year")
    if written:
        return int(written)
    return asked.today.year + {"last": -1, "next": 1}.get(_WHICH[found["which"].lower()], 0)


def _month_of_year(found: re.Match[str], asked: Asking) -> Stretch:
    return calendar.month(_relative_year(found, asked), MONTHS[found["month"].lower()])


def _season_of_year(found: re.Match[str], asked: Asking) -> Stretch:
    return calendar.season(_relative_year(found, asked), _SEASONS[found["season"].lower()])


def _holiday(found: re.Match[str], asked: Asking) -> Stretch:
    month, day, length = _HOLIDAYS[found["holiday"].lower()]

    def make(year: int) -> Stretch:
        if not day:
            first = date(year, month, 1)
            return calendar.days(first + timedelta(days=(3 - first.weekday()) % 7 + 21), length)
        return calendar.days(date(year, month, day), length)

    return make(int(found["year"])) if found["year"] else calendar.recurring(asked, make, _which(found))


def _lately(found: re.Match[str], asked: Asking) -> Stretch | None:
    count, unit = _number(found["count"] or "a"), found["unit"].lower()
    if not count:
        return None
    return asked.hours_back(count) if unit == "hour" else calendar.lately(asked.today, count, unit)


def _ago(found: re.Match[str], asked: Asking) -> Stretch | None:
    count, unit = _number(found["count"]), found["unit"].lower()
    if found["way"].lower() != "ago":
        count = -count
    if unit == "hour":
        return asked.hour_ago(count)
    return calendar.back(asked.today, count, unit) if count else None


def _day(found: re.Match[str], asked: Asking) -> Stretch:
    name = found["day"].lower()
    shift = {"t": 0, "y": -1}[name[0]] if name != "tomorrow" else 1
    if found["beyond"]:
        shift *= 2
    day = asked.today + timedelta(days=shift)
    return _part(day, found["part"]) if found["part"] else calendar.days(day, 1)


def _part(day: date, name: str) -> Stretch:
    return calendar.hours(day, *_PARTS[name.lower()])


def _part_of_today(found: re.Match[str], asked: Asking) -> Stretch:
    words = found[0].lower().split()
    if words[0] == "last":
        return _part(asked.today - timedelta(days=1), words[1])
    return _part(asked.today, "night" if words[0] == "tonight" else words[1])


def _unit(found: re.Match[str], asked: Asking) -> Stretch:
    which = {"last": -1, "next": 1}.get(_which(found), 0)
    unit, today = found["unit"].lower(), asked.today
    if unit == "month":
        return calendar.month(today.year, today.month + which)
    if unit == "year":
        return calendar.year(today.year + which)
    day = today + timedelta(days=7 * which)
    if unit == "week":
        return calendar.week(day)
    # On a Sunday "last weekend" is the one before; "next weekend" on a Monday the one to come
    # and the one after are both meant by some: the later week is taken, as for weeks.
    return calendar.weekend(day)


def _weekday(found: re.Match[str], asked: Asking) -> Stretch:
    index, which = _WEEKDAYS.index(found["weekday"].lower()), _which(found)
    if which == "last":
        day = calendar.weekday(asked.today - timedelta(days=1), index, None)
    elif which == "next":
        day = calendar.weekday(asked.today + timedelta(days=7), index, None)
    else:
        day = calendar.weekday(asked.today, index, 0 if which == "this" else None)
    return _part(day.start.date(), found["part"]) if found["part"] else day


def _month(found: re.Match[str], asked: Asking) -> Stretch:
    number = MONTHS[found["month"].lower()]
    return calendar.recurring(asked, lambda year: calendar.month(year, number), _which(found))


def _season(found: re.Match[str], asked: Asking) -> Stretch:
    index = _SEASONS[found["season"].lower()]
    return calendar.recurring(asked, lambda year: calendar.season(year, index), _which(found))


def _year(found: re.Match[str], asked: Asking) -> Stretch:
    return calendar.year(int(found["year"]))


def _weekend(found: re.Match[str], asked: Asking) -> Stretch:
    this = calendar.weekend(asked.today)
    return this if asked.has_begun(this) else calendar.weekend(asked.today - timedelta(days=7))


def _rule(pattern: str, meaning: Meaning) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE | re.ASCII), meaning)


_YEAR = rf"(?P<year>{YEAR})(?![\w%$€]|[-.,/:]\d)"
_NO_AMOUNT = (
    r"(?!\s+(?:steps?|people|dollars|euros|users|rows|lines|words|times|miles|calories|km|kg|ms|px)\b)"
)
_YEAR_OR = rf"(?:{_YEAR}|(?P<which>last|this|next)\s+year)"
_IN = r"in|during|by|early|late|mid|throughout|(?:end|start|beginning|middle|month|rest|most)\s+of"
# "on Sunday school"; and "on Tuesday, June 5" is a date that says its own day
_NO_NOUN = rf"(?!'|-|\s+(?:best|school|roast|paper)s?\b|,?\s+(?:the\s+)?(?:\d|(?:{'|'.join(MONTHS)})\b))"

RULES = (
    _rule(rf"\b{_MONTH}(?:\s+of|,)?\s+(?P<which>last|this|next)\s+year\b", _month_of_year),
    _rule(rf"\b{_SEASON}(?:\s+of|,)?\s+{_YEAR_OR}", _season_of_year),
    _rule(
        r"\b(?:(?:at|on|over|for|during|since|around|before|after)|"
        r"(?P<which>last|this|next|past))\s+(?P<holiday>christmas(?:\s(?:eve|day))?|"
        r"new\syear's(?:\s(?:eve|day))?|valentine's\sday|halloween|thanksgiving)\b"
        rf"(?!'|\s+(?:tree|gift|present|party|card|dinner|song|movie|market|shopping|costume)s?\b)"
        rf"(?:,?\s+(?:of\s+)?{_YEAR})?",
        _holiday,
    ),
    _rule(rf"\b(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}(?!\s+of\b)", _lately),
    _rule(rf"\b(?:in|over|during|for|within)\s+the\s+past(?P<count>)\s+{_UNIT}", _lately),
    _rule(rf"\b(?<!and\s){_COUNT}\s+{_UNIT}\s+(?P<way>ago|from\s+now)\b", _ago),
    _rule(rf"\b(?P<beyond>the\s+day\s+(?:before|after)\s+)?(?P<day>yesterday|today|tomorrow)\b{_PART}", _day),
    _rule(
        r"\btonight\b|\blast\s+(?:night|evening)\b|\bthis\s+(?:morning|afternoon|evening)\b",
        _part_of_today,
    ),
    _rule(rf"\b{_NEXT_LAST}\s+(?P<unit>week|weekend|month|year)\b(?!\s+of\b|-)", _unit),
    _rule(r"\b(?:over|during|on|at)\s+the\s+weekend\b", _weekend),
    _rule(rf"\b(?:on|{_NEXT_LAST})\s+{_WEEKDAY}{_PART}{_NO_NOUN}", _weekday),
    _rule(rf"\b(?:{_IN}|{_BOUND}|{_NEXT_LAST})[\s-]+{_MONTH}(?!'|\s+\d|\s+(?-i:[A-Z][a-z]))", _month),
    _rule(rf"\b{_NEXT_LAST}\s+{_SEASON}{_NO_THING}", _season),
    _rule(rf"\b(?:{_IN}|{_BOUND}|over)\s+(?:the\s+)?(?!fall){_SEASON}{_NO_THING}(?!\s+of\b)", _season),
    _rule(rf"\b(?:{_IN}|{_BOUND}|from|of|year|around|circa)[\s-]+{_YEAR}{_NO_AMOUNT}", _year),
)  # fmt: skip
