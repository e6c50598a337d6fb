"""Which kind a memory is of: what happened, what is so, how it is done, how it felt, what it meant.

By rules in English and Chinese: each word that speaks for a kind adds its weight. The kind with most is the
memory's own; others count beside it from 1, and from three tenths of the best, on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hy_memory.values.use import Sector


@dataclass(frozen=True, slots=True)
class Kind:
    """A memory's sector, those that it is of beside, and how sure that is, in [0, 1]."""

    sector: Sector
    additional: tuple[Sector, ...] = ()
    confidence: float = 1.0


_LEAST = 1.0
_SHARE = 0.3
_LONGEST = 4000  # characters: what a text is about shows in its beginning
_UNKNOWN = Kind(Sector.SEMANTIC, (), 0.0)
"""A statement without any sign is taken as a fact."""

_ENGLISH = {
    Sector.EPISODIC: (
        "yesterday today tonight tomorrow ago last_week last_month last_year last_night this_morning"
        " this_week this_weekend went met visited attended arrived happened remember_when one_day bought saw"
        " came flew moved celebrated monday tuesday wednesday thursday friday saturday sunday weekend trip"
    ),
    Sector.SEMANTIC: (
        "is_a is_an are means defined definition consists called capital located fact always never every"
        " contains equals works_as lives_in born allergic name_is speaks owns married vegetarian"
    ),
    Sector.PROCEDURAL: (
        "how_to step steps first_you install run click configure press open_the recipe procedure algorithm"
        " in_order instructions command deploy build setup mix_the then_add preheat bake restart method"
    ),
    Sector.EMOTIONAL: (
        "feel feels felt feeling love loved hate hated happy sad angry afraid scared excited worried anxious"
        " proud upset lonely nervous grateful miss cried joy stressed frustrated glad sorry hurt enjoyed"
    ),
    Sector.REFLECTIVE: (
        "realize realized realise realised learned_that think_that believe reflect insight lesson hindsight"
        " looking_back wonder_why purpose pattern understand_now made_me taught_me conclusion perspective"
    ),
}
_CHINESE = {
    Sector.EPISODIC: "昨天 今天 昨晚 前天 上周 上个月 去年 刚才 那天 那次 周末 去了 遇到 参观 买了 见到 旅行",
    Sector.SEMANTIC: "是一 叫做 意思是 定义 位于 首都 包含 总是 从不 属于 出生 过敏 职业 住在 名字",
    Sector.PROCEDURAL: "如何 怎么做 步骤 首先 然后 安装 运行 点击 配置 方法 流程 命令 食谱 重启 操作",
    Sector.EMOTIONAL: "感到 喜欢 讨厌 开心 高兴 难过 生气 害怕 担心 焦虑 激动 骄傲 孤独 感动 伤心 压力 幸福",
    Sector.REFLECTIVE: "意识到 明白了 领悟 反思 教训 回想 总结 体会 认识到 学到 原来 意义 思考",
}
_SIGNS = {word.replace("_", " "): sector for sector, words in _ENGLISH.items() for word in words.split()}
_CHINESE_SIGNS = {word: sector for sector, words in _CHINESE.items() for word in words.split()}
_WORD = re.compile(r"[a-z']+")
_CHINESE_WORD = re.compile("|".join(sorted(_CHINESE_SIGNS, key=len, reverse=True)))
_LOUD = re.compile(r"[!！]{2,}|[\U0001F600-\U0001F64F\u2764]")


def kind_of(text: str) -> Kind:
    """Return the kind of memory that a text is."""
    scores = Counter(_signs(text[:_LONGEST]))
    if not scores:
        return _UNKNOWN
    ordered = sorted(scores, key=lambda one: (-scores[one], list(Sector).index(one)))
    best = ordered[0]
    least = max(_LEAST, _SHARE * scores[best])
    additional = tuple(one for one in ordered[1:] if scores[one] >= least)
    return Kind(best, additional, scores[best] / (sum(scores.values()) + 1))


def _signs(text: str) -> Iterator[Sector]:
    words = _WORD.findall(text.lower())
    for word in words:
        if word in _SIGNS:
            yield _SIGNS[word]
    for one, following in pairwise(words):
        pair = f"{one} {following}"
        if pair in _SIGNS:
            yield _SIGNS[pair]
    if not text.isascii():
        for found in _CHINESE_WORD.finditer(text):
            yield _CHINESE_SIGNS[found[0]]
    if _LOUD.search(text):
        yield Sector.EMOTIONAL
