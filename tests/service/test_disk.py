"""Disks that cannot be written: an error that says what to do, and nothing half stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import HyMemoryError, LedgerError
from tests.support.stores import LASTING, READERS, contents, open_client

ROOT = Path(__file__).parents[2]


def _run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120, check=False)


# RLIMIT_FSIZE makes every write beyond a size fail as a full disk does, for this process alone.
FULL = """
import resource, signal, sys
from pathlib import Path
from hy_memory.errors import HyMemoryError
from tests.support.stores import open_client

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_client(sys.argv[1], Path(sys.argv[2])) as client:
    client.add("kept before", user_id="u")
    room = 200_000 + max(one.stat().st_size for one in Path(sys.argv[2]).rglob("*") if one.is_file())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    told = 1
    try:
        for at in range(10_000):
            client.add(f"kept {at} " + "x" * 5000, user_id="u", request_id=f"r{at}")
            told += 1
    except HyMemoryError as error:
        print(type(error).__name__, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    print(told, client.memory_stats(user_id="u")["total"], client.get_write_outcome(f"r{told - 1}"))
    client.add("kept after", user_id="u", request_id=f"r{told - 1}")
"""


@pytest.mark.parametrize("backend", ["faiss"])
def test_a_full_disk_stores_nothing_half(folder: Path, backend: str) -> None:
    done = _run(FULL, backend, str(folder))
    assert done.returncode == 0, done.stderr
    error, counts = done.stdout.splitlines()
    assert error.startswith("LedgerError")
    assert "disk" in error
    told, total, outcome = counts.split(" ", 2)
    assert told == total  # what failed left no memory behind
    assert outcome == "None"  # and no outcome, so that it may be sent again
    with open_client(backend, folder) as client:
        assert client.doctor()["problems"] == []
        assert client.memory_stats(user_id="u")["total"] == int(told) + 1
        for reader in READERS:
            answer = client.search("kept", user_ids=["u"], limit=10_000, min_score=0, reader=reader)
            assert len(contents(answer)) == int(told) + 1


READ_ONLY = """
import os, sys
from pathlib import Path
from hy_memory.errors import HyMemoryError
from tests.support.stores import contents, open_client, quick_folder

with quick_folder() as other, open_client("faiss", other) as client:  # everything is loaded after this
    client.add("alpha", user_id="u")
    contents(client.search("alpha", user_ids=["u"]))
if os.geteuid() == 0:  # root may write everywhere
    os.setgid(65534)
    os.setuid(65534)
try:
    with open_client("faiss", Path(sys.argv[1])) as client:
        client.add("beta", user_id="u")
except HyMemoryError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("kept", ["folder", "store"])
def test_a_folder_without_the_right_to_write_names_what_to_do(folder: Path, kept: str) -> None:
    if kept == "store":
        with open_client("faiss", folder) as client:
            client.add("alpha", user_id="u")
    for one in folder.iterdir():
        one.chmod(0o444)
    folder.chmod(0o555)
    try:
        done = _run(READ_ONLY, str(folder))
    finally:
        folder.chmod(0o755)
    assert done.stdout.startswith("LedgerError"), done.stdout + done.stderr
    assert str(folder) in done.stdout
    assert "written" in done.stdout or "right to write" in done.stdout


def test_a_data_folder_that_cannot_be_made_is_a_ledger_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerError, match="file"):
        open_client("faiss", tmp_path / "file" / "store")


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"\x80\x04\x95pickle" * 100])
def test_a_damaged_ledger_is_a_ledger_error(folder: Path, damage: bytes) -> None:
    (folder / "ledger.sqlite3").write_bytes(damage)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite3"):
        open_client("faiss", folder)
    assert (folder / "ledger.sqlite3").read_bytes() == damage  # never wiped (C45)


@pytest.mark.parametrize("backend", LASTING)
def test_a_batch_with_one_bad_vector_stores_none(folder: Path, backend: str) -> None:
    """C50, C61: a failure in the middle of a large call leaves nothing, and the call may be repeated."""

    class Failing:
        """Answers zeros for the thousandth text, until it is mended."""

        name = "failing"
        mended = False

        def embed_batch(self, texts: list[str]) -> list[list[float]]:
            return [
                [0.0] * 8 if one == "alpha 1000" and not self.mended else [1.0] + [0.0] * 7 for one in texts
            ]

        def get_embedding_dims(self) -> int:
            return 8

    service = Failing()
    with open_client(backend, folder, service) as client:
        texts = [f"alpha {at}" for at in range(1500)]
        with pytest.raises(HyMemoryError, match="zero"):
            client.add_extracted(texts, user_id="u", request_id="r")
        assert client.memory_stats(user_id="u")["total"] == 0
        assert contents(client.search("alpha", user_ids=["u"])) == []
        service.mended = True
        assert len(client.add_extracted(texts, user_id="u", request_id="r")["memory_ids"]) == 1500
        assert len(contents(client.search("alpha", user_ids=["u"], limit=2000))) == 1500


def test_a_newer_store_is_not_touched_by_this_version(folder: Path) -> None:
    import sqlite3

    open_client("faiss", folder).close()
    connection = sqlite3.connect(folder / "ledger.sqlite3")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(HyMemoryError) as caught:
        HyMemoryClient({"data_dir": str(folder)})
    assert "9999" in str(caught.value) or "version" in str(caught.value)
