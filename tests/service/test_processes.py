"""Several processes on one default store: each finds what the other was told is stored."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import StoreLockedError
from tests.support.peer import ROOT, peer
from tests.support.stores import config_for, contents, ids, open_client


def test_two_processes_see_each_others_writes_at_once(folder: Path) -> None:
    """C46: one default store, any number of processes; 50 rounds in both directions."""
    with open_client("faiss", folder) as here, peer(folder) as there:
        kept: list[str] = []
        for at in range(50):
            mine = here.add(f"alpha here {at}", user_id="u")["memory_id"]
            seen = there.ask("search", query="alpha", user_ids=["u"], limit=200, reader="hybrid")
            assert sorted(ids(seen)) == sorted([*kept, mine])
            theirs = there.ask("add", data=f"alpha there {at}", user_id="u")["memory_id"]
            assert sorted(ids(here.search("alpha", user_ids=["u"], limit=200))) == sorted(
                [*kept, mine, theirs]
            )
            there.ask("update", memory_id=mine, content=f"beta {at}")
            found = contents(here.search(f"beta {at}", user_ids=["u"], limit=200, reader="hybrid"))
            assert f"beta {at}" in found
            assert f"alpha here {at}" not in found
            assert here.delete(theirs)["deleted_count"] == 1
            assert theirs not in ids(there.ask("search", query="alpha", user_ids=["u"], limit=200))
            assert there.ask("get", memory_id=theirs) is None
            kept.append(mine)
        assert here.doctor()["healthy"]


MANY = """
import json, sys
from hy_memory import HyMemoryClient
from tests.support.embedding import DottedEmbedding

with HyMemoryClient(json.loads(sys.argv[1]), embedding_service=DottedEmbedding()) as client:
    for at in range(40):
        if at % 4 == 0:  # all processes send this request
            client.add(f"alpha {at}", user_id="u", request_id=f"shared-{at}")
        else:
            client.add(f"alpha {sys.argv[2]} {at}", user_id="u")
"""


def test_four_processes_write_at_once_and_nothing_is_lost_or_doubled(folder: Path) -> None:
    settings = json.dumps(config_for("faiss", folder))
    running = [subprocess.Popen([sys.executable, "-c", MANY, settings, name], cwd=ROOT) for name in "abcd"]
    assert [process.wait(timeout=120) for process in running] == [0] * 4
    with open_client("faiss", folder) as client:
        assert client.memory_stats(user_id="u")["total"] == 4 * 30 + 10
        assert len(ids(client.search("alpha", user_ids=["u"], limit=1000))) == 4 * 30 + 10
        assert client.doctor()["problems"] == []


@pytest.mark.parametrize("backend", ["qdrant"])
def test_a_store_that_one_process_holds_says_so(folder: Path, backend: str) -> None:
    """C46: a clear typed error that names the way out; when the holder has closed, it opens."""
    with peer(folder, backend) as holder:
        holder.ask("add", data="alpha", user_id="u")
        with pytest.raises(StoreLockedError) as caught:
            open_client(backend, folder)
        assert isinstance(caught.value, ValueError)
        assert len(str(caught.value)) > 40
    with open_client(backend, folder) as client:
        assert contents(client.search("alpha", user_ids=["u"])) == ["alpha"]


@pytest.mark.parametrize("backend", ["faiss", "memory"])
def test_two_clients_of_one_process_share_a_store(folder: Path, backend: str) -> None:
    """C46."""
    with open_client(backend, folder) as one, open_client(backend, folder) as two:
        for at in range(10):
            made = one.add(f"alpha {at}", user_id="u")["memory_id"]
            assert made in ids(two.search("alpha", user_ids=["u"], limit=100))
            other = two.add(f"alpha too {at}", user_id="u")["memory_id"]
            assert other in ids(one.search("alpha", user_ids=["u"], limit=100))
            one.delete(other)
            assert other not in ids(two.search("alpha", user_ids=["u"], limit=100))


def test_two_new_processes_of_different_embedders_do_not_mix(folder: Path) -> None:
    """C59: whoever writes second with another embedder is told, and nothing of it is stored."""
    from hy_memory.errors import EmbedderMismatchError

    hashed = HyMemoryClient({**config_for("faiss", folder), "embedder": {"provider": "hashed"}})
    with hashed, open_client("faiss", folder) as dotted:
        memory_id = hashed.add("alpha", user_id="u")["memory_id"]
        with pytest.raises(EmbedderMismatchError, match="reembed"):
            dotted.add("beta", user_id="u")
        with pytest.raises(EmbedderMismatchError, match="reembed"):
            dotted.update(memory_id, "beta")
        assert (hashed.get(memory_id) or {}).get("content") == "alpha"
        assert hashed.memory_stats(user_id="u")["total"] == 1
    with pytest.raises(EmbedderMismatchError, match=r"hashed.*384.*dotted.*8"):
        open_client("faiss", folder)
