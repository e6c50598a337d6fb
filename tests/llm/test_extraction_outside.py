"""Extraction seen from outside the process: it is killed while the model reads, and the command reads on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hy_memory import HyMemoryClient
from hy_memory.cli.main import app
from hy_memory.testing.openai_double import OpenAIDouble

ROOT = Path(__file__).parents[2]
HASHED = {"provider": "hashed", "embedding_dims": 64}
FACT = {"facts": [{"text": "The user lives in Lyon", "turns": [1]}]}
_WRITER = """
import json, sys
from hy_memory import HyMemoryClient
with HyMemoryClient(json.loads(sys.argv[1])) as client:
    client.add("I moved to Lyon", user_id="u")
"""


def found(client: HyMemoryClient) -> list[str]:
    answer: Any = client.search("Lyon", user_ids=["u"], min_score=0.0)
    return [one["content"] for one in answer["memories"]["normal"]]


def test_killed_while_the_model_reads_it_is_read_later(folder: Path, service: OpenAIDouble) -> None:
    """What was added is safe and searchable before a model is asked, whatever becomes of that."""
    config: dict[str, Any] = {
        "data_dir": str(folder),
        "mode": "pro",
        "embedder": HASHED,
        "llm": {"base_url": service.url, "model": "m"},
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen([sys.executable, "-c", _WRITER, json.dumps(config)], env=environment)

    def kills(body: dict[str, object]) -> object:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return service.completion(body)

    service.routes["/v1/chat/completions"] = kills
    assert child.wait(timeout=60) == -signal.SIGKILL
    service.routes["/v1/chat/completions"] = service.completion
    with HyMemoryClient(config) as client:
        assert found(client) == ["I moved to Lyon"]
        service.forget()
        service.say(FACT)
        done: Any = client.extract()
        assert (done["read_count"], done["waiting_count"]) == (1, 0)
        assert found(client) == ["The user lives in Lyon"]
        assert client.doctor()["problems"] == []


def test_the_command_reads_what_waits(
    folder: Path, service: OpenAIDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "MEMORY_DATA_DIR": str(folder),
        "MEMORY_MODE": "pro",
        "MEMORY_LLM_BASE_URL": service.url,
        "MEMORY_EMBEDDER_PROVIDER": "hashed",
    }.items():
        monkeypatch.setenv(name, value)
    service.say("prose", "prose", "prose", "prose", FACT)
    added = CliRunner().invoke(app, ["add", "I moved to Lyon", "--user", "u"])
    assert added.exit_code == 0, added.output
    failed = CliRunner().invoke(app, ["extract"])
    assert failed.exit_code == 1
    assert "0 read, 1 waiting" in failed.stdout
    assert "extraction failed" in failed.stderr
    done = CliRunner().invoke(app, ["extract", "--user", "u", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["read_count"]) == (0, 1)
    with HyMemoryClient() as client:
        assert found(client) == ["The user lives in Lyon"]
