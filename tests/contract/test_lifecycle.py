"""Constructing and closing: where settings come from, what a closed client says (contract §5, §8)."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ClosedError, ConfigurationError, HyMemoryError, InvalidArgumentError
from tests.contract.test_arguments import GOOD
from tests.support.embedding import DottedEmbedding
from tests.support.stores import BACKENDS, LASTING, config_for, contents, open_client

VERBS = sorted(GOOD)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_closed_client_says_so_and_closes_twice(folder: Path, backend: str) -> None:
    """C46: close() is idempotent, the context manager closes."""
    with open_client(backend, folder) as client:
        client.add("alpha", user_id="u")
        client.close()
        client.close()
        for verb in VERBS:
            with pytest.raises(ClosedError) as caught:
                getattr(client, verb)(**GOOD[verb])
            assert isinstance(caught.value, HyMemoryError)
    with open_client(backend, folder) as client:
        assert client.get("m") is None


def test_async_context_and_close(folder: Path) -> None:
    async def live() -> HyMemoryClient:
        async with open_client("faiss", folder) as client:
            await client.async_add("alpha", user_id="u")
            assert contents(await client.async_search("alpha", user_ids=["u"])) == ["alpha"]
        await client.async_close()
        for verb in VERBS:
            with pytest.raises(ClosedError):
                await getattr(client, f"async_{verb}")(**GOOD[verb])
        return client

    client = asyncio.run(live())
    with pytest.raises(ClosedError):
        client.search("alpha", user_ids=["u"])


def test_every_verb_has_an_async_twin_of_the_same_signature() -> None:
    for verb in VERBS:
        plain = getattr(HyMemoryClient, verb)
        twin = getattr(HyMemoryClient, f"async_{verb}")
        assert inspect.signature(twin).parameters == inspect.signature(plain).parameters
        assert inspect.iscoroutinefunction(twin)
        assert twin.__name__ == f"async_{verb}"


def test_settings_from_arguments_over_environment_over_dotenv(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("file", "environment", "argument"):
        (folder / name).mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(
        f"MEMORY_DATA_DIR={folder / 'file'}\nHY_MEMORY_READER=hybrid\nMEMORY_VECTOR_STORE=memory\nOTHER=x\n"
    )
    service = DottedEmbedding()
    with HyMemoryClient(embedding_service=service) as client:
        client.add("alpha", user_id="u")
    assert (folder / "file" / "ledger.sqlite3").is_file()
    monkeypatch.setenv("MEMORY_DATA_DIR", str(folder / "environment"))
    with HyMemoryClient(embedding_service=service) as client:
        client.add("alpha", user_id="u")
    assert (folder / "environment" / "ledger.sqlite3").is_file()
    with HyMemoryClient.from_config({"data_dir": str(folder / "argument")}, embedding_service=service):
        assert (folder / "argument" / "ledger.sqlite3").is_file()


@pytest.mark.parametrize(
    ("config", "hint"),
    [
        ({"data_dirs": "x"}, "data_dir"),
        ({"vector_store": {"provder": "faiss"}}, "provider"),
        ({"vector_store": {"provider": "fais"}}, "faiss"),
        ({"embedder": {"provider": "hash"}}, "hashed"),
        ({"recall": {"raise": True}}, "raise_on_failure"),
        ({"threads": 0}, "threads"),
        ({"mode": "fast"}, "lite"),
        ({"mode": "pro"}, "lite"),
        ({"ledger": {"url": "mysql://x"}}, "postgresql"),
        ({"ledger": {"synchronous": "MAYBE"}}, "FULL"),
        ({"vector_store": {"keyword_index": "none"}}, "local"),
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_meant_is_an_error_that_helps(
    folder: Path, config: dict[str, Any], hint: str
) -> None:
    with pytest.raises(ConfigurationError, match=hint) as caught:
        HyMemoryClient.from_config({"data_dir": str(folder), **config})
    assert isinstance(caught.value, ValueError)


def test_an_unknown_variable_is_an_error_and_a_known_foreign_one_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_GRAPH_STORE", "kuzu")  # one of Hy-Memory 2.0 that means nothing here
    open_client("faiss", folder).close()
    monkeypatch.setenv("MEMORY_PROFILE_DIR", "x")  # another
    open_client("faiss", folder).close()
    for wrong, right in {
        "MEMORY_DATA_DIRR": "MEMORY_DATA_DIR",
        "MEMORY_PROFILE_FIELD": "MEMORY_PROFILE_FIELDS",
    }.items():
        with monkeypatch.context() as inner:
            inner.setenv(wrong, "/nowhere")
            with pytest.raises(ConfigurationError, match=f"{right}\\?"):
                open_client("faiss", folder)


@pytest.mark.parametrize("service", [object(), 7, "e5"], ids=["object", "number", "text"])
def test_an_embedding_service_without_its_methods_is_refused(folder: Path, service: object) -> None:
    with pytest.raises(InvalidArgumentError, match="embed_batch"):
        HyMemoryClient({"data_dir": str(folder)}, embedding_service=service)


def test_a_constructor_that_fails_lets_go_of_the_store(folder: Path) -> None:
    with pytest.raises(ConfigurationError):
        HyMemoryClient({"data_dir": str(folder), "vector_store": {"provider": "fais"}})
    with open_client("faiss", folder) as client:
        assert client.add("alpha", user_id="u")["searchable"]


@pytest.mark.parametrize("backend", LASTING)
def test_folders_with_any_name(folder: Path, backend: str) -> None:
    """Long and non-ASCII paths, blanks and quotes: a store works wherever the user's home is."""
    deep = folder / "数据 store's" / ("深" * 40) / ("long-" * 20)
    with open_client(backend, deep) as client:
        assert client.add("alpha", user_id="u")["searchable"]
    with open_client(backend, deep) as client:
        assert contents(client.search("alpha", user_ids=["u"])) == ["alpha"]


@pytest.mark.parametrize("backend", ["qdrant", *(["chroma"] if "chroma" in LASTING else [])])
def test_a_lost_folder_of_a_projection_is_filled_again_from_the_ledger(folder: Path, backend: str) -> None:
    import shutil

    with open_client(backend, folder) as client:
        client.add_extracted(["alpha", "beta"], user_id="u")
    shutil.rmtree(folder / backend)
    with open_client(backend, folder) as client:
        assert len(contents(client.search("alpha", user_ids=["u"]))) == 2
        assert client.doctor()["healthy"]


def test_another_backend_over_the_same_ledger_finds_everything(folder: Path) -> None:
    """Changing the backend is never a loss: it is fed from the ledger."""
    with open_client("faiss", folder) as client:
        made = client.add_extracted(["alpha", "beta"], user_id="u")["memory_ids"]
    for backend in (*LASTING, *reversed(LASTING)):
        with HyMemoryClient(config_for(backend, folder), embedding_service=DottedEmbedding()) as client:
            found = client.search("alpha", user_ids=["u"])
            assert sorted(one.get("memory_id", "") for one in found.get("memories", {})["normal"]) == made
            client.delete(made.pop())
            made += client.add_extracted([f"alpha {backend}"], user_id="u")["memory_ids"]
            made.sort()
