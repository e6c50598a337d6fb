"""Names of files as the chain knows them: one spelling for each, whoever wrote it."""

from __future__ import annotations

import posixpath


def clean(path: str) -> str:
    """Return a path with forward slashes and without `.`, `..` or doubled slashes; "" for none."""
    plain = path.strip().strip("\"'").replace("\\", "/")
    if not plain or "\n" in plain:
        return ""
    normal = posixpath.normpath(plain)
    return "" if normal == "." else normal
