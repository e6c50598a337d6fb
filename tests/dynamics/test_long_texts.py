"""Long texts are stored as a whole and in sections, and are one memory to whoever changes them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from hy_memory.errors import EmbeddingError, InvalidArgumentError
from hy_memory.text.sections import LENGTH, sections
from tests.support.embedding import DottedEmbedding
from tests.support.stores import LASTING, READERS, config_for, open_client

ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {"dynamics": {"section_above_tokens": 500}, "embedder": {"provider": "hashed"}}
FILLER = "The committee met again and talked about the budget of the coming year at great length. "


def _text(characters: int, last: str = "") -> str:
    return (FILLER * (characters // len(FILLER) + 1))[:characters] + last


@pytest.fixture
def client(folder: Path) -> Iterator[HyMemoryClient]:
    with HyMemoryClient({**config_for("faiss", folder), **SMALL}) as opened:
        yield opened


def _hits(client: HyMemoryClient, query: str, **more: Any) -> list[Any]:
    arguments: dict[str, Any] = {"user_ids": ["u"], "limit": 5, **more}
    return list(client.search(query, **arguments)["memories"]["normal"])


@given(st.text(alphabet="ab .!?。\n é中", max_size=4000), st.integers(2, 300))
def test_sections_make_up_the_text(text: str, length: int) -> None:
    parts = sections(text, length)
    assert "".join(parts) == text
    assert all(len(one) <= length for one in parts)
    assert all(one for one in parts) or text == ""


def test_sections_end_where_it_hurts_least() -> None:
    paragraph = "x" * 60 + ". " + "y" * 20 + "\n\n" + "z" * 90
    assert sections(paragraph, 100)[0].endswith("\n\n")
    assert sections("a" * 55 + ". " + "b" * 90, 100)[0] == "a" * 55 + ". "
    assert sections("a" * 55 + "。" + "中" * 90, 100)[0] == "a" * 55 + "。"
    assert sections("a" * 55 + " " + "b" * 90, 100)[0] == "a" * 55 + " "
    assert sections("a" * 250, 100) == ["a" * 100, "a" * 100, "a" * 50]
    assert sections("", 100) == [""]


@pytest.mark.parametrize("reader", READERS)
def test_the_last_sentence_of_a_megabyte_is_found(folder: Path, reader: str) -> None:
    """By what stands in it, in its section, which names the memory that holds all of it."""
    marker = "The violin of grandfather Anselm is hidden in the greenhouse."
    with HyMemoryClient({**config_for("faiss", folder), "embedder": {"provider": "hashed"}}) as client:
        whole = _text(1_000_000, marker)
        root = client.add(whole, user_id="u")["memory_id"]
        hits = _hits(client, "where is the violin of grandfather Anselm", reader=reader)
        assert marker in hits[0]["content"]
        assert len(hits[0]["content"]) <= LENGTH
        assert hits[0]["part_of"] == root
        stored = client.get(root)
        assert stored is not None
        assert stored["content"] == whole
        assert "part_of" not in stored


@pytest.mark.parametrize("backend", LASTING)
def test_sections_come_and_go_with_their_root(folder: Path, backend: str) -> None:
    with HyMemoryClient({**config_for(backend, folder), **SMALL}) as client:
        made = client.add(_text(9000), user_id="u", tags=["x"], metadata={"title": "minutes"}, source="mail")
        assert len(made["memory_ids"]) == 1
        everything = client.list_memories(user_id="u", order="asc")["memories"]
        parts = [one for one in everything if "part_of" in one]
        assert [one.get("position") for one in parts] == list(range(len(parts)))
        assert len(parts) >= 3
        assert {one["part_of"] for one in parts} == set(made["memory_ids"])
        assert all(one["tags"] == ["x"] and one["meta"] == {"title": "minutes"} for one in everything)
        assert "".join(one["content"] for one in parts) == _text(9000)
        assert client.add(_text(9000), user_id="u", tags=["x"], metadata={"title": "minutes"}, source="mail")[
            "deduplicated"
        ]
        client.clone_user("u", "v")
        copies = client.list_memories(user_id="v")["memories"]
        roots = {one["memory_id"] for one in copies if "part_of" not in one}
        assert {one["part_of"] for one in copies if "part_of" in one} == roots
        assert client.delete(made["memory_id"])["deleted_count"] == 1
        assert client.list_memories(user_id="u")["total"] == 0
        assert client.list_memories(user_id="v")["total"] == len(everything)
        assert _hits(client, "committee budget", min_score=0.0) == []
        assert client.doctor()["healthy"]


def test_a_section_is_no_memory_to_change_by_itself(client: HyMemoryClient) -> None:
    root = client.add(_text(9000), user_id="u")["memory_id"]
    part = next(one for one in client.list_memories(user_id="u")["memories"] if "part_of" in one)
    for change in (lambda: client.delete(part["memory_id"]), lambda: client.update(part["memory_id"], "x")):
        with pytest.raises(InvalidArgumentError, match=root):
            change()
    with pytest.raises(InvalidArgumentError, match="supersedes"):
        client.update(root, "x")
    assert client.get(part["memory_id"]) is not None


def test_what_takes_its_place_takes_that_of_its_sections(client: HyMemoryClient) -> None:
    root = client.add(_text(9000, " The old violin is in the attic."), user_id="u")["memory_id"]
    fresh = {"content": _text(9000, " The new violin is in the cellar."), "supersedes": root}
    client.add_extracted([fresh], user_id="u")
    contents = [one["content"] for one in _hits(client, "violin", limit=50, min_score=0.0)]
    assert any("cellar" in one for one in contents)
    assert not any("attic" in one for one in contents)
    old = client.get(root)
    assert old is not None
    assert old["status"] == "superseded"


def test_alike_sections_are_all_kept(client: HyMemoryClient) -> None:
    """They are parts of a whole and no repeats of each other."""
    client.add("line of a refrain " * 2000, user_id="u")
    parts = [one for one in client.list_memories(user_id="u")["memories"] if "part_of" in one]
    assert "".join(one["content"] for one in reversed(parts)) == "line of a refrain " * 2000


def test_own_vectors_stay_and_others_are_means(folder: Path) -> None:
    """A megabyte is never embedded as a whole."""
    seen: list[int] = []

    class Counting(DottedEmbedding):
        def embed_batch(self, texts: list[str]) -> Any:
            seen.extend(len(one) for one in texts)
            return super().embed_batch(texts)

    config = {"dynamics": {"section_above_tokens": 500}}
    with open_client("faiss", folder, Counting(), config=config) as client:
        client.add(_text(20_000), user_id="u")
        assert max(seen) <= LENGTH
        vector = [0.0] * 7 + [1.0]
        root = client.add_extracted([_text(9000, "x")], user_id="u", embeddings=[vector])["memory_id"]
        runtime = client.runtime()
        assert np.allclose(runtime.ledger.searchable([root])[root].vector, vector)


def test_nothing_of_it_is_stored_when_a_section_cannot_be(client: HyMemoryClient) -> None:
    with pytest.MonkeyPatch.context() as patch:

        def fail(texts: Any) -> Any:
            raise EmbeddingError("down")

        patch.setattr(client.runtime().embedder, "embed_documents", fail)
        with pytest.raises(EmbeddingError):
            client.add(_text(9000), user_id="u")
    assert client.list_memories(user_id="u")["total"] == 0


_WRITER = """
import sys
from hy_memory import HyMemoryClient
from tests.dynamics.test_long_texts import SMALL, _text
from tests.support.stores import config_for
from pathlib import Path
with HyMemoryClient({**config_for("faiss", Path(sys.argv[1])), **SMALL}) as client:
    print("ready", flush=True)
    for number in range(1000):
        client.add(_text(60_000, f" Number {number}."), user_id="u")
"""


@pytest.mark.parametrize("after", [0.02, 0.07, 0.13])
def test_a_crash_in_the_middle_leaves_all_or_nothing(folder: Path, after: float) -> None:
    """SIGKILL while long texts are added: every root has all of its sections, and no section is alone."""
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    time.sleep(after)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with HyMemoryClient({**config_for("faiss", folder), **SMALL}) as client:
        everything = client.list_memories(user_id="u", limit=100_000, order="asc")["memories"]
        texts = {one["memory_id"]: one["content"] for one in everything if "part_of" not in one}
        joined: dict[str, str] = dict.fromkeys(texts, "")
        for one in everything:
            if "part_of" in one:
                joined[one["part_of"]] += one["content"]
        assert joined == texts
        assert client.doctor()["healthy"]
