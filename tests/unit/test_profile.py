"""The profile: what a text says of its speaker, what it does not, and how claims become a profile."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hy_memory.profile.extract import BasicField, basic_info
from hy_memory.profile.fold import Evidence, profile

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))  # surrogates too
NAME, AGE, LOCATION = BasicField.NAME, BasicField.AGE, BasicField.LOCATION
OCCUPATION, EMPLOYER = BasicField.OCCUPATION, BasicField.EMPLOYER


def said(text: str) -> set[tuple[BasicField, str, bool]]:
    return {(one.field, one.value, one.is_past) for one in basic_info(text, speaker_is_owner=True)}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("I'm Maya", NAME, "Maya"),
        ("Hi there, I’m Maya Chen.", NAME, "Maya Chen"),
        ("My name is Ludwig van Beek, nice to meet you", NAME, "Ludwig van Beek"),
        ("my name's Thandiwe", NAME, "Thandiwe"),
        ("my name is caroline", NAME, "Caroline"),
        ("Everyone calls me Sasha.", NAME, "Sasha"),
        ("You can call me Ben", NAME, "Ben"),
        ("I'm Grace and this is my dog", NAME, "Grace"),
        ("I am Tom from accounting", NAME, "Tom"),
        ("我叫王芳", NAME, "王芳"),
        ("大家好，我叫欧阳修文。", NAME, "欧阳修文"),
        ("我的名字是李明", NAME, "李明"),
        ("我是张伟杰", NAME, "张伟杰"),
        ("大家都叫我小李", NAME, "小李"),
        ("我叫Oliver", NAME, "Oliver"),
        ("I'm 32", AGE, "32"),
        ("I am 32 years old now", AGE, "32"),
        ("I'm thirty-two years old", AGE, "32"),
        ("I just turned 40!", AGE, "40"),
        ("I turned 29 yesterday", AGE, "29"),
        ("My age is 51", AGE, "51"),
        ("我今年32岁", AGE, "32"),
        ("我今年三十二岁了", AGE, "32"),
        ("我已经四十岁了。", AGE, "40"),
        ("我今年28", AGE, "28"),
        ("我的年龄是45岁", AGE, "45"),
        ("I live in Lyon", LOCATION, "Lyon"),
        ("I currently live in San Francisco, California.", LOCATION, "San Francisco, California"),
        ("I live in the Netherlands with my cat", LOCATION, "Netherlands"),
        ("i live in new york", LOCATION, "New York"),
        ("I moved to Oslo", LOCATION, "Oslo"),
        ("I've just moved to Quimper for work", LOCATION, "Quimper"),
        ("I relocated to Porto last spring", LOCATION, "Porto"),
        ("I'm based in Berlin", LOCATION, "Berlin"),
        ("I've been living in Kyoto for two years", LOCATION, "Kyoto"),
        ("We moved to Toronto in May", LOCATION, "Toronto"),
        ("我住在上海", LOCATION, "上海"),
        ("我现在住在北京市朝阳区。", LOCATION, "北京市朝阳区"),
        ("我家在杭州", LOCATION, "杭州"),
        ("我去年搬到了深圳", LOCATION, "深圳"),
        ("我在成都定居了", LOCATION, "成都"),
        ("我住在锦绣江南这个小区。", LOCATION, "锦绣江南小区"),
        ("我移居到柏林了", LOCATION, "柏林"),
        ("I work as a nurse", OCCUPATION, "nurse"),
        ("I'm a software engineer", OCCUPATION, "software engineer"),
        ("I am currently working as a tour guide in town", OCCUPATION, "tour guide"),
        ("I'm an architect by trade", OCCUPATION, "architect"),
        ("I became a pilot", OCCUPATION, "pilot"),
        ("I'm a professor of physics", OCCUPATION, "professor of physics"),
        ("My job is accountant", OCCUPATION, "accountant"),
        ("我是老师", OCCUPATION, "老师"),
        ("我是一名软件工程师", OCCUPATION, "软件工程师"),
        ("我的职业是律师", OCCUPATION, "律师"),
        ("我当了医生", OCCUPATION, "医生"),
        ("作为一个医生，我很在意细节", OCCUPATION, "医生"),
        ("I work at Acme Robotics", EMPLOYER, "Acme Robotics"),
        ("I work for the University of Lyon", EMPLOYER, "University of Lyon"),
        ("I'm working at Tesla now", EMPLOYER, "Tesla"),
        ("I've worked at Acme for ten years", EMPLOYER, "Acme"),
        ("I started working at Bosch", EMPLOYER, "Bosch"),
        ("I got a new job at St. Mary's.", EMPLOYER, "St. Mary's"),
        ("我在腾讯上班", EMPLOYER, "腾讯"),
        ("我在北京大学工作", EMPLOYER, "北京大学"),
        ("我就职于招商银行", EMPLOYER, "招商银行"),
        ("我们公司叫青岛飞驰速递公司", EMPLOYER, "青岛飞驰速递公司"),
    ],
)
def test_a_statement_is_one_claim(text: str, field: BasicField, value: str) -> None:
    assert said(text) == {(field, value, False)}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I work as a nurse at St. Mary's.", {(OCCUPATION, "nurse", False), (EMPLOYER, "St. Mary's", False)}),
        ("I'm a data analyst at Acme", {(OCCUPATION, "data analyst", False), (EMPLOYER, "Acme", False)}),
        ("I moved from Lyon to Oslo", {(LOCATION, "Oslo", False), (LOCATION, "Lyon", True)}),
        (
            "I'm Maya, a 32-year-old nurse",
            {(NAME, "Maya", False), (AGE, "32", False), (OCCUPATION, "nurse", False)},
        ),
        (
            "我叫李明，今年三十二岁，住在上海，是一名老师",
            {
                (NAME, "李明", False),
                (AGE, "32", False),
                (LOCATION, "上海", False),
                (OCCUPATION, "老师", False),
            },
        ),
        ("I used to live in Paris", {(LOCATION, "Paris", True)}),
        ("I lived in Rome back then", {(LOCATION, "Rome", True)}),
        ("I grew up in Lagos", {(LOCATION, "Lagos", True)}),
        ("I used to be a teacher", {(OCCUPATION, "teacher", True)}),
        ("I was a waiter as a teenager", {(OCCUPATION, "waiter", True)}),
        ("I worked at Acme", {(EMPLOYER, "Acme", True)}),
        ("I quit my job at Acme", {(EMPLOYER, "Acme", True)}),
        ("我以前住在北京", {(LOCATION, "北京", True)}),
        ("小时候我住在武汉", {(LOCATION, "武汉", True)}),
        ("我曾经在腾讯工作过", {(EMPLOYER, "腾讯", True)}),
        ("我以前是老师", {(OCCUPATION, "老师", True)}),
        ("我从华为离职了", {(EMPLOYER, "华为", True)}),
    ],
)
def test_several_claims_and_past_ones(text: str, claims: set[tuple[BasicField, str, bool]]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Rome?",
        "Guess if I live in Rome",
        "if I lived in Rome, I would be glad",
        "I wish I lived in Rome",
        "I want to live in Oslo",
        "I might move to Oslo",
        "I'm moving to Oslo next month",
        "I don't live in Lyon",
        "my sister lives in Lyon",
        "She said I live in Lyon",
        'He wrote "I live in Lyon" on the wall',
        "I dreamt that I lived in Lyon",
        "when I move to Oslo I will ski",
        "I live in fear",
        "I live in a small flat",
        "I moved to Python from Java",
        "we moved to Slack",
        "I moved to a new desk",
        "I moved to Tuesday",
        "I'm from Lyon",
        "I'm Maya's sister",
        "I'm Austin based",
        "I'm Happy",
        "my name is on the list",
        "my name is not important",
        "My friend's name is Maya",
        "I'm 32 weeks pregnant",
        "I'm 5 minutes away",
        "I'm 100% sure",
        "I'm 87.5% toward my goal",
        "I'm turning 30",
        "when I'm 64",
        "I was 32 when we met",
        "I feel 20",
        "my son is 5 years old",
        "I'm a big fan",
        "I'm a great cook and a good driver",
        "I'm a teacher's pet",
        "I'm a bit of a writer",
        "I'm not a doctor",
        "I want to be a doctor",
        "my wife is a doctor",
        "I work at home",
        "I work for myself",
        "I work in London",
        "do you think I'm a doctor?",
        "imagine I'm a pilot",
        "我朋友住在广州",
        "我妈妈是老师",
        "如果我住在上海就好了",
        "我想住在上海",
        "我打算搬到深圳",
        "我不是老师",
        "我是老师吗？",
        "我没住在上海",
        "他说，我是老师",
        "妈妈说我是老师",
        "我叫王芳来吃饭",
        "我叫外卖",
        "我叫了一声",
        "我32岁那年",
        "我儿子今年5岁",
        "我在努力工作",
        "我在家工作",
        "我在上海工作",
        "我在公司上班",
        "我是他的老师",
        "我想当医生",
        "我是谁",
        "我住在哪里？",
        "我住三楼",
        "梦见我是警察",
        "王芳住在上海",
        "",
    ],
)
def test_nothing_is_claimed(text: str) -> None:
    assert said(text) == set()


def test_another_speaker_says_nothing_of_the_owner() -> None:
    assert basic_info("I'm Maya and I live in Lyon", speaker_is_owner=False) == ()


PHRASES = st.sampled_from(
    [
        "I'm Maya",
        "I live in Lyon",
        "I'm 32.",
        "my name is",
        "I work at",
        "我叫",
        "我今年32岁",
        "我住在上海",
        "，",
        "?",
        '"',
    ]
)


@given(st.lists(PHRASES | ANY_TEXT, max_size=5))
@example(["I'm \ud83d", "我住在\udc00"])
def test_any_text_is_read(parts: list[str]) -> None:
    text = " ".join(parts)
    for one in basic_info(text, speaker_is_owner=True):
        assert one.value.strip() == one.value != ""
        assert one.surface
    assert basic_info(text, speaker_is_owner=False) == ()


@pytest.mark.parametrize(
    "piece",
    ["I'm A", "I'm a nurse ", "I live in Aa ", "my name is ", "我在", "我住在上海", "St.", "I work as a "],
)
def test_long_texts_come_to_an_end(piece: str) -> None:
    """Quadratic rules would not end before the suite's own timeout."""
    basic_info(piece * 4_000, speaker_is_owner=True)


def fact(field: BasicField, value: str, memory_id: str, at: float, is_past: bool = False) -> Evidence:
    return Evidence(field, value, memory_id, at, is_past)


def test_the_latest_value_holds_and_the_history_is_kept() -> None:
    made = profile(
        [
            fact(LOCATION, "Lyon", "m1", 1.0),
            fact(LOCATION, "lyon", "m2", 2.0),
            fact(LOCATION, "Oslo", "m3", 3.0),
            fact(NAME, "Maya", "m1", 1.0),
        ]
    )
    assert made.value(LOCATION) == "Oslo"
    assert made.value(NAME) == "Maya"
    assert made.value(AGE) is None
    location = made.fields[1]
    assert [(one.value, one.first_at, one.last_at, one.memory_ids) for one in location.history] == [
        ("Lyon", 1.0, 2.0, ("m1", "m2")),
        ("Oslo", 3.0, 3.0, ("m3",)),
    ]


def test_a_return_is_a_new_period() -> None:
    made = profile([fact(LOCATION, value, f"m{at}", at) for at, value in enumerate(["Lyon", "Oslo", "Lyon"])])
    assert [one.value for one in made.fields[0].history] == ["Lyon", "Oslo", "Lyon"]
    assert made.value(LOCATION) == "Lyon"


def test_what_is_over_is_not_current() -> None:
    made = profile([fact(EMPLOYER, "Acme", "m1", 1.0), fact(EMPLOYER, "Acme", "m2", 2.0, is_past=True)])
    assert made.value(EMPLOYER) is None
    assert made.fields[0].history[0].memory_ids == ("m1", "m2")


def test_a_past_told_late_comes_before_the_present() -> None:
    made = profile([fact(LOCATION, "Oslo", "m1", 1.0), fact(LOCATION, "Lyon", "m2", 2.0, is_past=True)])
    assert [(one.value, one.is_past) for one in made.fields[0].history] == [("Lyon", True), ("Oslo", False)]
    assert made.value(LOCATION) == "Oslo"


@pytest.mark.parametrize(
    ("field", "first", "second", "current"),
    [
        (NAME, "Maya Chen", "Maya", "Maya Chen"),
        (LOCATION, "Lyon", "Lyon, France", "Lyon, France"),
        (LOCATION, "北京市朝阳区", "北京", "北京市朝阳区"),
        (EMPLOYER, "Acme", "ACME", "Acme"),
    ],
)
def test_a_longer_form_is_a_restatement(field: BasicField, first: str, second: str, current: str) -> None:
    made = profile([fact(field, first, "m1", 1.0), fact(field, second, "m2", 2.0)])
    assert made.value(field) == current
    assert len(made.fields[0].history) == 1


@pytest.mark.parametrize(
    ("field", "first", "second"), [(AGE, "3", "32"), (OCCUPATION, "nurse", "senior nurse")]
)
def test_other_fields_change_with_their_words(field: BasicField, first: str, second: str) -> None:
    made = profile([fact(field, first, "m1", 1.0), fact(field, second, "m2", 2.0)])
    assert made.value(field) == second
    assert len(made.fields[0].history) == 2


EVIDENCE = st.builds(
    Evidence,
    st.sampled_from([NAME, LOCATION]),
    st.sampled_from(["Lyon", "lyon", "Lyon, France", "Oslo", "北京", "北京市", ""]),
    st.sampled_from(["m1", "m2", "m3"]),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.booleans(),
)


@given(st.lists(EVIDENCE, max_size=8), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(evidence: list[Evidence], order: Random) -> None:
    shuffled = evidence + evidence[:3]
    order.shuffle(shuffled)
    assert profile(shuffled) == profile(evidence)


@given(st.lists(EVIDENCE, max_size=8))
def test_the_current_value_was_said_and_all_evidence_is_kept(evidence: list[Evidence]) -> None:
    made = profile(evidence)
    for one in made.fields:
        mine = [each for each in evidence if each.field is one.field]
        assert {each.memory_id for each in mine} == {
            each for period in one.history for each in period.memory_ids
        }
        assert {period.value for period in one.history} <= {each.value for each in mine}
        if one.current is not None:
            assert any(not each.is_past for each in mine)
            assert one.current.value == made.value(one.field)
