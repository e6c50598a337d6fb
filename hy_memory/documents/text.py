"""Plain text, in UTF-8 or UTF-16; what is neither is no text."""

from __future__ import annotations

_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}


def read(data: bytes) -> tuple[str, str]:
    """Return the text, and no title."""
    return decoded(data), ""


def decoded(data: bytes) -> str:
    """Return bytes as text; raises ValueError where they are none."""
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not {encoding} text ({error.reason}); save it as UTF-8") from error
    if "\0" in text:
        raise ValueError("it holds NUL characters, as texts do not")
    return text
