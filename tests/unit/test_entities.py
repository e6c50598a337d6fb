"""Entities: what counts as one, what does not, and which mentions meet."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hy_memory.text.entities import EntityKind, entities, entity_keys

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]))  # surrogates too
PERSON, PLACE, ORGANISATION = EntityKind.PERSON, EntityKind.PLACE, EntityKind.ORGANISATION
DATE, IDENTIFIER, CODE, OTHER = EntityKind.DATE, EntityKind.IDENTIFIER, EntityKind.CODE, EntityKind.OTHER


@pytest.mark.parametrize(
    ("text", "kind", "surface", "key"),
    [
        # people
        ("I saw Dr. Moreau today", PERSON, "Dr. Moreau", "moreau"),
        ("lunch with Claire Moreau", PERSON, "Claire Moreau", "claire moreau"),
        ("Maya is here", PERSON, "Maya", "maya"),
        ("this is Maya's bike", PERSON, "Maya", "maya"),
        ("thanks, Thandiwe!", PERSON, "Thandiwe", "thandiwe"),
        ("my sister Oluchi sings", PERSON, "Oluchi", "oluchi"),
        ("then Bogumil said no", PERSON, "Bogumil", "bogumil"),
        ("we met Will there", PERSON, "Will", "will"),
        ("my dog is called Pixel", PERSON, "Pixel", "pixel"),
        ("Aunt Petunia came", PERSON, "Aunt Petunia", "petunia"),
        ("see Jean-Luc soon", PERSON, "Jean-Luc", "jean luc"),
        ("a letter for José", PERSON, "José", "jose"),
        ("what does caroline like?", PERSON, "caroline", "caroline"),
        ("我叫王芳", PERSON, "王芳", "王芳"),
        ("我同事的名字叫赵雅婷。", PERSON, "赵雅婷", "赵雅婷"),
        ("王思琪的生日", PERSON, "王思琪", "王思琪"),
        ("张伟教授来了", PERSON, "张伟", "张伟"),
        ("王老师说得对", PERSON, "王老师", "王老师"),
        ("欧阳修文是诗人", PERSON, "欧阳修文", "欧阳修文"),
        ("朋友李明在这里", PERSON, "李明", "李明"),
        ("小李和我吃饭", PERSON, "小李", "小李"),
        ("表哥Oliver来了", PERSON, "Oliver", "oliver"),
        # places
        ("we flew to Lyon", PLACE, "Lyon", "lyon"),
        ("I moved to Quimper", PLACE, "Quimper", "quimper"),
        ("New York is loud", PLACE, "New York", "new york"),
        ("she lives on Baker Street", PLACE, "Baker Street", "baker street"),
        ("a walk in Parc Monceau Gardens", PLACE, "Parc Monceau Gardens", "parc monceau gardens"),
        ("hiking Mount Kosciuszko", PLACE, "Mount Kosciuszko", "mount kosciuszko"),
        ("is it warm in berlin", PLACE, "berlin", "berlin"),
        ("我住在上海市", PLACE, "上海", "上海"),
        ("他去了徐汇区工作", PLACE, "徐汇区", "徐汇区"),
        ("我们在海滨公园散步", PLACE, "海滨公园", "海滨公园"),
        ("从虹桥机场出发", PLACE, "虹桥机场", "虹桥机场"),
        ("妈妈在挪威", PLACE, "挪威", "挪威"),
        # organisations
        ("hired by Acme Robotics Inc.", ORGANISATION, "Acme Robotics Inc", "acme robotics"),
        ("at Acme Robotics GmbH", ORGANISATION, "Acme Robotics GmbH", "acme robotics"),
        ("studies at the University of Lyon", ORGANISATION, "University of Lyon", "university of lyon"),
        ("a nurse at St. Mary's Hospital", ORGANISATION, "St. Mary's Hospital", "st marys hospital"),
        ("the Baxter Foundation pays", ORGANISATION, "Baxter Foundation", "baxter foundation"),
        ("我在北京大学读书", ORGANISATION, "北京大学", "北京大学"),
        ("腾讯公司的产品", ORGANISATION, "腾讯公司", "腾讯"),
        ("她在青岛飞驰速递公司上班", ORGANISATION, "青岛飞驰速递公司", "青岛飞驰速递"),
        ("去招商银行取钱", ORGANISATION, "招商银行", "招商银行"),
        ("协和医院的医生", ORGANISATION, "协和医院", "协和医院"),
        ("用华为手机", ORGANISATION, "华为", "华为"),
        # dates
        ("on 7 May 2023", DATE, "7 May 2023", "2023-05-07"),
        ("due 2023-05-07.", DATE, "2023-05-07", "2023-05-07"),
        ("时间是2024-04-12 14:00", DATE, "2024-04-12", "2024-04-12"),
        ("生日是3月28日", DATE, "3月28日", "--03-28"),
        ("since May 2023", DATE, "May 2023", "2023-05"),
        # identifiers
        ("write to Foo.Bar@Example.org.", IDENTIFIER, "Foo.Bar@Example.org", "foo.bar@example.org"),
        (
            "see https://www.example.org/a/b/, ok",
            IDENTIFIER,
            "https://www.example.org/a/b/",
            "example.org/a/b",
        ),
        ("use v2.0.6 now", IDENTIFIER, "v2.0.6", "2.0.6"),
        ("in /usr/local/bin", IDENTIFIER, "/usr/local/bin", "/usr/local/bin"),
        ("open src/foo.py", IDENTIFIER, "src/foo.py", "src/foo.py"),
        ("read GOALS.md", IDENTIFIER, "GOALS.md", "goals.md"),
        ("fix ABC-123", IDENTIFIER, "ABC-123", "abc-123"),
        ("closes #42", IDENTIFIER, "#42", "#42"),
        ("commit deadbeef01", IDENTIFIER, "deadbeef01", "deadbeef01"),
        ("电话是13912345678。", IDENTIFIER, "13912345678", "13912345678"),
        ("call +49 170 1234567", IDENTIFIER, "+49 170 1234567", "491701234567"),
        ("ask @sneakpeak", IDENTIFIER, "@sneakpeak", "@sneakpeak"),
        # code
        ("call foo_bar please", CODE, "foo_bar", "foobar"),
        ("call fooBar please", CODE, "fooBar", "foobar"),
        ("run `git rebase`", CODE, "git rebase", "gitrebase"),
        ("then main.run() fails", CODE, "main.run()", "main.run"),
        ("I like C++ most", CODE, "C++", "c++"),
        # other names
        ("reading about Zotero", OTHER, "Zotero", "zotero"),
        ("the NASA mission", OTHER, "NASA", "nasa"),
        ("playing The Legend of Zelda", OTHER, "Legend of Zelda", "legend of zelda"),
        ("我读了《三体》", OTHER, "三体", "三体"),
    ],
)
def test_a_name_is_found(text: str, kind: EntityKind, surface: str, key: str) -> None:
    assert [(one.kind, one.surface, one.key) for one in entities(text)] == [(kind, surface, key)]


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday was fun. Great job! Maybe tomorrow.",
        "Will you come? May I? Mark my words. Hope it helps. Grace under pressure.",
        "I'm OK, LOL, it is 5 PM on TV",
        "On Monday in May we speak English",
        "Merry Christmas and a Happy New Year",
        "THIS IS ALL SHOUTING",
        "oh my God, Mom and Dad are here",
        "## Define Your Project Scope",
        "1. **Budget Allocation and Approval**: soon",
        "Hello World",
        "Sunday best, second to none",
        "we will march in may with grace and joy",
        "the turkey was nice in a china bowl",
        "well-known, state-of-the-art, and/or",
        "at 10:30, 3.5 of 10, 1,000 people, 50%",
        "e.g. this, i.e. that, etc.",
        "5/10 would do it again",
        "from 1990-2020",
        "Good Morning. Thank You. See You",
        "so... what? no!",
        "she has an iPhone",
        "dead beef and a facade",
        "高兴的时候我们去超市",
        "周末在家，周一上班",
        "黄色的花和白色的云",
        "任何方法都方便",
        "马上就到，高速公路的服务区",
        "石头、金字塔的照片",
        "小区里有老人和小孩",
        "这家公司很大",
        "我们学校是大学",
        "附近的医院和银行",
        "互联网公司和软件公司",
        "去公园散步，在广场跳舞",
        "不知道公园里有没有人",
        "如果银行关门了",
        "走路上街逛超市",
        "思路在全省",
        "我去骨科医院",
        "时间过得很快，他说去游泳",
        "老师说我们都要来",
        "一个小时和三个月",
        "美食盛宴·高球趣的时间",
        "谢谢你的帮助，许多人在等",
        "",
        "   ",
        "🎉🎉 ❤️",
    ],
)
def test_no_name_is_made_up(text: str) -> None:
    assert entities(text) == ()


def test_many_in_one_sentence_keep_their_order() -> None:
    text = "Yesterday Maya Chen met Dr. Moreau of Acme Robotics GmbH in Lyon about ABC-123 and foo_bar."
    assert [one.key for one in entities(text)] == [
        "maya chen",
        "moreau",
        "acme robotics",
        "lyon",
        "abc-123",
        "foobar",
    ]


def test_one_entity_counts_once() -> None:
    assert [one.surface for one in entities("I saw Lyon. In Lyon, oh Lyon, we met Lyon's mayor.")] == ["Lyon"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I met Claire Moreau", "who is Claire?"),
        ("I met Claire Moreau", "what about Dr. Moreau?"),
        ("a job at Acme Robotics Inc.", "is Acme Robotics GmbH rich"),
        ("written on 7 May 2023", "2023年5月7日的事"),
        ("due 2023-05-07", "on May 7th, 2023"),
        ("call foo_bar", "where is fooBar"),
        ("https://www.example.org/x/", "the page http://example.org/x"),
        ("upgrade to v2.0.6", "is 2.0.6 out"),
        ("they live in LYON now, he said to me", "how is Lyon"),
        ("we met Zoë", "where is zoe now"),
        ("我在腾讯公司", "她在腾讯上班"),
        ("北京市很大", "北京的天气"),
        ("Ｍａｙａ is nice", "ask Maya"),
    ],
)
def test_mentions_of_one_thing_meet(one: str, other: str) -> None:
    assert entity_keys(one) & entity_keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I met Claire Moreau", "who is Maya?"),
        ("in Lyon", "in Oslo"),
        ("王芳说好", "我叫王丽"),
        ("on 7 May 2023", "on 8 May 2023"),
        ("fix ABC-123", "fix ABC-124"),
        ("use v2.0.6", "use v2.0.7"),
    ],
)
def test_mentions_of_two_things_do_not(one: str, other: str) -> None:
    assert not entity_keys(one) & entity_keys(other)


NAMES = st.sampled_from(
    [
        "Maya Chen",
        "Dr. Moreau",
        "Acme Inc.",
        "王芳",
        "王老师说",
        "北京大学",
        "2023-05-07",
        "foo_bar",
        "`x`",
        "St.",
        "《",
    ]
)


@given(st.lists(NAMES | ANY_TEXT, max_size=5))
@example(["Ü", "\ud83d", "I"])
@example(["The The", "of of Of"])
def test_any_text_is_read(parts: list[str]) -> None:
    found = entities(" ".join(parts))
    assert all(one.key and one.surface and one.key == one.key.strip() for one in found)
    assert len({(one.kind, one.key) for one in found}) == len(found)
    assert {one.key for one in found} <= entity_keys(" ".join(parts))


@pytest.mark.parametrize(
    "piece", ["Aa ", "A.", "a_", "1.", "王", "大学", "`", "Dr. ", "@a", "/a", "A-1", "的王芳", "['"]
)
def test_long_texts_come_to_an_end(piece: str) -> None:
    """Quadratic rules would not end before the suite's own timeout."""
    entities(piece * 20_000)
