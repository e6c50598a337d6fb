"""What sorting by length and eight bits save in a rerank, and what they cost in order.

    python -m benchmarks.rerank

A cross-encoder of the shape of MiniLM-L6-H384 with random weights judges 30 memories of ragged length
for each of some questions: in the order given, padded to the longest of each batch, in 32 bits, and as
the SDK does it. CPU time of one thread, the best of several rounds that take turns.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch as _torch
import transformers as _transformers

from hy_memory.reranking.cross_encoder import open_reranker
from hy_memory.reranking.options import RerankerOptions

torch, transformers = cast("Any", _torch), cast("Any", _transformers)
PAIRS, TOP = 30, 10
VOCABULARY = [f"w{number}" for number in range(30_000)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--questions", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--batch-size", type=int, default=16)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder))
        asked = [make_question(seed) for seed in range(chosen.questions)]
        plain = opened(folder, chosen.batch_size)
        ways: dict[str, Callable[[str, Sequence[str]], Any]] = {
            "32 bits, one batch": lambda query, texts: unsorted(plain, query, texts, PAIRS),
            "32 bits, unsorted": lambda query, texts: unsorted(plain, query, texts, chosen.batch_size),
            "32 bits, sorted": plain.scores,
            "8 bits, sorted": opened(folder, chosen.batch_size, int8=True).scores,
        }
        report(measured(ways, asked, chosen.rounds))


def save_model(folder: Path) -> None:
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    (folder / "vocab.txt").write_text("\n".join((*special, *VOCABULARY)), "utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    shape = transformers.BertConfig(
        vocab_size=len(VOCABULARY) + len(special),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=1,
    )
    transformers.BertForSequenceClassification(shape).save_pretrained(folder)


def make_question(seed: int) -> tuple[str, list[str]]:
    """Return a question and memories: pairs of 12 to 83 tokens, 35 on average, special ones included."""
    chosen = random.Random(seed)
    lengths = [min(83, round(12 + chosen.expovariate(1 / 25))) for _ in range(PAIRS)]
    texts = [" ".join(chosen.choices(VOCABULARY, k=length - 9)) for length in lengths]
    return " ".join(chosen.choices(VOCABULARY, k=6)), texts


def opened(folder: str, batch_size: int, int8: bool = False) -> Any:
    return open_reranker(RerankerOptions(folder, device="cpu", batch_size=batch_size, int8=int8))


def unsorted(reranker: Any, query: str, texts: Sequence[str], batch_size: int) -> Any:
    pairs = [reranker._pairs.read(query, text) for text in texts]
    batches = (pairs[start : start + batch_size] for start in range(0, len(pairs), batch_size))
    return np.concatenate([reranker._forward(batch)[:, 0] for batch in batches])


def measured(ways: dict[str, Any], asked: Sequence[Any], rounds: int) -> dict[str, tuple[float, float]]:
    """Return, by way, milliseconds for one question and the overlap of its best with the first way's."""
    spent = {name: [float("inf")] * len(asked) for name in ways}
    best: dict[str, list[set[int]]] = {name: [] for name in ways}
    for turn in range(rounds):
        for at, (query, texts) in enumerate(asked):
            for name, way in ways.items():
                started = time.process_time()
                scores = way(query, texts)
                spent[name][at] = min(spent[name][at], time.process_time() - started)
                if turn == 0:
                    best[name].append(set(np.argsort(-scores)[:TOP].tolist()))
    first = next(iter(best.values()))
    return {
        name: (
            1000 * float(np.mean(spent[name])),
            float(np.mean([len(one & other) / TOP for one, other in zip(best[name], first, strict=True)])),
        )
        for name in ways
    }


def report(rows: dict[str, tuple[float, float]]) -> None:
    reference = rows["32 bits, unsorted"][0]
    print(f"| {PAIRS} pairs | CPU ms | of 32 bits unsorted | same top {TOP} |")
    print("|---|---|---|---|")
    for name, (spent, overlap) in rows.items():
        print(f"| {name} | {spent:.0f} | {spent / reference:.2f} | {overlap:.3f} |")


if __name__ == "__main__":
    main()
