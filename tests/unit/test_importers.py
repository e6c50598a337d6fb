"""Importing: shapes, streaming, repetition after an interruption, bad places."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from hy_memory.importers import Import, Report, import_file
from hy_memory.importers.files import Shape, open_file
from hy_memory.importers.run import BATCH
from hy_memory.importers.units import Origin

ROOT = Path(__file__).parents[2]
CHAT = [
    {"role": "user", "name": "Maya", "content": "I moved to Lyon."},
    {"role": "assistant", "content": "How is it there?"},
]


@pytest.fixture
def store(tmp_path: Path) -> Generator[HyMemoryClient]:
    config = {
        "data_dir": tmp_path / "store",
        "embedder": {"provider": "hashed"},
        "ledger": {"synchronous": "NORMAL"},
    }
    with HyMemoryClient(config) as client:
        yield client


def write_lines(path: Path, values: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values), encoding="utf-8")
    return path


def stored(store: HyMemoryClient, user_id: str = "u") -> list[dict[str, Any]]:
    page = store.list_memories(user_id=user_id, limit=10_000, order="asc")
    return [{**item} for item in page["memories"]]


def run(path: Path, store: HyMemoryClient, **options: Any) -> Report:
    return import_file(path, store, user_id="u", **options)


# -- shapes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (json.dumps(CHAT), Shape.CHAT),
        (json.dumps(CHAT, indent=2), Shape.CHAT),
        (json.dumps({"messages": CHAT}), Shape.CHAT),
        (json.dumps({"messages": CHAT}, indent=1), Shape.CHAT),
        (json.dumps([CHAT, {"messages": CHAT, "session_id": "s"}]), Shape.CHATS),
        (json.dumps(CHAT) + "\n" + json.dumps({"messages": CHAT, "source": "b"}), Shape.CHAT_LINES),
        ("\n".join(json.dumps(one) for one in CHAT), Shape.CHAT_LINES),
        ('{"content": "a"}\n{"content": "b"}', Shape.MEMORY_LINES),
        ('\ufeff{"content": "a"}\r\n\r\n{"content": "b"}\r\n', Shape.MEMORY_LINES),
        ('{"content": "a"}', Shape.MEMORY_LINES),
        (json.dumps([{"content": "a"}, {"content": "b"}]), Shape.MEMORIES),
    ],
)
def test_shape_is_recognised_and_everything_is_stored(
    text: str, shape: Shape, tmp_path: Path, store: HyMemoryClient
) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    report = run(path, store)
    assert report.shape == shape
    assert report.added == text.count('"content"') == len(stored(store))
    assert run(path, store).added == 0


def test_chat_keeps_speaker_session_time_and_raw_exchange(tmp_path: Path, store: HyMemoryClient) -> None:
    conversation = {
        "messages": [*CHAT, {"role": "assistant", "content": ""}, {"role": "assistant", "content": None}],
        "session_id": "monday",
        "source": "App",
        "timestamp": "2024-05-06T08:00:00Z",
        "tags": ["moving"],
        "metadata": {"city": "Lyon"},
    }
    assert run(write_lines(tmp_path / "chat.json", [conversation]), store).added == 2
    first, second = stored(store)
    assert (first["content"], first["owner"], first["session_id"]) == ("I moved to Lyon.", "Maya", "monday")
    assert (first["source"], first["tags"], first["meta"]) == ("app", ["moving"], {"city": "Lyon"})
    assert first["memory_at"] == 1714982400.0
    assert second["owner"] == "assistant"
    assert store.memory_stats(user_id="u")["by_layer"]["l1_raw"] == 1


def test_memory_lines_keep_every_field(tmp_path: Path, store: HyMemoryClient) -> None:
    line = {
        "content": "Pixel is our cat.",
        "user_id": "maya",
        "agent_id": "a",
        "session_id": "s",
        "source": "notes",
        "tags": ["home"],
        "metadata": {"n": 1},
        "name": "Maya",
        "memory_at": "2024-05-06",
        "layer": "l4_identity",
        "expires_at": 4e9,
    }
    run(write_lines(tmp_path / "m.jsonl", [line, {"content": "other"}]), store)
    (item,) = stored(store, "maya")
    assert {key: item[key] for key in ("content", "agent_id", "session_id", "source", "tags", "layer")} == {
        key: line[key] for key in ("content", "agent_id", "session_id", "source", "tags", "layer")
    }
    assert (item["owner"], item["meta"], item["expires_at"]) == ("Maya", {"n": 1}, 4e9)
    assert item["memory_at"] == 1714953600.0
    assert [one["content"] for one in stored(store)] == ["other"]


def test_unread_keys_are_counted(tmp_path: Path, store: HyMemoryClient) -> None:
    lines = [
        {"content": "a", "tag": "typo"},
        {"content": "b", "tag": "typo", "id": 1},
        {"content": "c", "x": None},
    ]
    assert run(write_lines(tmp_path / "m.jsonl", lines), store).ignored == {"tag": 2, "id": 1}


# -- streaming and batches ---------------------------------------------------------------------------


def test_lines_are_streamed(tmp_path: Path, store: HyMemoryClient) -> None:
    """What is written so far is there before the rest of the file is even read."""
    path = tmp_path / "m.jsonl"
    write_lines(path, [{"content": f"memory {number}"} for number in range(3 * BATCH)])
    seen: list[tuple[int, int]] = []

    def watch(done: int, size: int) -> None:
        seen.append((done, size))
        assert store.memory_stats(user_id="u")["total"] == len(seen) * BATCH

    run(path, store, progress=watch)
    size = path.stat().st_size
    assert [total for _, total in seen] == [size] * 3
    assert 0 < seen[0][0] < seen[1][0] < seen[2][0] == size


def test_a_huge_file_is_not_held_in_memory(tmp_path: Path) -> None:
    """Reading 60 MB of lines takes a small part of that."""
    path = tmp_path / "big.jsonl"
    line = json.dumps({"content": "x" * 1000}) + "\n"
    with path.open("w") as stream:
        for _ in range(600):
            stream.write(line * 100)
    program = (
        "import resource, sys; from pathlib import Path; from hy_memory.importers.files import open_file\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in open_file(Path(sys.argv[1])).places())\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    count, kilobytes = map(int, done.stdout.split())
    assert count == 60_000
    assert kilobytes < 15_000


def test_a_long_conversation_is_written_in_pieces(tmp_path: Path, store: HyMemoryClient) -> None:
    messages = [{"role": "user", "content": f"sentence {number}"} for number in range(2 * BATCH + 10)]
    path = write_lines(tmp_path / "c.json", [{"messages": messages}])
    assert run(path, store).added == len(messages)
    assert store.memory_stats(user_id="u")["by_layer"]["l1_raw"] == 3
    assert run(path, store).already_there == len(messages)


# -- repetition --------------------------------------------------------------------------------------

_IMPORTING = """
import sys
from pathlib import Path
from hy_memory import HyMemoryClient
from hy_memory.importers import import_file
with HyMemoryClient({"data_dir": sys.argv[2], "embedder": {"provider": "hashed"}}) as client:
    import_file(Path(sys.argv[1]), client, user_id="u", progress=lambda done, size: print(done, flush=True))
"""


@pytest.mark.parametrize("kills", [1, 3])
def test_killed_import_is_completed_by_repeating_it(kills: int, tmp_path: Path) -> None:
    """Case C50: a failure in the middle is safe to retry; nothing is lost and nothing is there twice."""
    total = 12 * BATCH + 7
    contents = [f"memory number {number} of this file" for number in range(total)]
    path = write_lines(
        tmp_path / "m.jsonl",
        [{"content": text, "tags": ["odd" if at % 2 else "even"]} for at, text in enumerate(contents)],
    )
    folder = tmp_path / "killed"
    for _ in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", _IMPORTING, str(path), str(folder)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()  # the first batch that is new or known is done
            time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
    with HyMemoryClient({"data_dir": folder, "embedder": {"provider": "hashed"}}) as client:
        before = client.memory_stats(user_id="u")["total"]
        assert 0 < before < total
        report = run(path, client)
        assert (report.added, report.already_there) == (total - before, before)
        assert sorted(item["content"] for item in stored(client)) == sorted(contents)
        assert client.doctor()["healthy"]


def test_file_that_grew_adds_what_is_new(tmp_path: Path, store: HyMemoryClient) -> None:
    lines = [{"content": f"line {number}", "user_id": "ab"[number % 2]} for number in range(BATCH + 90)]
    path = tmp_path / "log.jsonl"
    sizes = (30, 31, BATCH - 1, BATCH + 40, BATCH + 90)
    counts = [run(write_lines(path, lines[:size]), store).added for size in sizes]
    assert counts == [30, 1, BATCH - 32, 41, 50]
    assert len(stored(store, "a")) + len(stored(store, "b")) == BATCH + 90


def test_later_export_of_the_same_chats_adds_only_new_messages(tmp_path: Path, store: HyMemoryClient) -> None:
    """Exports often put the newest chat first: a conversation is known by what it says."""
    old = {"session_id": "old", "messages": CHAT}
    grown = {"session_id": "old", "messages": [*CHAT, {"role": "user", "content": "I like it."}]}
    new = {"session_id": "new", "messages": [{"role": "user", "content": "Hello again."}]}
    path = tmp_path / "export.json"
    path.write_text(json.dumps([old]))
    assert run(path, store).added == 2
    path.write_text(json.dumps([new, grown]))
    report = run(path, store)
    assert (report.added, report.already_there) == (2, 2)
    assert [item["content"] for item in stored(store)].count("I moved to Lyon.") == 1


def test_a_conversation_that_is_there_twice_counts_once(tmp_path: Path, store: HyMemoryClient) -> None:
    report = run(write_lines(tmp_path / "c.jsonl", [CHAT, CHAT]), store)
    assert (report.added, report.already_there) == (2, 2)


def test_equal_lines_are_separate_memories(tmp_path: Path, store: HyMemoryClient) -> None:
    path = write_lines(tmp_path / "m.jsonl", [{"content": "coffee"}] * 3)
    assert (run(path, store).added, run(path, store).added) == (3, 0)


def test_equal_files_for_two_users_do_not_meet(tmp_path: Path, store: HyMemoryClient) -> None:
    path = write_lines(tmp_path / "m.jsonl", [{"content": "coffee"}])
    assert run(path, store).added == 1
    assert Import(path, Origin("v")).run(store).added == 1
    assert Import(path, Origin("u", source="mail")).run(store).added == 1


# -- bad places --------------------------------------------------------------------------------------

BAD = [
    ('{"content": ', "is not JSON"),
    ('{"content": ""}', "content"),
    ('{"content": 5}', "content"),
    ('{"text": "x"}', "give a memory"),
    ("[]", "give a memory"),
    ("17", "give a memory"),
    ('{"content": "a", "timestamp": "yesterday"}', "timestamp"),
    ('{"content": "a", "metadata": {"x": NaN}}', "metadata.x"),
    ('{"content": "a", "user_id": " "}', "user_id"),
    ('{"content": "a", "layer": "l9"}', "layer"),
    ('{"content": "a", "tags": "x"}', "tags"),
    ('{"messages": []}', "messages"),
    ('{"messages": [{"role": "user", "content": " "}]}', "no text"),
    ('{"messages": [{"role": "user", "content": {"a": 1}}]}', "content"),
    ("[" * 100_000, "nests too deeply"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_bad_line_is_named_and_nothing_of_its_batch_is_written(
    line: str, reason: str, tmp_path: Path, store: HyMemoryClient
) -> None:
    path = tmp_path / "m.jsonl"
    good = [json.dumps({"content": f"good {number}"}) for number in range(BATCH + 5)]
    path.write_text("\n".join([*good, line, "\n", json.dumps({"content": "after"})]), encoding="utf-8")
    with pytest.raises(InvalidArgumentError, match=rf"^line {BATCH + 6}\b.*") as caught:
        run(path, store)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400
    assert len(stored(store)) == BATCH

    report = run(path, store, skip_bad=True)
    assert (report.added, report.already_there, report.bad) == (6, BATCH, 1)
    assert report.bad_places[0].startswith(f"line {BATCH + 6}")


def test_first_line_may_be_bad_too(tmp_path: Path, store: HyMemoryClient) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'\xff\xfe\n{"content": "fine"}\n')
    with pytest.raises(InvalidArgumentError, match=r"^line 1=.*not UTF-8"):
        run(path, store)
    assert run(path, store, skip_bad=True).added == 1


@pytest.mark.parametrize(
    "text", ["", "\n \n", "[]", "{}", "null", '"text"', "hello", "[1, 2]", '[{"a": 1}]', "{", "a,b\n1,2"]
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError):
        open_file(path)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(InvalidArgumentError, match="cannot be read"):
            open_file(path)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(data)
    try:
        places = list(open_file(path).places())
    except InvalidArgumentError:
        return
    assert all(place.number >= 1 and place.end <= max(1, len(data)) for place in places)
