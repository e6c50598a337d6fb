"""First-person statements in Chinese: which words make which claim.

A statement is a clause that begins with 我 (after words such as 现在, 其实) and ends with its value:
我朋友住在, 我不是, 我想当 and 我叫王芳来 are other clauses by their form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hy_memory.profile.claim import BasicField, Claim
from hy_memory.text.gazetteer import DOUBLE_SURNAMES, HAN_ORGANISATIONS, HAN_PLACES, SURNAMES
from hy_memory.text.numerals import HAN_NUMBER, han_number

_CLAUSE = re.compile(r"[^，。！？；,!?;\n]+[，。！？；,!?;]?")
_UNREAL = re.compile(
    "如果|要是|假如|假设|假使|倘若|希望|想象|梦见|梦到|梦里|幻想|除非|等我|以为|假装|扮演|"
    "[说问写唱道][:：]?$|说过$|告诉我$|歌词|台词"
)
_QUESTION = re.compile("[吗么][？?]?$|[？?]$|什么|哪里|哪儿|谁|几岁|多大|是不是|有没有")
_PAST = "以前|之前|曾经|曾|小时候|原来|过去|从前|早年|当年"
_LEAD = (
    "(?:其实|对了|另外|现在|目前|最近|因为|所以|而且|不过|但是|但|是的|没错|你好|大家好|嗨|"
    "嗯|哦|那个|说起来|说实话|那么|那|"
    "今年|去年|前年|上个月|上周|刚刚|[:：\\s])*"
)
_NOW = (
    "(?:现在|目前|如今|今年|已经|已|一直|就|也|还|仍然|最近|刚刚|刚|上个月|上周|去年|前年|"
    "终于|正式|平时|\\d{4}年|从\\d{4}年起)*"
)
_TAIL = (
    "(?:了|啦|呢|啊|哦|呀|哈|好几年了|很多年了|[一二两三四五六七八九十\\d]+[年个月]+了|[。！，；!,;\\s])*$"
)
_MEASURE = "(?:一名|一位|一个|名|位|个)?"
_SUBJECT = f"^{_LEAD}我{_NOW}"
_ONCE = f"^{_LEAD}(?:我{_NOW}(?:{_PAST})|(?:{_PAST})我)(?:一直|也|还)*"

_VALUE = "(?P<value>[^的地得，。！？；,!?;\\n]{1,16}?)"
_JOBS = (
    "老师|教师|医生|大夫|护士|律师|工程师|程序员|设计师|会计师?|出纳|经理|总监|主管|销售|销售员|"
    "司机|厨师|警察|民警|记者|编辑|学生|"
    "大学生|研究生|博士生|研究员|教授|讲师|公务员|自由职业者|作家|画家|演员|歌手|摄影师|店长|"
    "店员|快递员|外卖员|飞行员|空姐|军人|农民|"
    "工人|客服|翻译|导游|瓦工|电工|木工|焊工|保安|顾问|咨询师|分析师|建筑师|药剂师|药师|牙医|"
    "兽医|教练|主播|主持人|助理|秘书|柜员|收银员|"
    "科学家|消防员|理发师|技术员|技师|产品经理|项目经理|架构师|运营|策划|文员|前台|采购|审计师|"
    "法官|检察官|校长|院长|老板|创业者|全职妈妈|"
    "家庭主妇|退休人员|服务员|营业员|化妆师|美容师|心理咨询师|健身教练|音乐人|作曲家|导演|"
    "编剧|测试员|业务员|推销员|图书管理员|社工|志愿者"
)
_JOB = f"(?P<value>[^的地得我你他她它们谁这那不，。！？；,!?;\\n]{{0,8}}?(?:{_JOBS}))"
_WORK = "(?:工作|上班|任职|就职|办公|当(?!年|时|天)[^的，。]{1,10}|做[^的，。]{1,10}|担任[^，。]{1,12})"

_PLACE_END = re.compile("[市省区县镇村路街州岛湾]$|街道|小区|花园|公寓|附近$|郊区|市区|城里$|乡下$")
_ORGANISATION_END = re.compile(
    "公司|集团|大学|学院|银行|医院|中学|小学|研究所|研究院|出版社|电视台|基金会|委员会|协会|"
    "事务所|法院|幼儿园|学校$|报社|"
    "[局厂站部]$|政府|俱乐部|工作室|诊所|超市$|餐厅$|酒店$"
)
_GENERIC = re.compile(
    "(?:一[家所个间]|这|那|某|我们?|他|她|家|外|公司|办公室|学校|医院|银行|国外|外地|本地|"
    "老家|附近|努力|认真|拼命|加班|天天|每天|一起|到处|远程|线上|网上|"
    "单位|工厂|大学|那边|这边|里面|晚上|白天|周末|深夜|地铁|路上|大公司|小公司|互联网公司|"
    "外企|国企|私企|体制内)"
)
_NAME = re.compile(f"(?:(?:{DOUBLE_SURNAMES})[\u4e00-\u9fff]{{1,2}}|[{SURNAMES}][\u4e00-\u9fff]{{1,2}})\\Z")
_NICKNAME = re.compile(
    "(?:[小老阿大][\u4e00-\u9fff]|[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*|([\u4e00-\u9fff])\\1)\\Z"
)
_PARTICLES = re.compile("(?:这里|那里|那边|这边|里|住|了|呢|啊|哦|呀|这个城市|这座城市)+$")
# Names of two characters are also words: 我叫安静, 我是高手.
_NO_NAMES = re.compile("[任高安白黄金马石万方平常]\\w\\Z|何时|许多|于是|周末|周\\w\\Z|老师$|朋友$|同学$")


def _name(value: str) -> str:
    return value if _NAME.match(value) or _NICKNAME.match(value) else ""


def _full_name(value: str) -> str:
    """Return the value of 我是… if it can be nothing but a name."""
    is_job = re.search(f"(?:{_JOBS})$", value) is not None
    return value if _NAME.match(value) and not _NO_NAMES.search(value) and not is_job else ""


def _age(value: str) -> str:
    number = han_number(value)
    return str(number) if number is not None and 3 <= number <= 115 else ""


def _place(value: str) -> str:
    place = _PARTICLES.sub("", value.replace("这个", ""))
    is_known = any(place.startswith(name) for name in HAN_PLACES) or _PLACE_END.search(place) is not None
    is_latin = re.fullmatch("[A-Z][A-Za-z ]+", place) is not None
    return place if (is_known or is_latin) and not _GENERIC.match(place) else ""


def _job(value: str) -> str:
    return "" if _GENERIC.match(value) else value.strip()


def _employer(value: str) -> str:
    organisation = value.removesuffix("里").strip()
    if _GENERIC.match(organisation) or organisation in HAN_PLACES:
        return ""
    is_known = organisation in HAN_ORGANISATIONS or _ORGANISATION_END.search(organisation) is not None
    is_latin = re.fullmatch("[A-Z][\\w& .-]+", organisation, re.ASCII) is not None
    return organisation if is_known or is_latin else ""


@dataclass(frozen=True, slots=True)
class _Rule:
    field: BasicField
    pattern: re.Pattern[str]
    accept: Callable[[str], str]
    is_past: bool = False


_LIVE = "(?:居住在|定居在|生活在|安家在|住在|常住在?|家住在?|家在|的家在|住)"
_MOVE = "(?:搬家到|搬到|搬去|搬来|搬回|迁到|移居到?|移民到?)了?"
_RULES = tuple(
    _Rule(field, re.compile(pattern), accept, is_past)
    for field, pattern, accept, is_past in (
        (BasicField.NAME, (
                f"{_SUBJECT}(?:的?(?:名字|姓名|全名|大名|本名))?(?:就|是)?(?:名叫|叫做|叫){_VALUE}{_TAIL}"
            ), _name, False),
        (BasicField.NAME, f"{_SUBJECT}的?(?:名字|姓名|全名|大名|本名)就?是{_VALUE}{_TAIL}", _name, False),
        (BasicField.NAME, f"{_SUBJECT}是{_VALUE}{_TAIL}", _full_name, False),
        (BasicField.NAME, (
                f"^{_LEAD}(?:大家都?|朋友们?都?|你可以|可以|请|你们可以)叫我{_VALUE}(?:就行|就好|"
                f"吧|即可|就可以)*{_TAIL}"
            ), _name, False),
        (BasicField.AGE, f"{_SUBJECT}(?:是|有|满)?(?P<value>{HAN_NUMBER})周?岁半?{_TAIL}", _age, False),
        (BasicField.AGE, f"{_SUBJECT}(?<=今年)(?P<value>{HAN_NUMBER}){_TAIL}", _age, False),
        (BasicField.AGE, f"{_SUBJECT}的年龄是(?P<value>{HAN_NUMBER})岁?{_TAIL}", _age, False),
        (BasicField.LOCATION, f"{_SUBJECT}{_LIVE}{_VALUE}{_TAIL}", _place, False),
        (BasicField.LOCATION, f"{_SUBJECT}(?:从[^，。]{{1,8}})?{_MOVE}{_VALUE}{_TAIL}", _place, False),
        (BasicField.LOCATION, f"{_SUBJECT}在{_VALUE}(?:定居|生活|居住|安家|长住|常住){_TAIL}", _place, False),
        (BasicField.LOCATION, f"{_ONCE}{_LIVE}过?{_VALUE}过?{_TAIL}", _place, True),
        (BasicField.LOCATION, f"{_ONCE}在{_VALUE}(?:定居|生活|居住|住)过?{_TAIL}", _place, True),
        (BasicField.OCCUPATION, f"{_SUBJECT}是{_MEASURE}{_JOB}{_TAIL}", _job, False),
        (BasicField.OCCUPATION, (
                f"{_SUBJECT}的(?:职业|工作|岗位|职位)就?是{_MEASURE}{_JOB}{_TAIL}"
            ), _job, False),
        (BasicField.OCCUPATION, (
                f"{_SUBJECT}(?:在[^，。]{{1,16}})?(?:当|做|担任|成为)了?{_MEASURE}{_JOB}{_TAIL}"
            ), _job, False),
        (BasicField.OCCUPATION, (
                f"{_ONCE}(?:在[^，。]{{1,16}})?(?:是|当|做|担任)过?{_MEASURE}{_JOB}{_TAIL}"
            ), _job, True),
        (BasicField.EMPLOYER, f"{_SUBJECT}在{_VALUE}{_WORK}{_TAIL}", _employer, False),
        (BasicField.EMPLOYER, f"{_SUBJECT}(?:就职|任职|供职|受雇)于{_VALUE}{_TAIL}", _employer, False),
        (BasicField.EMPLOYER, (
                f"{_SUBJECT}们?的?(?:公司|单位|雇主)(?:是|叫){_VALUE}{_TAIL}"
            ), _employer, False),
        (BasicField.EMPLOYER, f"{_ONCE}在{_VALUE}{_WORK}过?{_TAIL}", _employer, True),
        (BasicField.EMPLOYER, f"{_SUBJECT}从{_VALUE}(?:离职|辞职|退休){_TAIL}", _employer, True),
    )
)  # fmt: skip
_LONGEST_CLAUSE = 80  # a plain statement is shorter
_SPEAKING_AS = re.compile(f"^{_LEAD}(?:作为|身为)(?:一名|一位|一个)?{_JOB}{_TAIL}")


def chinese_claims(text: str) -> Iterator[Claim]:
    """Yield what normalised `text` says of its speaker, clause by clause."""
    if "我" not in text:
        return
    clauses = [found[0].strip() for found in _CLAUSE.finditer(text)]
    goes_on = False
    for place, clause in enumerate(clauses):
        before = clauses[place - 1].rstrip("，,") if place else ""
        after = clauses[place + 1] if place + 1 < len(clauses) else ""
        is_long = len(clause) > _LONGEST_CLAUSE
        if is_long or _UNREAL.search(before) or _UNREAL.search(clause) or _QUESTION.search(clause):
            goes_on = False
            continue
        if "我" in clause or goes_on:
            # 我叫李明，今年三十二岁，住在上海: the subject is said once
            claims = list(_claims(clause if "我" in clause else f"我{clause}"))
            goes_on = bool(claims) and clause[-1] in "，,"
            yield from claims
        elif after.startswith("我") and (found := _SPEAKING_AS.match(clause)):
            yield Claim(BasicField.OCCUPATION, found["value"], clause.rstrip("，,"), False)


def _claims(clause: str) -> Iterator[Claim]:
    for rule in _RULES:
        found = rule.pattern.match(clause)
        if found and (value := rule.accept(found["value"])):
            yield Claim(rule.field, value, found[0].rstrip("，。！；,!; "), rule.is_past)
