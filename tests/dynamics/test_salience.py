"""Salience as formulas: it fades in closed form, grows within bounds, and depends on nobody's looking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.dynamics.learned import begun_of, learned, now_of
from hy_memory.dynamics.salience import FLOOR, RATES, faded, gained, recency, repeated, start
from hy_memory.dynamics.sectors import kind_of
from hy_memory.values.use import Lesson, LessonKind, Sector, Use

_DAY = 86_400.0
salience = st.floats(0.0, 1.0)
days = st.floats(0.0, 4000.0)
sectors = st.sampled_from(Sector)


@given(salience, days, sectors)
def test_fading_is_the_closed_form_and_ends_at_the_floor(value: float, after: float, sector: Sector) -> None:
    now = faded(value, after, sector)
    if value > FLOOR:
        assert now == pytest.approx(FLOOR + (value - FLOOR) * math.exp(-RATES[sector] * after), abs=1e-12)
        assert FLOOR <= now <= value
    else:
        assert now == value


@given(salience, sectors, st.lists(st.floats(0.0, 100.0), max_size=30))
def test_it_makes_no_difference_how_often_it_is_taken(
    value: float, sector: Sector, steps: list[float]
) -> None:
    """Never, once, daily or hourly: the same to 1e-9."""
    at = value
    for step in steps:
        at = faded(at, step, sector)
    assert at == pytest.approx(faded(value, sum(steps), sector), abs=1e-9)


@pytest.mark.parametrize("sector", Sector)
def test_once_thirty_times_and_hourly_are_one_value(sector: Sector) -> None:
    """The case of decay that was charged on a decayed value: 0.8, thirty days idle."""
    once = faded(0.8, 30.0, sector)
    for runs in (30, 720):
        value = 0.8
        for _ in range(runs):
            value = faded(value, 30.0 / runs, sector)
        assert value == pytest.approx(once, abs=1e-9)
    assert faded(once, 0.0, sector) == once


@given(salience, days, sectors)
def test_a_clock_that_goes_back_and_a_pin_change_nothing(value: float, back: float, sector: Sector) -> None:
    assert faded(value, -back, sector) == value
    assert faded(value, back, sector, is_pinned=True) == value


@given(salience, st.floats(0.01, 0.5), st.integers(0, 1000))
def test_growth_never_takes_away_never_exceeds_one_and_shrinks(
    value: float, gain: float, before: int
) -> None:
    grown = repeated(value, gain, before)
    assert value <= grown <= 1.0
    assert grown >= repeated(value, gain, before + 1)


def test_where_memories_begin() -> None:
    assert start(0) == 0.4
    assert start(2) == pytest.approx(0.6)
    assert start(9) == 1.0
    assert gained(0.4, 0.4) == gained(0.2, 0.4) == 0.0
    assert gained(1.0, 0.4) == 1.0
    assert recency(0.0, Sector.EPISODIC) == recency(-5.0, Sector.EPISODIC) == 1.0
    assert recency(100.0, Sector.EMOTIONAL) < recency(100.0, Sector.REFLECTIVE) < 1.0


def _new(text: str = "The capital is Lyon.", at: float = 0.0) -> Use:
    sector, begun = begun_of(text, {})
    return Use("m", "u", begun, at, begun, sector)


@given(st.lists(st.tuples(st.floats(0, 1e8), st.integers(1, 5), st.sampled_from(LessonKind)), max_size=8))
def test_lessons_count_and_stay_within_bounds(told: list[tuple[float, int, LessonKind]]) -> None:
    lessons = [Lesson("m", at, times, kind) for at, times, kind in told]
    use = learned(_new(), lessons)
    assert use.uses == sum(times for _, times, kind in told if kind is LessonKind.USED)
    assert use.restated == sum(times for _, times, kind in told if kind is LessonKind.RESTATED)
    assert 0.0 <= use.salience <= 1.0
    assert use.used_at == max((at for at, _, _ in told), default=None)


def test_lessons_of_before_what_is_known_take_nothing_back() -> None:
    use = learned(_new(), [Lesson("m", 500 * _DAY)])
    later = learned(use, [Lesson("m", 100 * _DAY)])
    assert later.salience > use.salience
    assert later.salience_at == use.salience_at


def test_what_is_said_daily_does_not_outgrow_what_was_used_now_and_then() -> None:
    """Ninety repetitions of a mood count for less than five uses of a fact."""
    mood, fact = _new("I feel tired today."), _new("My blood group is zero.")
    for day in range(90):
        mood = learned(mood, [Lesson("m", day * _DAY, 1, LessonKind.RESTATED)])
    fact = learned(fact, [Lesson("m", day * _DAY) for day in range(0, 90, 20)])
    assert now_of(mood, 120 * _DAY) < now_of(fact, 120 * _DAY)


KINDS = [
    ("Yesterday we went to the lake and met Ana.", Sector.EPISODIC),
    ("Paris is the capital of France.", Sector.SEMANTIC),
    ("To deploy, first run make build, then click restart.", Sector.PROCEDURAL),
    ("I feel so lonely and sad, I hate it!!", Sector.EMOTIONAL),
    ("Looking back I realize the lesson: it taught me patience.", Sector.REFLECTIVE),
    ("昨天我们去了湖边。", Sector.EPISODIC),
    ("安装步骤:首先运行脚本,然后重启。", Sector.PROCEDURAL),
    ("我很难过,也很害怕。", Sector.EMOTIONAL),
    ("回想起来,我意识到这是一个教训。", Sector.REFLECTIVE),
    ("xyzzy", Sector.SEMANTIC),
    ("", Sector.SEMANTIC),
]


@pytest.mark.parametrize(("text", "sector"), KINDS)
def test_kinds_are_told_by_their_words(text: str, sector: Sector) -> None:
    kind = kind_of(text)
    assert kind.sector is sector
    assert sector not in kind.additional
    assert 0.0 <= kind.confidence < 1.0


@given(st.text(max_size=300))
def test_any_text_has_one_kind(text: str) -> None:
    kind = kind_of(text)
    assert kind == kind_of(text)
    assert len(set(kind.additional)) == len(kind.additional) <= 4


def test_others_count_beside_the_best_only_if_they_say_something() -> None:
    assert kind_of("Yesterday I felt so happy and proud").additional == (Sector.EPISODIC,)
    assert begun_of("Yesterday I felt so happy and proud", {})[1] == pytest.approx(0.5)
    assert begun_of("Yesterday I felt so happy and proud", {"sector": "procedural"}) == (
        Sector.PROCEDURAL,
        0.4,
    )
    assert begun_of("Yesterday", {"sector": "finance"})[0] is Sector.EPISODIC
