"""Calendar arithmetic around the moment of asking, in the asker's time zone.

A `Stretch` is local civil time; only `Asking.window` turns it into seconds, so that days of 23
and 25 hours, and midnights that a clock change skips, come out right: the start of a skipped
hour is the moment of the change, the start of a repeated one its first occurrence.

Weeks begin on Monday.  Seasons are the northern, meteorological ones: spring is March to May,
winter December to February and named after the year it begins in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hy_memory.errors import InvalidArgumentError
from hy_memory.temporal.window import Precision, Window

_LONGEST_HOURS = 48


@dataclass(frozen=True, slots=True)
class Stretch:
    """Civil time [start, end); naive moments are in the asker's zone, aware ones stand for themselves."""

    start: datetime
    end: datetime
    precision: Precision


@dataclass(frozen=True, slots=True)
class Asking:
    """When and where a question is asked; `moment` is aware, `today` its local date."""

    moment: datetime
    today: date
    zone: tzinfo

    def window(self, stretch: Stretch, surface: str) -> Window:
        """Return the stretch in epoch seconds."""
        return Window(self._seconds(stretch.start), self._seconds(stretch.end), stretch.precision, surface)

    def has_begun(self, stretch: Stretch) -> bool:
        """Return whether the stretch starts at or before the moment of asking."""
        return self._seconds(stretch.start) <= self.moment.timestamp()

    def is_over(self, stretch: Stretch) -> bool:
        """Return whether the stretch ends at or before the moment of asking."""
        return self._seconds(stretch.end) <= self.moment.timestamp()

    def hours_back(self, count: int) -> Stretch:
        """Return the clock hours from `count` hours ago to now, whole hours of elapsed time."""
        now = self.moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        return Stretch(now - timedelta(hours=count), now + timedelta(hours=1), Precision.HOUR)

    def hour_ago(self, count: int) -> Stretch:
        """Return the hour around `count` hours ago; days once it is more than two of them."""
        if count > _LONGEST_HOURS:
            return days(self.today - timedelta(days=count // 24), 1)
        then = self.moment.astimezone(UTC) - timedelta(hours=count)
        half = timedelta(minutes=30)
        return Stretch(then - half, then + half, Precision.HOUR)

    def _seconds(self, moment: datetime) -> float:
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).timestamp()


def zone_of(name: str) -> tzinfo:
    """Return the time zone of an IANA name; an unknown one raises InvalidArgumentError."""
    if name.upper() == "UTC":
        return UTC  # needs no zone data, which some systems lack
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        fix = "give an IANA name such as 'Europe/Paris', or install tzdata"
        raise InvalidArgumentError("timezone", name, fix) from error


def asking(now: float, zone: tzinfo) -> Asking | None:
    """Return the moment `now` (epoch seconds) in `zone`; None beyond the calendar's years 1–9999."""
    if not math.isfinite(now):
        return None
    try:
        moment = datetime.fromtimestamp(now, zone)
    except (OverflowError, OSError, ValueError):
        return None
    return Asking(moment, moment.date(), zone)


def days(first: date, count: int, precision: Precision = Precision.DAY) -> Stretch:
    """Return `count` whole days from `first` on."""
    start = datetime.combine(first, time.min)
    return Stretch(start, start + timedelta(days=count), precision)


def hours(day: date, first: int, last: int) -> Stretch:
    """Return the hours [first, last) of a day; 30 is 6 o'clock of the next morning."""
    start = datetime.combine(day, time.min)
    return Stretch(start + timedelta(hours=first), start + timedelta(hours=last), Precision.HOUR)


def week(day: date) -> Stretch:
    """Return the week, Monday to Sunday, that holds `day`."""
    return days(day - timedelta(days=day.weekday()), 7, Precision.WEEK)


def weekend(day: date) -> Stretch:
    """Return Saturday and Sunday of the week that holds `day`."""
    return days(day - timedelta(days=day.weekday() - 5), 2)


def month(year: int, number: int) -> Stretch:
    """Return a month; `number` may run over the year's ends (0 is the December before)."""
    return _months(year, number, 1, Precision.MONTH)


def season(year: int, index: int) -> Stretch:
    """Return a season of `year`: 0 spring, 1 summer, 2 autumn, 3 winter (into the next year)."""
    return _months(year, 3 + 3 * index, 3, Precision.SEASON)


def year(number: int) -> Stretch:
    """Return a calendar year."""
    return _months(number, 1, 12, Precision.YEAR)


def _months(year: int, first: int, count: int, precision: Precision) -> Stretch:
    start, end = year * 12 + first - 1, year * 12 + first - 1 + count
    return Stretch(datetime(start // 12, start % 12 + 1, 1), datetime(end // 12, end % 12 + 1, 1), precision)


def back(day: date, count: int, unit: str) -> Stretch:
    """Return the time `count` days, weeks, months or years before `day` ("two months ago").

    Days are days, months and years calendar ones; a week is the seven days around the day meant.
    A negative count goes forward.
    """
    if unit == "day":
        return days(day - timedelta(days=count), 1)
    if unit == "week":
        return days(day - timedelta(days=7 * count + 3), 7, Precision.WEEK)
    if unit == "month":
        return month(day.year, day.month - count)
    return year(day.year - count)


_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNIT_PRECISION = {
    "day": Precision.DAY,
    "week": Precision.WEEK,
    "month": Precision.MONTH,
    "year": Precision.YEAR,
}


def lately(day: date, count: int, unit: str) -> Stretch:
    """Return the last `count` units up to and with `day` ("the past 3 days"); months count 30 days."""
    length = count * _UNIT_DAYS[unit]
    return days(day - timedelta(days=length), length + 1, _UNIT_PRECISION[unit])


def weekday(today: date, index: int, weeks: int | None) -> Stretch:
    """Return a day of the week (0 Monday) of the week `weeks` from now; None: the latest one, today too."""
    if weeks is None:
        return days(today - timedelta(days=(today.weekday() - index) % 7), 1)
    return days(today - timedelta(days=today.weekday() - index - 7 * weeks), 1)


def recurring(asked: Asking, make: Callable[[int], Stretch], which: str) -> Stretch:
    """Return one of the yearly stretches `make(year)`.

    `which`: "last" is the latest one that is over, "next" the first that has not begun, "this"
    the one going on, else this year's; anything else the latest that has begun.
    """
    this_year = asked.today.year
    if which == "last":
        return next(one for one in map(make, range(this_year, this_year - 3, -1)) if asked.is_over(one))
    if which == "next":
        return next(one for one in map(make, (this_year, this_year + 1)) if not asked.has_begun(one))
    if which == "this":
        before = make(this_year - 1)
        return make(this_year) if asked.is_over(before) else before
    latest = make(this_year)
    return latest if asked.has_begun(latest) else make(this_year - 1)
