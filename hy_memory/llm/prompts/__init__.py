"""The prompts, a file for each part and language, and how they are put together.

Whatever people or other programs wrote is put between two lines with a mark that nobody could know
when writing it, and the instructions say that what stands there is data.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from hy_memory.llm.port import Prompt

_HAN = re.compile(r"[\u3400-\u9fff]")
_MANY = 0.2  # Chinese says in one character what takes English a word of five
LANGUAGES = ("en", "zh")


def language_of(text: str) -> str:
    """Return the language of our words to go with a text: Chinese where a good part of it is."""
    letters = sum(1 for one in text if one.isalpha())
    return "zh" if letters and len(_HAN.findall(text)) / letters > _MANY else "en"


def compose(
    parts: Sequence[str], language: str, values: Mapping[str, str], material: Mapping[str, str]
) -> Prompt:
    """Return the prompt of the files `parts` in `language`, with `values` filled in.

    `material` is shown below, each under its heading, fenced.
    """
    mark = secrets.token_hex(8)
    filled = [Template(_part(language, one)).substitute(values, mark=mark) for one in (*parts, "fence")]
    shown = [f"{heading}\n<<<{mark}\n{text}\n{mark}>>>" for heading, text in material.items()]
    return Prompt("\n\n".join(filled), "\n\n".join(shown))


@cache
def _part(language: str, name: str) -> str:
    return (files(__name__) / language / f"{name}.md").read_text(encoding="utf-8").strip()
