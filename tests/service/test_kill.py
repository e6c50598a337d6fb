"""SIGKILL at any moment: what was acknowledged is there, what was not is there whole or not at all."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from tests.service.writer import USERS, config
from tests.support.stores import READERS, ids, normal

ROOT = Path(__file__).parents[2]


class Lives:
    """The writer process, and everything that its lives have told so far."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.service.writer"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
        )
        self._told: Queue[dict[str, Any]] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.promised: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.unsure: set[str] = set()
        self.latest: list[str] = []
        self.told_of: set[str] = set()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told.put(json.loads(line))

    def live_and_die(self, backend: str, folder: Path, seed: int, wait_for: int, seconds: float) -> None:
        """Let one life write: kill it `seconds` after it has told `wait_for` lines."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{backend}\t{folder}\t{seed}\n")
        self._process.stdin.flush()
        self.latest.clear()
        child, heard = 0, 0
        while heard < wait_for or not child:
            child, heard = self._hear(self._told.get(timeout=60), child, heard)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        while True:
            told = self._told.get(timeout=60)
            if "ended" in told:
                return
            self._hear(told, child, heard)

    def _hear(self, told: dict[str, Any], child: int, heard: int) -> tuple[int, int]:
        if "pid" in told:
            return told["pid"], heard
        if "trying" in told:
            self.unsure.add(told["trying"])
            return child, heard
        memory_id = told["id"]
        self.unsure.discard(memory_id)
        self.owners[memory_id] = told.get("user") or self.owners[memory_id]
        if told["text"] is None:
            self.promised.pop(memory_id, None)
            self.deleted.add(memory_id)
        else:
            self.promised[memory_id] = told["text"]
            self.told_of.add(_write_of(told["text"]))
        self.latest.append(memory_id)
        return child, heard + 1

    def end(self) -> None:
        """End the writer by closing its stdin."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0
        self._process.stdout.close()


@pytest.fixture
def lives() -> Generator[Lives]:
    made = Lives()
    yield made
    made.end()


def _write_of(text: str) -> str:
    """Return the name of the write that a text comes from."""
    return text.split()[1]


def _check_latest(client: HyMemoryClient, lives: Lives) -> None:
    """Compare what the last life was promised with `get`, and its newest promises with a search."""
    for memory_id in set(lives.latest) - lives.unsure:
        stored = client.get(memory_id) or {}
        assert stored.get("content") == lives.promised.get(memory_id)
    newest = [one for one in lives.latest if one in lives.promised and one not in lives.unsure][-5:]
    for memory_id in newest:
        asked: dict[str, Any] = {"user_ids": [lives.owners[memory_id]], "limit": 3}
        for reader in READERS:
            assert memory_id in ids(client.search(lives.promised[memory_id], reader=reader, **asked))
    for memory_id in lives.unsure:  # killed while changing it: the old text, the new one, or gone
        stored = client.get(memory_id) or {}
        text = stored.get("content")
        if text is None:
            lives.deleted.add(memory_id)
            del lives.promised[memory_id]
        else:
            assert text == lives.promised[memory_id] or text.endswith("changed")
            lives.promised[memory_id] = text
    lives.unsure.clear()


def _check_everything(client: HyMemoryClient, lives: Lives) -> None:
    """Compare the whole store with every promise; what nobody was told of must be whole."""
    for user_id in USERS:
        page = client.list_memories(user_id=user_id, limit=1_000_000)
        stored = {one.get("memory_id", ""): one.get("content", "") for one in page["memories"]}
        assert page["total"] == len(stored) == client.memory_stats(user_id=user_id)["total"]
        promised = {one: text for one, text in lives.promised.items() if lives.owners[one] == user_id}
        assert promised.items() <= stored.items()
        assert lives.deleted.isdisjoint(stored)
        assert all(text.startswith("note life") for text in stored.values())
        for reader in READERS:
            answer = client.search("note", user_ids=[user_id], min_score=0, limit=1_000_000, reader=reader)
            assert {one["memory_id"]: one["content"] for one in normal(answer)} == stored
        untold = [text for text in stored.values() if _write_of(text) not in lives.told_of]
        for write, size in Counter(map(_write_of, untold)).items():
            (kind,) = {text.split()[2].rstrip("0123456789") for text in untold if _write_of(text) == write}
            assert size == {"alone": 1, "turn": 3, "fact": 8, "changed": 1}[kind]  # whole or not at all
    assert client.doctor()["problems"] == []


_TIMES = int(os.environ.get("KILL_TIMES", "1"))  # KILL_TIMES=4 pytest tests/service/test_kill.py: 200 kills


@pytest.mark.parametrize(("backend", "kills"), [("faiss", 50), ("qdrant", 10), ("chroma", 10)])
@pytest.mark.timeout(600 * _TIMES)
def test_killed_at_any_moment_nothing_acknowledged_is_lost(
    folder: Path, lives: Lives, backend: str, kills: int
) -> None:
    """C49: after each kill the store opens, holds every promise, nothing half, and its doctor is content.

    C46: the lock of the dead holder keeps nobody out.
    """
    chance, kills = random.Random(backend), kills * _TIMES
    for seed in range(kills):
        # from the opening itself, over the first write, to the middle of some later one
        lives.live_and_die(backend, folder, seed, chance.choice((0, 1, 3, 8)), chance.random() * 0.04)
        with HyMemoryClient(config(backend, folder)) as client:
            _check_latest(client, lives)
            if seed % 10 == 9 or seed == kills - 1:
                _check_everything(client, lives)
    assert len(lives.promised) > kills
