"""Chinese expressions of time: each rule is a pattern and what it means at the moment of asking.

Chinese runs without spaces, so a rule also says what must not stand beside it: 每周三 is a
habit, 一周三次 a frequency, 两年前 no 前年.  Feasts of the lunar calendar (春节, 中秋, 八月十五) are
left out: they need its tables, and guessing a month would mislead.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from hy_memory.temporal import calendar
from hy_memory.temporal.calendar import Asking, Stretch
from hy_memory.temporal.rule import Rule
from hy_memory.text.dates import HAN_MONTH, HAN_YEAR
from hy_memory.text.numerals import HAN_NUMBER, han_number

TRIGGER = re.compile("[年月天日号周星礼昨今明时旦诞庆]")
"""Characters of which every rule needs one."""

_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "前晚": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_PARTS = {
    "凌晨": (0, 6), "清晨": (5, 9), "早晨": (5, 10), "早上": (5, 11), "早": (5, 11), "晨": (5, 10),
    "上午": (6, 12), "中午": (11, 14), "下午": (12, 18), "傍晚": (17, 20), "晚上": (18, 30), "夜里": (18, 30),
    "晚": (18, 30), "夜": (18, 30),
}  # fmt: skip
_PART = f"(?P<part>{'|'.join(_PARTS)})"
_UNITS = {
    "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week",
    "月": "month", "年": "year",
}  # fmt: skip
_HOLIDAYS = {
    "元旦": (1, 1, 1),
    "五一": (5, 1, 5),
    "劳动节": (5, 1, 5),
    "国庆": (10, 1, 7),
    "圣诞": (12, 24, 3),
}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下下": 2, "下": 1}
_STEP = "(?P<step>上上|上|这|本|下下|下)"
_NO_COUNT = "(?<![每一二两三四五六七八九十几数半多\\d])"
# After 周三 these make it a frequency (周三次) or a name (周五福); 天 a duration (这周五天).
_NO_FREQUENCY = "(?![次回遍个天年月岁福郎][^气]?)"
_COUNTED = (
    rf"(?<![第\d一二三四五六七八九十几数])(?P<count>{HAN_NUMBER}|半)\s?(?P<measure>个|多)?"
    rf"(?P<unit>小时|钟头|天|日|周|星期|礼拜|月|年)"
)


def _day(found: re.Match[str], asked: Asking) -> Stretch:
    name = found["day"]
    shift = _DAYS[name] if name in _DAYS else _DAYS[name[0]]
    day = asked.today + timedelta(days=shift)
    return _with_part(day, found["part"] or ("晚" if name.endswith("晚") else None))


def _with_part(day: date, part: str | None) -> Stretch:
    return calendar.hours(day, *_PARTS[part]) if part else calendar.days(day, 1)


def _in_year(found: re.Match[str], asked: Asking) -> Stretch | None:
    """Meaning of a year, relative or written, with what stands behind it: month and day, season, feast."""
    written = found["year"]
    year = han_number(written) if written else asked.today.year + _YEARS[found["relative"]]
    if year is None:
        return None
    if found["month"]:
        month = han_number(found["month"]) or 0
        if found["date"]:
            return calendar.days(date(year, month, han_number(found["date"]) or 0), 1)
        return calendar.month(year, month)
    if found["season"]:
        return calendar.season(year, "春夏秋冬".index(found["season"]))
    if found["holiday"]:
        month, day, length = _HOLIDAYS[found["holiday"]]
        return calendar.days(date(year, month, day), length)
    return calendar.year(year)


def _holiday(found: re.Match[str], asked: Asking) -> Stretch:
    month, day, length = _HOLIDAYS[found["holiday"]]
    return calendar.recurring(asked, lambda year: calendar.days(date(year, month, day), length), "")


def _season(found: re.Match[str], asked: Asking) -> Stretch:
    index = "春夏秋冬".index(found["season"])
    which = {"上": "last", "下": "next"}.get(found["step"][0], "this")
    return calendar.recurring(asked, lambda year: calendar.season(year, index), which)


def _week(found: re.Match[str], asked: Asking) -> Stretch:
    step, day = _STEPS[found["step"]], found["weekday"]
    if day is None:
        return calendar.week(asked.today + timedelta(days=7 * step))
    if day == "末":
        return calendar.weekend(asked.today + timedelta(days=7 * step))
    stretch = calendar.weekday(asked.today, _weekday_index(day), step)
    return _with_part(stretch.start.date(), found["part"])


def _weekday(found: re.Match[str], asked: Asking) -> Stretch:
    stretch = calendar.weekday(asked.today, _weekday_index(found["weekday"]), None)
    return _with_part(stretch.start.date(), found["part"])


def _weekday_index(day: str) -> int:
    return 6 if day in "日天" else "一二三四五六".index(day)


def _month(found: re.Match[str], asked: Asking) -> Stretch:
    stretch = calendar.month(asked.today.year, asked.today.month + _STEPS[found["step"]])
    if found["date"]:
        first = stretch.start.date()
        return calendar.days(date(first.year, first.month, han_number(found["date"]) or 0), 1)
    return stretch


def _count_and_unit(found: re.Match[str]) -> tuple[int, str]:
    unit = _UNITS[found["unit"]]
    if unit == "month" and not found["measure"]:
        return 0, unit  # 三月 is March; three months are 三个月
    if found["count"] == "半":
        return {"year": (6, "month"), "month": (15, "day")}.get(unit, (0, unit))
    return han_number(found["count"]) or 0, unit


def _ago(found: re.Match[str], asked: Asking) -> Stretch | None:
    count, unit = _count_and_unit(found)
    if not count:
        return None
    return asked.hour_ago(count) if unit == "hour" else calendar.back(asked.today, count, unit)


def _lately(found: re.Match[str], asked: Asking) -> Stretch | None:
    count, unit = _count_and_unit(found)
    if not count:
        return None
    return asked.hours_back(count) if unit == "hour" else calendar.lately(asked.today, count, unit)


_HOLIDAY = "(?P<holiday>元旦|五一|劳动节|国庆|圣诞)"
_DATE = rf"(?:(?P<date>{HAN_NUMBER})\s?[日号])?"

RULES = tuple(
    Rule(re.compile(pattern), meaning)
    for pattern, meaning in (
        (
            rf"(?:(?<!大)(?<![\d一二三四五六七八九十])(?P<relative>{'|'.join(_YEARS)})|(?P<year>{HAN_YEAR})\s?年)"
            rf"(?:的|初的|底的)?(?:\s?(?P<month>{HAN_MONTH})\s?月份?(?!大)\s?{_DATE}"
            rf"|(?P<season>[春夏秋冬])[天季]|{_HOLIDAY})?",
            _in_year,
        ),
        (rf"(?:最近|过去|近|这)的?{_COUNTED}(?!前|后)(?:以来|内|里|来)?", _lately),
        (rf"{_COUNTED}(?:之前|以前|前)(?![天年晚后])", _ago),
        (rf"(?P<day>大前天|前[天日晚]|大后天|(?<!先)后天(?![努性])|昨[天日]|今[天日]|明[天日](?!子)|[昨今明](?=[早晚晨夜]))"
         rf"(?:的?{_PART})?", _day),
        (rf"(?<![每以之往身早马晚]){_STEP}个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末](?!次|回|遍|个|天|年|月))?"
         rf"(?![围边岁年刊]|期)(?:的?{_PART})?", _week),
        (rf"{_NO_COUNT}(?<![上下这本个圆])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天]){_NO_FREQUENCY}"
         rf"(?:的?{_PART})?", _weekday),
        (rf"(?<![以之每早马晚]){_STEP}个?月(?![球亮饼薪票])份?的?{_DATE}", _month),
        (r"(?P<step>这个?|上个|下个)(?P<season>[春夏秋冬])[天季]", _season),
        (rf"{_HOLIDAY}(?:节|假期|期间|长假|前后)", _holiday),
    )
)  # fmt: skip
