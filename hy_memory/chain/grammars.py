"""The grammars of tree-sitter, by a file's ending: loaded when a file of their language is first read."""

from __future__ import annotations

import importlib
import logging
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

_log = logging.getLogger("hy_memory")

_PYTHON = ("tree_sitter_python", "language")
_JAVASCRIPT = ("tree_sitter_javascript", "language")
_TYPESCRIPT = ("tree_sitter_typescript", "language_typescript")
_C, _CPP = ("tree_sitter_c", "language"), ("tree_sitter_cpp", "language")
_GRAMMARS = {
    ".py": _PYTHON,
    ".pyi": _PYTHON,
    ".js": _JAVASCRIPT,
    ".jsx": _JAVASCRIPT,
    ".mjs": _JAVASCRIPT,
    ".cjs": _JAVASCRIPT,
    ".ts": _TYPESCRIPT,
    ".mts": _TYPESCRIPT,
    ".cts": _TYPESCRIPT,
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": _C,
    ".h": _CPP,  # of C too: nearly all of C is C++
    ".cc": _CPP,
    ".cpp": _CPP,
    ".cxx": _CPP,
    ".hh": _CPP,
    ".hpp": _CPP,
}


def parsed(text: str, path: str) -> Tree | None:
    """Return the syntax tree of a file, None where its language has no grammar here.

    Columns and rows of the tree are of the text in UTF-8.
    """
    named = _GRAMMARS.get(PurePosixPath(path).suffix.lower())
    language = None if named is None else _language(*named)
    if language is None:
        return None
    from tree_sitter import Parser  # the extra is there: `_language` has looked

    return Parser(language).parse(text.encode())


@cache
def _language(module: str, function: str) -> Language | None:
    """Return a grammar, None where its package is missing, which is said once."""
    try:
        from tree_sitter import Language  # an extra, and 10 ms that only files with a grammar need

        grammar: object = getattr(importlib.import_module(module), function)()
        return Language(grammar)
    except ImportError as error:
        _log.warning(
            "the coding chain names no functions in files of this kind (%s is missing); "
            "pip install '.[coding]'",
            error.name,
        )
        return None
