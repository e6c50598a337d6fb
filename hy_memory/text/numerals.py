"""Small whole numbers as people write them in English and Chinese words."""

from __future__ import annotations

import re

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_SMALL = {word: n for n, word in enumerate(f"{_UNITS} seventeen eighteen nineteen".split())}
_TENS = {
    word: 10 * n
    for n, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_DIGITS = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2, "兩": 2}

ENGLISH_NUMBER = (
    rf"\d{{1,3}}|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(list(_SMALL)[1:10])}))?|{'|'.join(_SMALL)}"
)
"""Pattern of a number below 1000 in digits, or below 100 in words."""
HAN_NUMBER = r"\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两兩三四五六七八九]"
"""Pattern of a number below 1000 in digits, or below 100 in Chinese words."""

_HAN_TENS = re.compile(r"([一二两三四五六七八九]?)十([一二三四五六七八九]?)")


def english_number(text: str) -> int | None:
    """Return the number below 100 (in digits: any) that an English text says, else None."""
    if text.isdecimal():
        return int(text)
    tens, _, rest = text.lower().replace("-", " ").partition(" ")
    if tens in _TENS:
        return _TENS[tens] + _SMALL.get(rest, 0)
    return None if rest else _SMALL.get(tens)


def han_number(text: str) -> int | None:
    """Return the number a Chinese text says: digits, digit by digit (二〇二三), or with tens (三十二)."""
    if text.isdecimal():
        return int(text)
    tens = _HAN_TENS.fullmatch(text)
    if tens:
        return 10 * _DIGITS.get(tens[1], 1) + _DIGITS.get(tens[2], 0)
    value = 0
    for character in text:
        if character not in _DIGITS:
            return None
        value = 10 * value + _DIGITS[character]
    return value if text else None
