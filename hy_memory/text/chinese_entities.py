"""Names in Chinese, which marks none: by surname and context, by ending, by list.

There is no dictionary and no segmentation.  A surname and one or two characters are a name
only beside words that make them one (叫王芳, 王芳老师, 王思琪的, 李明说), an ending such as 大学 only behind
something that is no common word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hy_memory.text.entity import Entity, EntityKind, Mention, name_key
from hy_memory.text.gazetteer import DOUBLE_SURNAMES, HAN_ORGANISATIONS, HAN_PLACES, SURNAMES, names

_HAN = "\u4e00-\u9fff"
_SURNAME = f"(?:{DOUBLE_SURNAMES}|[{SURNAMES}])"
# Characters of grammar, that no given name holds.
_GRAMMAR = "的了在是和跟与我你他她它这那不没也都还要会说去来到吗呢吧啊么就很把被给对从向为之们个些哪谁"
_GIVEN = f"(?:(?![{_GRAMMAR}])[{_HAN}])"
_TITLES = (
    "老师|医生|大夫|教授|经理|先生|女士|小姐|同学|总监|律师|护士|主任|阿姨|叔叔|师傅|警官|博士|院长|校长|局长|队长|教练|"
    "老板|主管|部长|处长|科长|书记|奶奶|爷爷|伯伯|大爷|大妈|大姐|大哥|导师|工程师"
)
_KIN = (
    "同事|同学|朋友|闺蜜|室友|老板|上司|领导|邻居|老师|[表堂]?[哥姐弟妹]|哥哥|姐姐|弟弟|妹妹|爸爸|妈妈|父亲|母亲|丈夫|妻子|老公|"
    "老婆|儿子|女儿|舅舅|舅妈|叔叔|婶婶|阿姨|伯伯|姑姑|姨妈|外甥|侄子|侄女|下属|男友|女友|男朋友|女朋友|客户|医生|教练"
)
# After a name: the end of the clause, or a word of grammar or speech.
_AFTER = (
    f"(?=[^{_HAN}\\w]|$|[的在是和跟与说去来给也都就把被对很今]|告诉|喜欢|觉得|问我|问了|一起|住在|发来|打来)"
)
_BEFORE = f"(?<![{_HAN}\\w·])"

_PERSON = re.compile(
    f"(?:名叫|名字叫|名字是|姓名是|叫做|叫|认识了?|姓名[:：]|{_KIN})(?P<cued>{_SURNAME}(?:{_GIVEN}){{1,2}}?){_AFTER}"
    f"|(?P<titled>{_SURNAME}(?:{_GIVEN}){{0,2}}?)(?P<title>{_TITLES})"
    f"|(?P<boss>[{SURNAMES}](?:总|工|哥|姐)){_AFTER}"
    f"|{_BEFORE}(?P<subject>{_SURNAME}(?:{_GIVEN}){{2}})(?=[的是和跟与今]|在|说|告诉|喜欢|问)"
    f"|{_BEFORE}(?P<speaker>{_SURNAME}{_GIVEN})(?=说|告诉|问我|今年|的生日|的电话|的手机|的邮箱)"
    f"|(?P<familiar>[小老阿][王李张刘陈杨赵吴徐孙朱胡郭林罗郑梁谢宋唐许邓冯韩曹曾彭蔡潘田董袁余蒋杜苏魏吕丁沈姚卢傅钟崔廖汪范陆周何])"
    f"(?=[^{_HAN}\\w]|$|[的在是和跟与说去来给也都就把被对很]|告诉|喜欢|觉得)"
)
_PERSON_GROUPS = ("cued", "titled", "boss", "subject", "speaker", "familiar")
# Words that begin with a character that is also a surname.
_NO_NAMES = names(
    """
高速 高兴 高中 高级 高原 高铁 高考 高等 高温 高质 高端 高层 马拉 马上 马路 马桶 金字 金融 金属 金钱 金色
石头 石油 石榴 白天 白色 白领 白酒 黄色 黄金 黄河 黄山 黄瓜 方法 方便 方向 方面 方案 方式 方言 任何 任务
任意 何时 何况 何必 何处 江南 江边 江湖 于是 于此 万一 万事 万人 万元 周末 周围 周边 周年 周一 周二 周三
周四 周五 周六 周日 周期 周岁 程序 程度 夏天 夏季 夏日 夏令 夏夜 秦岭 田野 田径 田园 宋代 宋朝 唐朝 唐代
唐诗 韩国 韩语 韩式 韩剧 谢谢 许多 许愿 曾经 曾是 董事 余下 余额 余生 叶子 杜绝 钟头 钟表 汪汪 范围 陆地
陆续 熊猫 雷达 雷声 雷雨 段落 段时 毛巾 毛病 毛衣 毛笔 顾客 顾虑 顾问 严格 严重 严肃 钱包 钱财 汤圆 武术
武器 武侠 武汉 孔雀 史上 史料 康复 林业 林间 林荫 罗马 郑重 郑州 胡同 胡说 胡子 胡萝 孙子 孙女 徐徐 徐州
杨树 杨梅 陈述 陈旧 陈列 刘海 张开 张贴 张家 李子 王国 王者 王子 王牌 王府 苏州 苏打 萧条 安全 安排 安静
贺卡 贺岁 龙舟 龙虾 黎明 侯车 邮箱 常常 温暖 温度 计划 石家 金牌 金额 金闪 白茫 黄澄 高尔 万物 万圣 万科
高手 高大 高山 高三 高二 高一 康健 陆家 夏威 马来 马戏 马克 马德 汤姆 罗密 莫名 莫非 莫斯 丁香 章节 平时
文章
"""
)

_ORGANISATION_END = (
    "公司|集团|大学|学院|银行|医院|中学|小学|研究所|研究院|出版社|电视台|基金会|委员会|协会|事务所|"
    "法院|幼儿园|俱乐部|实验室"
)
_PLACE_END = "火车站|高铁站|机场|公园|广场|大道|大厦|博物馆|图书馆|体育馆|美术馆|古镇|步行街|大桥"
_ENDING = re.compile(f"(?P<organisation>{_ORGANISATION_END})|(?P<place>{_PLACE_END})")
# Words of grammar and of going and being somewhere end the search to the left.
_CUT = re.compile(
    f".*(?:[^{_HAN}\\w·]|"
    "[的了在从于跟与是我你他她它们这那个把被给过着吗呢吧去到进入往向离为对及或某每所家间座条位叫很有没找看逛不但可应想因儿后]|"
    "中(?![国山央信科原南华铁建海石关])|(?<![协颐共])和|如果|感觉|觉得|知道|参加|将要|分享|天黑|[今明昨]天|[早晚]上|"
    "考上|加入|毕业|就读|参观|路过|来自|前往|附近|隔壁|工作|上班|邀请|任职|位于|通过|担任|经营|开了?)"
)
_STEM = re.compile(f"[{_HAN}A-Za-z0-9·]{{2,10}}\\Z")
_GENERIC = re.compile(
    "(?:我们|你们|他们|一|两|几|本|该|此|大|小|新|老|母|子|分|总|上市|外贸|外资|国有|国企|民营|私人|私营|跨国|有限|股份有限|责任有限|互联网|网络|科技|软件|"
    "信息|技术|高科技|传媒|文化|建筑|物流|快递|保险|证券|投资|金融|广告|游戏|旅游|房地产|房产|医药|制药|电商|设计|咨询|贸易|能源|汽车|食品|出版|影视|"
    "本科|重点|名牌|综合|综合性|著名|知名|大型|小型|中型|儿童|社区|附属|三甲|三级|中心|商业|动物|宠物|胸科|肿瘤|骨科|眼科|妇幼|妇产|中医|传染病|精神|舞蹈|露天|体育|游乐|休闲|牙科|口腔|私立|公立|当地|同一|全国|国家|地方|市|省|县|区|镇|城市|森林|"
    "湿地|主题|市民|时代|人民|购物|学校|老年|职业|师范|理工|医科|工商|建设|这种|那种|什么|哪|唯一|一些|很多|许多|不同|初级|高级|最高|商学|文学|法学|国际|专业|行业|健身|校)+"
)
_NO_GRAMMAR = "(?![我你他她它不过很这那的了是在去来到有没和与跟就都也还要会能])"
_SHORT_PLACE = re.compile(
    f"(?:(?<=[在去到从于自住往省市区县州是了])|(?<![{_HAN}\\w]))(?P<name>(?![这那哪某本全该每一两几])(?:{_NO_GRAMMAR}[{_HAN}]){{2,3}}?(?P<end>[路街区县镇村市省]))"
    f"(?=[^{_HAN}]|$|[的在是和与有去到上住工办开买吃]|\\d)"
)
_NO_PLACES = re.compile(
    ".*(?:[小社地景校园城郊山市战专辖街住厂商诊候病院休活务餐烟停泳水雷误盲禁护]区|[超城股夜门菜都上楼]市|[走马道公铁一迷思出带问上网线过弯]路|[逛上大]街|[小城乡市]镇|[全本外节]省|[全本]县|[农乡山本全]村|"
    "[的了去来到在].*)"
)
_HAN_TITLE = re.compile("《([^《》\\n]{1,40})》")
_ANY_HAN = re.compile(f"[{_HAN}]")


def chinese_names(text: str) -> Iterator[Mention]:
    """Yield the names in the Chinese of normalised `text`; a later one may lie inside an earlier one."""
    if _ANY_HAN.search(text) is None:
        return
    for found in _HAN_TITLE.finditer(text):
        yield _mention(EntityKind.OTHER, found[1], found.start(1))
    yield from _endings(text)
    yield from _listed(text)
    yield from _people(text)
    for found in _SHORT_PLACE.finditer(text):
        if not _NO_PLACES.fullmatch(found["name"]):
            yield _mention(EntityKind.PLACE, found["name"], found.start("name"))


def _mention(kind: EntityKind, surface: str, start: int) -> Mention:
    return Mention(Entity(kind, surface, name_key(surface, kind)), start, start + len(surface))


def _people(text: str) -> Iterator[Mention]:
    for found in _PERSON.finditer(text):
        group = next(name for name in _PERSON_GROUPS if found[name])
        surface = found[group]
        if surface[:2] in _NO_NAMES or (len(surface) == 3 and surface[1:] in _NO_NAMES):
            continue
        if group == "titled" and len(surface) == 1:
            surface += found["title"]  # 王老师: the surname alone would be anybody
        yield _mention(EntityKind.PERSON, surface, found.start(group))


def _endings(text: str) -> Iterator[Mention]:
    for found in _ENDING.finditer(text):
        window = text[max(0, found.start() - 12) : found.start()]
        cut = _CUT.match(window)
        stem = window[cut.end() :] if cut else window
        if not _STEM.match(stem) or _GENERIC.fullmatch(stem):
            continue
        kind = EntityKind.ORGANISATION if found["organisation"] else EntityKind.PLACE
        yield _mention(kind, stem + found[0], found.start() - len(stem))


def _by_head(names: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the names by their first two characters, longest first: one look-up for each place of a text."""
    heads: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        heads.setdefault(name[:2], []).append(name)
    return {head: tuple(same) for head, same in heads.items()}


_LISTED = _by_head(HAN_PLACES | HAN_ORGANISATIONS)


def _listed(text: str) -> Iterator[Mention]:
    place = 0
    while place < len(text) - 1:
        for name in _LISTED.get(text[place : place + 2], ()):
            if text.startswith(name, place):
                kind = EntityKind.ORGANISATION if name in HAN_ORGANISATIONS else EntityKind.PLACE
                yield _mention(kind, name, place)
                place += len(name) - 1
                break
        place += 1
