"""Every block of code in the README and the docs runs, in order, in a folder of its own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hy_memory.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")

NOT_CODE = {"", "text", "json", "toml"}
ELSEWHERE = {
    "make demo": "tests/docs/test_examples.py runs the demo; the rest is the Makefile's, run by the gate",
    "make test": "this is it",
    "pip install '.[local]'": "the gate installs the package so",
    "python examples/chat_backend.py": "tests/docs/test_examples.py",
    "export MEMORY_VECTOR_STORE=qdrant": "set by the test itself, below",
    "hy-memory reindex --vectors qdrant --url http://127.0.0.1:6333": "tests/conformance, over a server",
    "export MEMORY_VECTOR_STORE=qdrant MEMORY_VECTOR_STORE_URL=http://127.0.0.1:6333": "the same",
    "export MEMORY_LEDGER_URL=postgresql://user:password@host/database": "tests/conformance, on PostgreSQL",
}
"""Shell lines that are no command of ours, and where they are tried instead."""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        yield Block(found[1], found[2], text[: found.start()].count("\n") + 2)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("MEMORY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MEMORY_EMBEDDER_PROVIDER", "hashed")
    names: dict[str, object] = {"__name__": "__docs__"}
    for block in blocks(page):
        if block.language == "python":
            # padded so that a traceback names the line of the page
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "bash":
            run_shell(block, page, monkeypatch)
        else:
            assert block.language in NOT_CODE, f"{page}:{block.line}: who runs {block.language!r}?"


def run_shell(block: Block, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in filter(None, map(str.strip, block.text.splitlines())):
        if line in ELSEWHERE:
            if line == "export MEMORY_VECTOR_STORE=qdrant":
                monkeypatch.setenv("MEMORY_VECTOR_STORE", "qdrant")
            continue
        program, *arguments = shlex.split(line, comments=True)
        assert program == "hy-memory", f"{page}:{block.line}: nobody tries {line!r}"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{page}:{block.line}: {line}\n{result.output}"


def test_there_are_blocks() -> None:
    languages = [block.language for page in PAGES for block in blocks(page)]
    assert languages.count("python") > 10
    assert languages.count("bash") > 8


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, _ in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"
