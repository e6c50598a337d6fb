"""Names of files as the chain knows them: one spelling for each, whoever wrote it."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath


def clean(path: str) -> str:
    """Return a path with forward slashes and without `.`, `..` or doubled slashes; "" for none."""
    plain = path.strip().strip("\"'").replace("\\", "/")
    if not plain or "\n" in plain:
        return ""
    normal = posixpath.normpath(plain)
    return "" if normal == "." else normal


def relative(path: str, root: str) -> str:
    """Return a path from `root` on, if it is absolute and in that folder."""
    if not root or not path.startswith("/"):
        return path
    whole = PurePosixPath(path)
    return str(whole.relative_to(root)) if whole.is_relative_to(root) else path
