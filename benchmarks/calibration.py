"""What a score means: how often a memory of that score answers, and what passes of other people's memories.

    python -m benchmarks.calibration DIR --embedder e5 --reader legacy hybrid --out docs/benchmarks

DIR is a folder of labelled sets, as benchmarks.retrieval reads it. Of each question it takes the ten best
memories of the question's own user and counts, in bins of score, how many of them are labelled as
relevant. Labels name one answer and seldom all of what helps, so that the share is a lower bound; that it
rises with the score is what matters. At several values of `min_score`, the default first, it gives
precision and recall of those ten. Then each question is asked of *another* user of the set, whose memories
cannot answer it: what share of the questions gets anything at all.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.embedding_file import FiledEmbedder
from benchmarks.retrieval import load, read_lines, sets_in
from hy_memory import HyMemoryClient
from hy_memory.parts import open_embedder
from hy_memory.settings.load import load_settings

EDGES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Borders of the bins of score; the last bin includes 1."""
THRESHOLDS = (0.4, 0.6, 0.8, 0.9)
"""Values of `min_score` to compare; the first is its default."""
LIMIT = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """One set, embedder and reader. `relevant` of `shown` memories a bin are labelled as relevant.

    `precision`, `recall` and `answered` are at each of THRESHOLDS; `answered` is the share of
    `strangers_asked` questions that were put to another user and got anything.
    """

    name: str
    embedder: str
    reader: str
    shown: tuple[int, ...]
    relevant: tuple[int, ...]
    precision: tuple[float, ...]
    recall: tuple[float, ...]
    answered: tuple[float, ...]
    strangers_asked: int


def binned(pairs: Sequence[tuple[float, bool]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many (score, is relevant) pairs fall into each bin, and how many of these are relevant."""
    scores = np.array([score for score, _ in pairs])
    hits = np.array([hit for _, hit in pairs], dtype=bool)
    shown, _ = np.histogram(scores, EDGES)
    relevant, _ = np.histogram(scores[hits], EDGES)
    return tuple(shown.tolist()), tuple(relevant.tolist())


def strangers(users: Sequence[str]) -> dict[str, str]:
    """Return for each user another one of the set: the next by name, the first for the last."""
    ordered = sorted(set(users))
    return dict(zip(ordered, [*ordered[1:], *ordered[:1]], strict=True)) if len(ordered) > 1 else {}


def measure(client: HyMemoryClient, name: str, queries: Path, embedder: str, reader: str) -> Calibration:
    """Return how one reader's scores fare on one set that `client` holds."""
    asked = [query for query in read_lines(queries) if query["relevant"]]
    other = strangers([query["user_id"] for query in asked])
    pairs: list[tuple[float, bool]] = []
    best_of_strangers: list[float] = []
    wanted = 0
    for query in asked:
        relevant = set(query["relevant"])
        own = _ask(client, query["text"], query["user_id"], reader, 0.0)
        pairs += [(hit["score"], str(hit["meta"]["document"]) in relevant) for hit in own]
        wanted += len(relevant)
        if query["user_id"] in other:
            theirs = _ask(client, query["text"], other[query["user_id"]], reader, 0.0)
            best_of_strangers.append(max((hit["score"] for hit in theirs), default=0.0))
    shown, relevant_bins = binned(pairs)
    passed = [[hit for score, hit in pairs if score >= least] for least in THRESHOLDS]
    return Calibration(
        name, embedder, reader, shown, relevant_bins,
        precision=tuple(_share(sum(hits), len(hits)) for hits in passed),
        recall=tuple(_share(sum(hits), wanted) for hits in passed),
        answered=tuple(
            _share(sum(best >= least for best in best_of_strangers), len(best_of_strangers))
            for least in THRESHOLDS
        ),
        strangers_asked=len(best_of_strangers),
    )  # fmt: skip


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _ask(client: HyMemoryClient, text: str, user_id: str, reader: str, min_score: float) -> list[Any]:
    answer = client.search(text, user_ids=[user_id], reader=reader, limit=LIMIT, min_score=min_score)
    if "degraded" in answer:
        raise SystemExit(f"{user_id}: {answer['degraded']}")
    return list(answer["memories"]["normal"])


_HEAD = """\
# What a score means

Made by `python -m benchmarks.calibration`. The sets are labelled conversations and notes, no part of this
package. A cell of the first table is the share of memories with that score, among the ten best of a question,
that are labelled as relevant (and how many there were). Labels name an answer, seldom all of what helps: the
share is a lower bound; that it rises with the score is what counts.

"""
_STRANGERS = """
At several values of `min_score`, the default first: precision and recall of what comes, and the share of
questions that get anything when they are asked of somebody else's memories, which cannot answer them.

"""


def page(results: Sequence[Calibration]) -> str:
    """Return the results as a page."""
    bins = [f"{low:g}–{high:g}" for low, high in itertools.pairwise(EDGES)]
    lines = [
        *_HEAD.splitlines(),
        "| set | embedder | reader | " + " | ".join(bins) + " |",
        "|---|---|---|" + "---|" * len(bins),
    ]
    for one in results:
        cells = [
            f"{hits / count:.2f} ({count})" if count else "–"
            for hits, count in zip(one.relevant, one.shown, strict=True)
        ]
        lines.append(f"| {one.name} | {one.embedder} | {one.reader} | " + " | ".join(cells) + " |")
    lines += _STRANGERS.splitlines()
    titles = (
        f"{title} at {least:g}" for least in THRESHOLDS for title in ("precision", "recall", "strangers")
    )
    lines += [
        f"| set | embedder | reader | {' | '.join(titles)} |",
        "|---|---|---|" + "---|" * 3 * len(THRESHOLDS),
    ]
    for one in results:
        told = [one.name, one.embedder, one.reader]
        for precision, recall, answered in zip(one.precision, one.recall, one.answered, strict=True):
            strangers_told = f"{answered:.2f}" if one.strangers_asked else "–"
            told += [f"{precision:.2f}", f"{recall:.2f}", strangers_told]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", nargs="+", default=["legacy", "hybrid"])
    parser.add_argument("--embedder", nargs="+", default=["auto"])
    parser.add_argument("--sets", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hy_memory-benchmarks")
    options = parser.parse_args()
    results: list[Calibration] = []
    for provider in options.embedder:
        settings = load_settings({"embedder": {"provider": provider, "cache_size": 0}})
        inner = open_embedder(settings, None, None)
        embedder = FiledEmbedder(inner, options.cache / f"{inner.name}-{inner.fingerprint}.npz")
        for name, corpus, queries in sets_in(options.folder):
            if options.sets and name not in options.sets:
                continue
            with tempfile.TemporaryDirectory() as folder:
                config = {"data_dir": folder, "ledger": {"synchronous": "NORMAL"}}
                with HyMemoryClient(config, embedding_service=embedder) as client:
                    load(client, corpus)
                    for reader in options.reader:
                        results.append(measure(client, name, queries, inner.name, reader))
                        print(results[-1], flush=True)
            embedder.save()
    options.out.mkdir(parents=True, exist_ok=True)
    made = json.dumps([asdict(one) for one in results], indent=1) + "\n"
    (options.out / "calibration.json").write_text(made, encoding="utf-8")
    (options.out / "calibration.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
