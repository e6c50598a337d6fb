"""What `delete_all` leaves of an agent's work: nothing, in answers and in every byte of the data folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.values.lane import Lane, partition
from tests.support.stores import LASTING, open_client

WORDS = ("zyzzyva", "quokkaland", "xylothrum", "vexillary")
"""What was asked, written, answered and kept beside it: words that no library has in its files."""


def session() -> list[dict[str, Any]]:
    arguments = {"path": f"src/{WORDS[3]}.py", "content": f"def {WORDS[1]}():\n    return 1\n"}
    call = {"id": "c", "function": {"name": "write_file", "arguments": json.dumps(arguments)}}
    return [
        {"role": "user", "content": f"please {WORDS[0]}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": f"wrote {WORDS[2]}"},
        {"role": "assistant", "content": f"done with {WORDS[2]}"},
    ]


def bytes_with(folder: Path, words: tuple[str, ...]) -> list[str]:
    """Return the files that hold one of the words, each with it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [f"{path.name}: {word}" for path in files for word in words if word.encode() in path.read_bytes()]


def edits(client: HyMemoryClient, user_id: str) -> int:
    """Return how many edits coding memory keeps."""
    return client._open().ledger.edit_count(partition(user_id, Lane.CODING))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("backend", LASTING)
def test_delete_all_leaves_no_word_in_the_data_folder(folder: Path, backend: str) -> None:
    with open_client(backend, folder) as client:
        for user in ("mine", "yours"):
            client.add(f"chat of {WORDS[0]}", user_id=user, metadata={"k": WORDS[3]})
            for scene in ("working", "coding"):
                client.add(session(), user_id=user, scene=scene, workspace_id="w", branch="b", session_id="s")
        assert edits(client, "mine") == edits(client, "yours") == 1
        assert len({found.rpartition(": ")[2] for found in bytes_with(folder, WORDS)}) == len(WORDS)
        client.delete_all(user_id="mine")
        assert (client.memory_stats(user_id="mine")["total"], edits(client, "mine")) == (0, 0)
        assert edits(client, "yours") == 1
        client.delete_all(user_id="yours")
    assert bytes_with(folder, WORDS) == []
