"""Expressions of time: what they mean at one moment, what is none, and the laws of windows."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hy_memory.errors import InvalidArgumentError
from hy_memory.temporal.expressions import time_windows
from hy_memory.temporal.window import Precision, Window, affinity

NOW = datetime(2024, 7, 17, 15, 30, tzinfo=UTC).timestamp()  # a Wednesday
ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))  # surrogates too
DAY, WEEK, MONTH, SEASON, YEAR = "day", "week", "month", "season", "year"


def at(moment: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).timestamp()


def read(text: str, now: float = NOW, zone: str = "UTC") -> list[tuple[float, float, str]]:
    return [(one.start, one.end, one.precision.value) for one in time_windows(text, now, zone)]


@pytest.mark.parametrize(
    ("text", "start", "end", "precision"),
    [
        # dates
        ("what happened on 7 May 2023?", "2023-05-07", "2023-05-08", DAY),
        ("the 7th of May, 2023", "2023-05-07", "2023-05-08", DAY),
        ("May 7th, 2023", "2023-05-07", "2023-05-08", DAY),
        ("Sept. 3 2021", "2021-09-03", "2021-09-04", DAY),
        ("2023-05-07", "2023-05-07", "2023-05-08", DAY),
        ("2023/5/7", "2023-05-07", "2023-05-08", DAY),
        ("5/7/2023", "2023-05-07", "2023-05-08", DAY),
        ("25/12/2023", "2023-12-25", "2023-12-26", DAY),
        ("7.5.2023", "2023-05-07", "2023-05-08", DAY),
        ("31-12-1999", "1999-12-31", "2000-01-01", DAY),
        ("see you on Tuesday, June 4", "2024-06-04", "2024-06-05", DAY),
        ("on December 25", "2023-12-25", "2023-12-26", DAY),
        ("on February 29", "2024-02-29", "2024-03-01", DAY),
        ("2023年5月7日", "2023-05-07", "2023-05-08", DAY),
        ("会议时间是2023-05-07上午", "2023-05-07", "2023-05-08", DAY),
        ("二〇二三年五月七号", "2023-05-07", "2023-05-08", DAY),
        ("６月１３日的会", "2024-06-13", "2024-06-14", DAY),
        ("六月份的十三号", "2024-06-13", "2024-06-14", DAY),
        ("十二月二十五日", "2023-12-25", "2023-12-26", DAY),
        # months, seasons, years
        ("May 2023", "2023-05-01", "2023-06-01", MONTH),
        ("2023-05", "2023-05-01", "2023-06-01", MONTH),
        ("2023年5月", "2023-05-01", "2023-06-01", MONTH),
        ("5月我们去哪里了", "2024-05-01", "2024-06-01", MONTH),
        ("九月的旅行", "2023-09-01", "2023-10-01", MONTH),
        ("去年三月", "2023-03-01", "2023-04-01", MONTH),
        ("the trip in May", "2024-05-01", "2024-06-01", MONTH),
        ("early October", "2023-10-01", "2023-11-01", MONTH),
        ("last July", "2023-07-01", "2023-08-01", MONTH),
        ("next May", "2025-05-01", "2025-06-01", MONTH),
        ("in June last year", "2023-06-01", "2023-07-01", MONTH),
        ("last spring", "2024-03-01", "2024-06-01", SEASON),
        ("last summer", "2023-06-01", "2023-09-01", SEASON),
        ("this summer", "2024-06-01", "2024-09-01", SEASON),
        ("in the winter of 2021", "2021-12-01", "2022-03-01", SEASON),
        ("fall 2020", "2020-09-01", "2020-12-01", SEASON),
        ("去年夏天", "2023-06-01", "2023-09-01", SEASON),
        ("2022年冬季", "2022-12-01", "2023-03-01", SEASON),
        ("这个夏天", "2024-06-01", "2024-09-01", SEASON),
        ("in 2022", "2022-01-01", "2023-01-01", YEAR),
        ("2022年的事", "2022-01-01", "2023-01-01", YEAR),
        ("last year", "2023-01-01", "2024-01-01", YEAR),
        ("前年", "2022-01-01", "2023-01-01", YEAR),
        ("大前年", "2021-01-01", "2022-01-01", YEAR),
        ("明年的计划", "2025-01-01", "2026-01-01", YEAR),
        # days and their parts
        ("yesterday", "2024-07-16", "2024-07-17", DAY),
        ("the day before yesterday", "2024-07-15", "2024-07-16", DAY),
        ("tomorrow", "2024-07-18", "2024-07-19", DAY),
        ("this morning", "2024-07-17T05", "2024-07-17T12", "hour"),
        ("last night", "2024-07-16T18", "2024-07-17T06", "hour"),
        ("yesterday afternoon", "2024-07-16T12", "2024-07-16T18", "hour"),
        ("昨天", "2024-07-16", "2024-07-17", DAY),
        ("大前天", "2024-07-14", "2024-07-15", DAY),
        ("昨晚吃了什么", "2024-07-16T18", "2024-07-17T06", "hour"),
        ("今早", "2024-07-17T05", "2024-07-17T11", "hour"),
        ("前天下午", "2024-07-15T12", "2024-07-15T18", "hour"),
        # weeks and their days
        ("last week", "2024-07-08", "2024-07-15", WEEK),
        ("last weekend", "2024-07-13", "2024-07-15", DAY),
        ("over the weekend", "2024-07-13", "2024-07-15", DAY),
        ("last Wednesday", "2024-07-10", "2024-07-11", DAY),
        ("on Wednesday", "2024-07-17", "2024-07-18", DAY),
        ("on Friday night", "2024-07-12T18", "2024-07-13T06", "hour"),
        ("next Monday", "2024-07-22", "2024-07-23", DAY),
        ("上周三", "2024-07-10", "2024-07-11", DAY),
        ("上上周", "2024-07-01", "2024-07-08", WEEK),
        ("下下周六下午", "2024-08-03T12", "2024-08-03T18", "hour"),
        ("这个星期天", "2024-07-21", "2024-07-22", DAY),
        ("星期五我们见过面", "2024-07-12", "2024-07-13", DAY),
        ("上周末", "2024-07-13", "2024-07-15", DAY),
        ("上个月", "2024-06-01", "2024-07-01", MONTH),
        ("上个月5号", "2024-06-05", "2024-06-06", DAY),
        # so long ago, and the last so long
        ("two months ago", "2024-05-01", "2024-06-01", MONTH),
        ("3 days ago", "2024-07-14", "2024-07-15", DAY),
        ("a couple of days ago", "2024-07-15", "2024-07-16", DAY),
        ("two weeks ago", "2024-06-30", "2024-07-07", WEEK),
        ("five years ago", "2019-01-01", "2020-01-01", YEAR),
        ("an hour ago", "2024-07-17T14", "2024-07-17T15", "hour"),
        ("三天前", "2024-07-14", "2024-07-15", DAY),
        ("两年以前", "2022-01-01", "2023-01-01", YEAR),
        ("3个月前", "2024-04-01", "2024-05-01", MONTH),
        ("半年前", "2024-01-01", "2024-02-01", MONTH),
        ("the past 3 days", "2024-07-14", "2024-07-18", DAY),
        ("in the past week", "2024-07-10", "2024-07-18", WEEK),
        ("最近一周", "2024-07-10", "2024-07-18", WEEK),
        ("过去三天", "2024-07-14", "2024-07-18", DAY),
        ("last 2 hours", "2024-07-17T13", "2024-07-17T16", "hour"),
        # open to today
        ("since May", "2024-05-01", "2024-07-18", MONTH),
        ("since last week", "2024-07-08", "2024-07-18", WEEK),
        ("after 7 May 2024", "2024-05-08", "2024-07-18", DAY),
        ("2022年以来", "2022-01-01", "2024-07-18", YEAR),
        # feasts
        ("last Christmas", "2023-12-24", "2023-12-27", DAY),
        ("at Halloween", "2023-10-31", "2023-11-01", DAY),
        ("on Thanksgiving", "2023-11-23", "2023-11-24", DAY),
        ("国庆假期", "2023-10-01", "2023-10-08", DAY),
        ("去年元旦", "2023-01-01", "2023-01-02", DAY),
    ],
)
def test_an_expression_means_its_window(text: str, start: str, end: str, precision: str) -> None:
    assert read(text) == [(at(start), at(end), precision)]


@pytest.mark.parametrize(
    "text",
    [
        "may I ask you something",
        "it may rain, march on, do not sit",
        "May I come in?",
        "wait a second",
        "in his Sunday best",
        "we play every Sunday",
        "Sunday school is over",
        "Friday I'm in love",
        "I can do it in three days",
        "someday, one day, the other day",
        "years ago we were young",
        "recently, lately, these days",
        "last but not least",
        "at the last minute",
        "the last week of the course",
        "a year-long project",
        "she is 5 years old",
        "a spring in her step",
        "spring onions in spring water",
        "in winter clothes",
        "a fall from grace, in the fall",
        "under the Christmas tree",
        "by June Carter and April Stevens",
        "she augustly marched",
        "room 2022, 2022 steps",
        "in 2022 steps",
        "version 2023.5.7 of the tool",
        "score 5/7",
        "call 2023-0507",
        "10.0.0.1 and 1.2.3",
        "2023-13-45",
        "May 7,000 people come",
        "before 2022",
        "until last week",
        "day and night, week after week",
        "一周一次",
        "每周三去游泳",
        "每个星期五",
        "周末愉快，周围没人",
        "一周三次",
        "三个月的假期",
        "五月天的歌",
        "八月十五的月亮",
        "三月龄的猫",
        "岁月如歌",
        "他后天努力",
        "后天性的能力",
        "以前的事，从前",
        "时间过得真快",
        "会更好吗",
        "两天后出发",
        "2022年之前",
        "上次见面",
        "年年有余",
        "天天向上",
        "小明今",
        "第三天",
        "我三十岁",
        "学号20230507",
        "",
    ],
)
def test_no_false_alarm(text: str) -> None:
    assert read(text) == []


def test_the_surface_is_what_was_read() -> None:
    (one,) = time_windows("Where were we on the 7th of May 2023, Sam?", NOW, "UTC")
    assert one == Window(at("2023-05-07"), at("2023-05-08"), Precision.DAY, "7th of May 2023")


def test_several_windows_keep_their_order_and_none_comes_twice() -> None:
    assert [start for start, _, _ in read("May 2023, yesterday, and again in May 2023")] == [
        at("2023-05-01"),
        at("2024-07-16"),
    ]


def test_a_whole_day_holds_its_afternoon() -> None:
    """C84: a date is the whole day, to its last instant, and not the next midnight."""
    windows = time_windows("2026-03-31", NOW, "UTC")
    assert affinity(at("2026-03-31T15:00"), windows) == 1.0
    assert affinity(at("2026-03-31T00:00"), windows) == 1.0
    assert affinity(at("2026-04-01T00:00") - 1e-3, windows) == 1.0
    assert windows[0].end == at("2026-04-01")


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-07T15:30:00Z",
        "2024-05-07T08:30:00-07:00",
        "2024-05-07T23:30:00.000001+08:00",
        "2024-05-07T23:30+0800",
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def test_an_instant_is_one_wherever_it_is_written(text: str, zone: str) -> None:
    """C86: forms of the same instant with other offsets are the same window."""
    assert read(f"log of {text}", zone=zone) == [(at("2024-05-07T15:00"), at("2024-05-07T16:00"), "hour")]


def test_yesterday_is_that_of_the_asker() -> None:
    early = at("2024-07-17T01:00")
    assert read("yesterday", early, "America/New_York")[0][0] == at("2024-07-15", "America/New_York")
    assert read("昨天", early, "Asia/Shanghai")[0][0] == at("2024-07-16", "Asia/Shanghai")


@pytest.mark.parametrize(
    ("day", "zone", "length"),
    [
        ("2024-03-31", "Europe/Paris", 23),
        ("2024-10-27", "Europe/Paris", 25),
        ("2018-11-04", "America/Sao_Paulo", 23),  # midnight itself was skipped
        ("2018-02-17", "America/Sao_Paulo", 25),  # the hour before midnight came twice
        ("2024-10-06", "Australia/Lord_Howe", 23.5),
        ("2024-07-17", "Asia/Kathmandu", 24),
    ],
)
def test_days_of_clock_changes_have_their_length(day: str, zone: str, length: float) -> None:
    ((start, end, _),) = read(day, zone=zone)
    assert end - start == length * 3600
    ((_, before_end, _),) = read("yesterday", start + 3600 * 12, zone)
    assert before_end == start


def test_an_impossible_day_leaves_its_month() -> None:
    assert read("30 February 2023") == [(at("2023-02-01"), at("2023-03-01"), MONTH)]


def test_a_day_the_zone_never_had_gives_no_window() -> None:
    assert read("on 30 December 2011", zone="Pacific/Apia") == []


def test_hours_are_hours_over_a_clock_change() -> None:
    now = at("2024-03-31T04:30", "Europe/Paris")
    ((start, end, _),) = read("3 hours ago", now, "Europe/Paris")
    assert (start, end) == (now - 3.5 * 3600, now - 2.5 * 3600)


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Europe/Pariss"):
        time_windows("yesterday", NOW, "Europe/Pariss")
    with pytest.raises(InvalidArgumentError):
        time_windows("yesterday", NOW, "../etc/passwd")


_PHRASES = """
yesterday|last week|in May|on Monday|last winter|this winter|next spring|two months ago|90 years ago
past 3 days|since May|on February 29|last Thanksgiving|5 hours ago|tonight|before 2022|9 years from now
2023-05-07T10:00Z|前天|上周三|大前年|去年冬天|三年前|最近一周|12月25日|国庆节
"""
PHRASES = st.sampled_from(_PHRASES.strip().replace("\n", "|").split("|"))
ZONES = st.sampled_from(["UTC", "Europe/Paris", "Pacific/Apia"])
SPANS = st.floats(-1e12, 1e12)


@given(st.lists(PHRASES | ANY_TEXT, max_size=4), st.floats(), ZONES)
@example(["on February 29"], -62_135_596_800.0, "Pacific/Apia")
@example(["tonight, tomorrow, next year"], 253_402_300_799.0, "Pacific/Apia")
@example(["last spring \ud83d 2023年\udc00"], 0.0, "UTC")
def test_any_text_at_any_time(parts: list[str], now: float, zone: str) -> None:
    windows = time_windows(" ".join(parts), now, zone)
    assert all(one.start < one.end and one.surface for one in windows)
    assert len({(one.start, one.end) for one in windows}) == len(windows)
    for one in windows:
        assert affinity(one.start, windows) == 1.0
        assert 0.0 <= affinity(one.end, windows) <= 1.0


@given(st.floats(0, 4e9), PHRASES)
def test_the_past_is_past(now: float, phrase: str) -> None:
    for one in time_windows(phrase, now, "UTC"):
        if phrase.startswith(("last", "上", "前", "大前", "去年")) and "冬" not in phrase:
            assert one.end <= now or phrase == "last night"


@given(SPANS, SPANS, st.floats(1, 1e9), st.sampled_from(Precision))
def test_affinity_falls_with_distance(
    event: float, start: float, length: float, precision: Precision
) -> None:
    window = Window(start, start + length, precision, "then")
    near, far = affinity(event, [window]), affinity(event + (event - start), [window])
    assert 0.0 <= near <= 1.0
    if event < start:
        assert far <= near
    assert affinity(event, [window, window]) == near
    assert affinity(event, []) == 0.0


def test_affinity_has_the_documented_shape() -> None:
    window = Window(0.0, 86_400.0, Precision.DAY, "that day")
    slack = 1.5 * 86_400
    assert affinity(86_400 + slack, [window]) == 0.5
    assert affinity(-2 * slack, [window]) == 2.0**-4
    assert affinity(float("nan"), [window]) == affinity(float("inf"), [window]) == 0.0
