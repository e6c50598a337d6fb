"""Stores of many users of one size, made once and kept in a folder.

User k has the same 1,000 memories in a store of any size, so that curves over the store's size ask the
same questions of the same memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data import Corpus, make_corpus, make_query
from benchmarks.speed import Injected, config
from hy_memory import HyMemoryClient
from hy_memory.values.point import FloatArray

SEED = 7
USER = 1000  # memories of a user
BLOCK = 10_000  # memories made at once
USER_SIZES = (100, 1000, 10_000, 100_000)
BACKEND = "faiss"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one user, and its vector (384,)."""

    user: str
    text: str
    vector: FloatArray


BUDGET = 8192  # MB for working sets: nothing is put out while it is measured


def open_client(folder: Path, budget: int = BUDGET) -> HyMemoryClient:
    """Open a store with vectors injected (models cost nothing here) and `budget` MB for working sets."""
    settings = config(str(folder), BACKEND)
    settings["vector_store"]["memory_budget_mb"] = budget
    return HyMemoryClient(settings, embedding_service=Injected())


def user_name(number: int) -> str:
    return f"user{number}"


def rows_of(corpus: Corpus, rows: range, user: str, client: HyMemoryClient, batch: int = USER) -> None:
    """Add rows of a corpus to a user in batches; `metadata.rank` is the row's place, for filters."""
    for start in range(rows.start, rows.stop, batch):
        part = range(start, min(start + batch, rows.stop))
        facts = [{"content": corpus.texts[row], "metadata": {"rank": row % 100}} for row in part]
        source = f"app{int(user.removeprefix('user') or 0) % 7}"
        client.add_extracted(
            facts, user_id=user, source=source, embeddings=corpus.vectors[part.start : part.stop]
        )


def _blocks(size: int) -> Iterator[Corpus]:
    for number in range(-(-size // BLOCK)):
        yield make_corpus(min(BLOCK, size - number * BLOCK), SEED + number, users=1)


def store_of(cache: Path, size: int) -> Path:
    """Return the folder of a store of `size` memories, users of USER each; made when it is missing."""
    folder = cache / f"store-{size}"
    if (folder / ".built").is_file():
        return folder
    with open_client(folder) as client:
        user = 0
        for corpus in _blocks(size):
            for start in range(0, len(corpus.texts), USER):
                rows_of(corpus, range(start, min(start + USER, len(corpus.texts))), user_name(user), client)
                user += 1
    (folder / ".built").touch()
    return folder


def store_of_sizes(cache: Path, sizes: tuple[int, ...]) -> Path:
    """Return the folder of a store whose user k has sizes[k] memories; made when it is missing."""
    folder = cache / f"users-{'-'.join(map(str, sizes))}"
    if (folder / ".built").is_file():
        return folder
    with open_client(folder) as client:
        for user, size in enumerate(sizes):
            for corpus in _blocks(size):
                rows_of(corpus, range(len(corpus.texts)), user_name(user), client)
    (folder / ".built").touch()
    return folder


def questions(users: int, count: int) -> list[Question]:
    """Return `count` questions of the first `users` users of a store of any size, in turns."""
    rng = np.random.default_rng(SEED)
    corpus = make_corpus(BLOCK, SEED, users=1)
    owners = np.arange(BLOCK) // USER
    owned = Corpus(corpus.vectors, owners, corpus.texts)
    users = min(users, BLOCK // USER)
    return [Question(user_name(turn % users), *make_query(owned, turn % users, rng)) for turn in range(count)]
