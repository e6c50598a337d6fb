"""Whether what a tool answered says that its call failed: most agents have no flag for it, only words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

_BEGINNINGS = (
    "error", "traceback", "failed", "exception", "fatal:", "command failed", "<tool_use_error>",
    "permission denied", "operation not permitted", "错误", "失败",
)  # fmt: skip
_OF_A_SHELL = re.compile(
    r"(?:command not found|permission denied|no such file or directory|operation not permitted"
    r"|not a directory|is a directory|cannot (?:remove|stat|access|create|move|open|overwrite)\b.*)\W*$",
    re.IGNORECASE,
)
"""How a line ends, or goes on, by which a program says that it could not do what it was told."""
_EXIT = re.compile(
    r"^\W*(?:process |command )?(?:exited|exit)?(?: with)?(?: exit| return)?[ _-]?"
    r"(?:code|status)\W{0,3}(?P<code>-?\d+)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"doesn't want to proceed|does not want to proceed|tool use was rejected"
    r"|(?:rejected|denied|declined|cancell?ed) by the user|用户(?:拒绝|取消)",
    re.IGNORECASE,
)
_CODES = ("exit_code", "exitCode", "returncode", "return_code")
_LONGEST = 4_000  # characters of an answer that is read as JSON, or for a refusal: results may be books


def says_failed(result: str) -> bool:
    """Return whether a tool's answer says that nothing was done.

    By its first and its last line, which is where programs and agents put it: a word further in may be of a
    file that was printed.
    """
    text = result.strip()
    if not text:
        return False
    if text.startswith("{") and len(text) <= _LONGEST:
        told = _object(text)
        if told is not None:
            return _says_so(told)
    lines = text.splitlines()
    ends = (lines[0].strip(), lines[-1].strip())
    if text.lower().startswith(_BEGINNINGS) or _OF_A_SHELL.search(ends[0]):
        return True
    codes = [found["code"] for line in ends if (found := _EXIT.match(line)) is not None]
    return any(int(code) != 0 for code in codes) or bool(_REFUSED.search(text[:_LONGEST].splitlines()[0]))


def _object(text: str) -> Mapping[str, object] | None:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", read) if isinstance(read, dict) else None


def _says_so(told: Mapping[str, object]) -> bool:
    if any(told.get(key) is False for key in ("success", "ok")) or told.get("is_error") is True:
        return True
    codes = (told.get(key) for key in _CODES)
    if any(isinstance(code, int) and not isinstance(code, bool) and code != 0 for code in codes):
        return True
    return bool(told.get("error"))
