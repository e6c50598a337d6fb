"""Pages that are drawn from the code are as the code would draw them now."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES: dict[str, str] = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert written == PAGES[name], "run: python docs/generate.py"


def test_curves_are_those_of_the_functions() -> None:
    figures: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "curves.py"))["FIGURES"]
    for name, figure in figures.items():
        written = (ROOT / "docs" / "concepts" / name).read_text(encoding="utf-8")
        assert written == figure(), "run: python docs/curves.py"


def test_no_schema_is_left_of_a_verb_that_is_gone() -> None:
    there = {f"schemas/{one.name}" for one in (ROOT / "docs" / "reference" / "schemas").iterdir()}
    assert there == {name for name in PAGES if name.startswith("schemas/")}


def test_every_command_and_variable_is_there() -> None:
    for command in (
        "add",
        "search",
        "list",
        "get",
        "delete",
        "stats",
        "profile",
        "import",
        "extract",
        "add-document",
        "pin",
        "unpin",
        "use",
        "facts add",
        "facts timeline",
        "reindex",
        "reembed",
        "doctor",
    ):
        assert f"## {command}\n" in PAGES["cli.md"]
    assert "`MEMORY_DATA_DIR`" in PAGES["settings.md"]
    assert "`EmbedderMismatchError`" in PAGES["errors.md"]
