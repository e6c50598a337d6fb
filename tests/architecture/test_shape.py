"""The house rules that a machine can check: sizes, names, docstrings, what only one place may do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hy_memory"
MODULES = sorted(PACKAGE.rglob("*.py"))
ALL = [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "examples").rglob("*.py"))]

LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 400, 60, 6
LONGEST_TEST_FILE = 500  # a list of cases may be longer than code
LONG_BY_NATURE = {"cli/memory.py", "verbs/searching.py", "verbs/writing.py", "verbs/browsing.py"}
"""Verbs whose arguments are the contract's: their signature alone fills a screen."""
FORBIDDEN_NAMES = {"utils", "helpers", "manager", "common", "base", "misc"}
SWALLOWING = {"pipeline.py", "deadline.py"}
"""Where a failure may be kept: `guard` notes it, a worker of `deadline` hands it to the thread that waits."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_file_is_not_too_long(path: Path) -> None:
    longest = LONGEST_TEST_FILE if path.is_relative_to(ROOT / "tests") else LONGEST_FILE
    assert len(path.read_text(encoding="utf-8").splitlines()) <= longest


def test_no_two_test_files_have_one_name() -> None:
    """Folders of tests are no packages: pytest takes two files of one name for the same module."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short_and_narrow(path: Path) -> None:
    is_verb = path.relative_to(PACKAGE).as_posix() in LONG_BY_NATURE
    for node in functions(path):
        start = node.body[0].lineno if is_verb else node.lineno
        length = (node.end_lineno or node.lineno) - start + 1
        assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"
        positional = [
            one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg not in ("self", "cls")
        ]
        if not path.is_relative_to(PACKAGE / "cli"):  # a command's options are parameters to typer
            assert len(positional) <= MOST_PARAMETERS, f"{node.name} has {len(positional)} parameters"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_names_say_something(path: Path) -> None:
    assert not FORBIDDEN_NAMES & set(re.split(r"[/_.]", path.relative_to(PACKAGE).as_posix()))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_have_docstrings(path: Path) -> None:
    tree, lines = tree_of(path), path.read_text(encoding="utf-8").splitlines()
    assert ast.get_docstring(tree), "the module says nothing about itself"
    if path.is_relative_to(PACKAGE / "testing" / "contracts"):
        return  # a test's name is its sentence
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("_"):
                continue  # private, or dunder: Python says what it means
            is_excused = "noqa: D102" in lines[node.lineno - 1]  # the linter's own exception, with its reason
            assert is_excused or ast.get_docstring(node), f"{node.name} has no docstring"
            if isinstance(node, ast.ClassDef):
                waiting.append(node)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_settings_read_the_environment(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if not path.is_relative_to(PACKAGE / "settings"):
        assert "os.environ" not in text
        assert "getenv" not in text


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_failures_are_not_swallowed(path: Path) -> None:
    """A broad except either raises at its end, or is `pipeline.guard`."""
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        names = {one.id for one in ast.walk(node.type) if isinstance(one, ast.Name)} if node.type else {""}
        if names & {"", "Exception", "BaseException"} and path.name not in SWALLOWING:
            assert isinstance(node.body[-1], ast.Raise), f"line {node.lineno} keeps a failure to itself"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_unfinished_and_no_output(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(tree_of(path).body) == 1 or "from __future__ import annotations" in text
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError", text)
    if not path.is_relative_to(PACKAGE / "cli"):
        assert not re.search(r"\bprint\(|sys\.stdout", text)
        assert not re.search(r"logging\.(basicConfig|root\b)|getLogger\(\)", text)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_state_in_modules(path: Path) -> None:
    """Module-level names are constants, types and functions: never an empty container to be filled."""
    for node in tree_of(path).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).startswith("Mapping["):
            continue  # typed as something that cannot be filled
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        is_empty = isinstance(value, ast.List | ast.Set) and not value.elts
        is_empty = is_empty or (isinstance(value, ast.Dict) and not value.keys)
        assert not is_empty, f"line {node.lineno} is state"
    assert not any(isinstance(node, ast.Global) for node in ast.walk(tree_of(path)))
