"""Public cases of lasting stores: C45, C50, C56, C58 (C46, C49, C51, C54 are in tests/service)."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from hy_memory import HyMemoryClient
from tests.support.embedding import DIMS, DottedEmbedding
from tests.support.stores import LASTING, config_for, contents, ids, normal, open_client

ROOT = Path(__file__).parents[2]


def test_c45_a_new_process_with_the_default_config_finds_everything(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C45: nothing configured but the folder; three processes after each other."""
    script = (
        "import json, sys\n"
        "from hy_memory import HyMemoryClient\n"
        "with HyMemoryClient() as client:\n"
        "    found = client.search('violin', user_ids=['u'], limit=100)\n"
        "    client.add(f'She plays the violin {sys.argv[1]}', user_id='u')\n"
        "    print(json.dumps([one['content'] for one in found['memories']['normal']]))\n"
    )
    monkeypatch.setenv("MEMORY_DATA_DIR", str(folder))
    monkeypatch.setenv("MEMORY_EMBEDDER_PROVIDER", "hashed")
    for life in range(3):
        done = subprocess.run(
            [sys.executable, "-c", script, str(life)], cwd=ROOT, text=True, capture_output=True, check=True
        )
        assert sorted(json.loads(done.stdout)) == [f"She plays the violin {at}" for at in range(life)]


@pytest.mark.parametrize("backend", LASTING)
def test_c45_options_that_change_between_lives_lose_nothing(folder: Path, backend: str) -> None:
    """C45: durability, keyword index and cache settings may differ each time."""
    options: tuple[dict[str, Any], ...] = (
        {"ledger": {"synchronous": "FULL"}},
        {"embedder": {"cache_size": 100}},
        {"vector_store": {"provider": backend, "keyword_index": "local"}},
        {"vector_store": {"provider": backend, "memory_budget_mb": 16}, "reader": "hybrid"},
    )
    for life, option in enumerate(options):
        with open_client(backend, folder, config=option) as client:
            assert len(ids(client.search("alpha", user_ids=["u"]))) == life
            client.add(f"alpha {life}", user_id="u")


@pytest.mark.parametrize("backend", LASTING)
def test_c50_six_thousand_facts_in_one_call(folder: Path, backend: str) -> None:
    """C50: all stored and found; a repetition of the request stores none twice."""
    texts = [f"alpha {at}" for at in range(6000)]
    with open_client(backend, folder) as client:
        made = client.add_extracted(texts, user_id="u", request_id="r")
        assert made["searchable"]
        assert len(set(made["memory_ids"])) == 6000
        assert client.memory_stats(user_id="u")["total"] == 6000
        found = client.search("alpha", user_ids=["u"], limit=6000, reader="legacy")
        assert len(ids(found)) == 6000
        best = normal(client.search("5999", user_ids=["u"], reader="hybrid", limit=6000))
        assert {one["memory_id"]: one["content"] for one in best}[made["memory_ids"][-1]] == "alpha 5999"
        again = client.add_extracted(texts, user_id="u", request_id="r")
        assert again["memory_ids"] == made["memory_ids"]
        assert client.memory_stats(user_id="u")["total"] == 6000


@pytest.mark.parametrize("backend", LASTING)
def test_c56_nothing_grows_with_every_query(folder: Path, backend: str) -> None:
    """C56, scaled: after warming up, searches and add/delete cycles leave memory, handles and threads."""
    process = psutil.Process()
    searches = 300 if backend == "chroma" else 1000
    with open_client(backend, folder) as client:
        client.add_extracted([f"alpha {at} beta" for at in range(200)], user_id="u")

        def work(searches: int, cycles: int) -> None:
            for at in range(searches):
                client.search(f"alpha {at}", user_ids=["u"], reader="hybrid", min_score=0.1)
            for at in range(cycles):
                client.delete(client.add(f"gamma {at}", user_id="u")["memory_id"])

        work(searches // 2, 30)
        gc.collect()
        before = (process.memory_info().rss, process.num_fds(), threading.active_count())
        work(searches, 30)
        gc.collect()
        grown = process.memory_info().rss - before[0]
        # a leak of one answer (10 items, some 10 kB) a search would be as much or more
        assert grown < 6_000_000, f"{grown / searches:.0f} bytes a search"
        assert process.num_fds() <= before[1] + 10  # engines open a few more as they grow; a leak is hundreds
        assert threading.active_count() <= before[2]


def test_c58_from_constructor_to_first_result_on_ten_thousand(folder: Path) -> None:
    """C58: bounded, with no network: a second of CPU is several times what it takes."""
    generator = np.random.default_rng(1)
    with open_client("faiss", folder) as client:
        vectors = generator.standard_normal((10_000, DIMS), dtype=np.float32)
        texts = [f"alpha number {at} about subject {at % 97}" for at in range(10_000)]
        client.add_extracted(texts, user_id="u", embeddings=vectors)
    started = time.process_time()
    with HyMemoryClient(config_for("faiss", folder), embedding_service=DottedEmbedding()) as client:
        assert len(ids(client.search("subject 96", user_ids=["u"], reader="hybrid", min_score=0))) == 10
        assert time.process_time() - started < 1.0
        started = time.process_time()
        assert contents(client.search("alpha", user_ids=["v"])) == []
        assert time.process_time() - started < 0.1
