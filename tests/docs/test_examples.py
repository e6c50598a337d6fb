"""The examples and the demo run as a newcomer runs them, and the plug-in example passes the suite."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from hy_memory import HyMemoryClient
from hy_memory.cli.demo import STEPS
from hy_memory.cli.main import app
from hy_memory.importers import import_file
from hy_memory.ports import BackendOptions
from hy_memory.testing.contracts.harness import Harness, open_harness
from hy_memory.testing.contracts.vectors import VectorIndexContract

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run_python(*arguments: str) -> str:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "HY_MEMORY_"))
    }
    environment = {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_chat_backend_remembers_across_sessions() -> None:
    said = run_python(str(EXAMPLES / "chat_backend.py")).splitlines()
    assert said[-1] == "chat > You once said: Hi! I live in Lyon now, near the market."


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_coding_agent_finds_the_version_that_was_kept() -> None:
    said = run_python(str(EXAMPLES / "coding_agent.py"))
    assert "src/search.py · search\nNow (from line 1):\n    | def search(rows, query):\n" in said
    assert "“That broke exact matches of codes. Take it back.” · commit" in said
    assert "back to version 2 (undone: 3)" in said
    assert said.endswith("The code on disk is the code of the block: True\n")


def test_chat_backend_talks() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "chat_backend.py"), "--talk"],
        input="I like tea.\n\n",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "chat > I see." in done.stdout


def test_async_backend_keeps_users_apart() -> None:
    said = run_python(str(EXAMPLES / "async_backend.py"))
    assert said.splitlines() == [
        "maya   ['I live in Lyon.']",
        "lin    ['I live in Hangzhou.']",
        "tomas  ['I live in Brno.']",
    ]


def test_own_embedder() -> None:
    assert run_python(str(EXAMPLES / "own_embedder.py")).splitlines()[0].endswith("a lazy zebra")


class TestPluginBackend(VectorIndexContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return open_harness(load("plugin_backend").open_backend, BackendOptions(dims=self.dims))


def test_demo_shows_what_it_says() -> None:
    shown = run_python("-m", "hy_memory.cli.main", "demo")
    assert "40 messages of two people" in shown
    lyon, hangzhou, unrelated = shown.index("Lyon"), shown.index("杭州"), shown.index("football")
    assert lyon < hangzhou < unrelated < shown.index("nothing found")
    assert "keyword_leg" in shown[unrelated:]


@pytest.fixture
def demo_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORY_DATA_DIR", str(tmp_path))
    with HyMemoryClient() as client, as_file(files("hy_memory.cli") / "demo.jsonl") as chats:
        import_file(chats, client, user_id="nobody")
    return tmp_path


def test_demo_commands_are_the_calls_it_makes(demo_store: Path) -> None:
    """What a person types from the demo's screen gives what the demo shows."""
    with HyMemoryClient({"data_dir": demo_store}) as client:
        for step in STEPS:
            arguments = shlex.split(step.command)[1:]
            typed = CliRunner().invoke(app, [*arguments, "--json"])
            answer: dict[str, Any] = {**client.search(step.query, **step.arguments)}
            called = answer["memories"]["normal"]
            assert typed.exit_code == 0, typed.output
            for item in called:
                assert item["memory_id"] in typed.stdout
            assert typed.stdout.count('"retrieval_source"') == len(called)
