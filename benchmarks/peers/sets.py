"""The data that everybody gets, as files: documents and questions (JSON lines) and their vectors (.npy).

Synthetic: `maya` owns the measured number of memories, `omar` a tenth of it (so that the user filter has
something to keep out), `lena` those that are added one by one. Labelled: as `benchmarks.retrieval` reads it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import DIMS, Corpus, make_corpus, make_query
from benchmarks.embedding_file import FiledEmbedder
from benchmarks.retrieval import ROLES, read_lines
from hy_memory.values.point import FloatArray

SEED = 7
OWNER, NEIGHBOUR, NEWCOMER = "maya", "omar", "lena"
SELF_QUESTIONS = 20
SINGLES = 50


def synthetic(folder: Path, size: int, questions: int) -> Path:
    """Write the synthetic set of `size` memories once, and return its folder.

    Its first SELF_QUESTIONS questions are stored memories word for word, the others lie near one.
    """
    if _is_written(folder):
        return folder
    neighbours = max(50, size // 10)
    corpus = make_corpus(size + neighbours + SINGLES, SEED, users=1)
    owners = [OWNER] * size + [NEIGHBOUR] * neighbours + [NEWCOMER] * SINGLES
    texts = _distinct(corpus.texts)
    documents = [
        {"id": str(row), "user": user, "text": text}
        for row, (user, text) in enumerate(zip(owners, texts, strict=True))
    ]
    own = Corpus(corpus.vectors[:size], corpus.owners[:size], texts[:size])
    asked, vectors = _questions(own, questions)
    _write(folder, documents, corpus.vectors, asked, vectors)
    return folder


def labelled(folder: Path, paths: tuple[Path, Path], embedder: FiledEmbedder) -> Path:
    """Write a labelled set with its vectors once, and return its folder."""
    if _is_written(folder):
        return folder
    corpus = sorted(read_lines(paths[0]), key=lambda one: (one["user_id"], one.get("seq") or 0))
    documents = [_as_stored(one) for one in corpus]
    asked = [{**one, "user": one["user_id"]} for one in read_lines(paths[1])]
    vectors = embedder.embed_batch([one["text"] for one in documents])
    question_vectors = np.stack([embedder.embed_query(one["text"]) for one in asked])
    embedder.save()
    _write(folder, documents, vectors, asked, question_vectors)
    return folder


def _as_stored(one: dict[str, Any]) -> dict[str, Any]:
    """Return a document as everybody stores it: "name: text" where a named person said it.

    hy_memory is told name and text (`said`) apart, and embeds the same line.
    """
    speaker = one.get("speaker")
    text = f"{speaker}: {one['text']}" if speaker and speaker not in ROLES else one["text"]
    return {**one, "user": one["user_id"], "said": one["text"], "text": text}


def nearest(folder: Path, limit: int) -> list[list[str]]:
    """Return the ids of each synthetic question's nearest memories of its user, by exact cosine."""
    documents, asked = (
        list(read_lines(folder / "documents.jsonl")),
        list(read_lines(folder / "questions.jsonl")),
    )
    size = sum(one["user"] == OWNER for one in documents)
    own = np.load(folder / "documents.npy", mmap_mode="r")[:size]
    found = []
    for vector in np.load(folder / "questions.npy")[: len(asked)]:
        cosines = own @ vector
        best = np.argpartition(-cosines, min(limit, size - 1))[:limit]
        found.append([documents[row]["id"] for row in best[np.argsort(-cosines[best])].tolist()])
    return found


def _questions(own: Corpus, count: int) -> tuple[list[dict[str, Any]], FloatArray]:
    rng = np.random.default_rng(SEED + 1)
    asked, vectors, seen = [], [], set()
    for row in rng.choice(len(own.texts), size=SELF_QUESTIONS, replace=False).tolist():
        asked.append({"id": f"self{row}", "user": OWNER, "text": own.texts[row], "self": str(row)})
        vectors.append(own.vectors[row])
        seen.add(own.texts[row])
    while len(asked) < SELF_QUESTIONS + count:
        text, vector = make_query(own, 0, rng)
        if text not in seen:  # the embedder is asked by text
            seen.add(text)
            asked.append({"id": f"near{len(asked)}", "user": OWNER, "text": text})
            vectors.append(vector)
    return asked, np.stack(vectors).astype(np.float32).reshape(-1, DIMS)


def _distinct(texts: list[str]) -> list[str]:
    seen: set[str] = set()
    made = []
    for number, text in enumerate(texts):
        one = text if text not in seen else f"{text} again{number}"
        seen.add(one)
        made.append(one)
    return made


def _is_written(folder: Path) -> bool:
    return (folder / "questions.npy").is_file()


def _write(
    folder: Path,
    documents: Iterable[dict[str, Any]],
    vectors: FloatArray,
    asked: Iterable[dict[str, Any]],
    question_vectors: FloatArray,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("documents", documents), ("questions", asked)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    np.save(folder / "documents.npy", vectors.astype(np.float32))
    np.save(folder / "part.npy", question_vectors.astype(np.float32))
    os.replace(folder / "part.npy", folder / "questions.npy")  # last: it marks the set as complete
