"""HTML, as a reader sees it: no scripts, no styles, a line for each block."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup

_UNSEEN = ("script", "style", "noscript", "template", "svg", "head")
_BLOCKS = (
    "p",
    "div",
    "section",
    "article",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "table",
    "ul",
    "ol",
    "dt",
    "dd",
    "figcaption",
    "header",
    "footer",
    "main",
)  # fmt: skip - a list of names
_SPACE = re.compile(r"[ \t\r\f\v]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")


def read(data: bytes) -> tuple[str, str]:
    """Return the text, and the page's title."""
    page = BeautifulSoup(data, "html.parser")
    title = page.title.get_text() if page.title is not None else ""
    for element in page(_UNSEEN):
        element.decompose()
    for element in page("br"):
        element.replace_with("\n")
    for element in page(_BLOCKS):
        element.append("\n\n")
    text = _SPACE.sub(" ", page.get_text())
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return _LINES.sub("\n\n", lines).strip(), _SPACE.sub(" ", title)
