"""Retrieval quality on labelled sets, through the client's own `search`.

    python -m benchmarks.retrieval DIR --reader hybrid --backend faiss --embedder e5

DIR holds NAME.corpus.jsonl(.gz) and NAME.queries.jsonl(.gz): documents
{"id", "user_id", "text", "timestamp", "session_id", "speaker", "seq", "caption"?, "place"?} and
questions {"id", "user_id", "text", "category", "relevant": [document ids]}. Every document becomes
a memory of its user; every question searches that user only, with `limit=10, min_score=0` and
otherwise default settings. Prints recall@5, recall@10, nDCG@10 and MRR, all and by category, and
the CPU time of a search without the embedding; writes one run file a set. `--stages` prints instead what each
ranking stage adds alone, and all of them, to the fused score; `--reranks` what each kind of local rerank
adds to the default, and what it costs.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.embedding_file import FiledEmbedder
from hy_memory import HyMemoryClient
from hy_memory.parts import open_embedder
from hy_memory.settings.load import load_settings

ROLES = ("user", "assistant")
METRICS = ("R@5", "R@10", "nDCG@10", "MRR")
DISCOUNT = 1 / np.log2(np.arange(2, 12))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, filter(str.strip, file))


def sets_in(folder: Path) -> list[tuple[str, Path, Path]]:
    """Return (name, corpus, queries) of every set in a folder."""
    found = []
    for corpus in sorted(folder.glob("*.corpus.jsonl*")):
        queries = corpus.with_name(corpus.name.replace(".corpus.", ".queries."))
        if queries.is_file():
            found.append((corpus.name.partition(".")[0], corpus, queries))
    return found


def fact(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as `add_extracted` takes it: a name is a name, a role is a role."""
    speaker = document.get("speaker")
    extra = {key: document[key] for key in ("caption", "place") if document.get(key)}
    made = {"content": document["text"], "metadata": {"document": document["id"], **extra}}
    if document.get("timestamp"):
        made["timestamp"] = document["timestamp"]
    if speaker:
        made["role" if speaker in ROLES else "name"] = speaker
    return made


def load(client: HyMemoryClient, corpus: Path) -> int:
    """Store a corpus, session by session in the order of its conversation; return how many there are."""
    total = 0
    key = lambda d: (d["user_id"], str(d.get("session_id") or "notes"))  # noqa: E731
    documents = sorted(read_lines(corpus), key=lambda d: (d["user_id"], d.get("seq") or 0))
    for (user_id, session_id), group in itertools.groupby(documents, key=key):
        facts = [fact(document) for document in group]
        client.add_extracted(facts, user_id=user_id, session_id=session_id)
        total += len(facts)
    return total


def score(ranked: list[str], relevant: Iterable[str]) -> tuple[float, ...]:
    """Return recall@5, recall@10, nDCG@10 (binary gains) and reciprocal rank of one ranking."""
    wanted = set(relevant)
    hits = np.array([one in wanted for one in ranked[:10]] + [False] * 10, dtype=float)[:10]
    first = np.flatnonzero(hits)
    ideal = DISCOUNT[: min(10, len(wanted))].sum()
    return (
        hits[:5].sum() / len(wanted),
        hits.sum() / len(wanted),
        float(hits @ DISCOUNT / ideal),
        1 / (first[0] + 1) if len(first) else 0.0,
    )


def measure(
    client: HyMemoryClient, queries: Path, reader: str, run: Path
) -> dict[str, list[tuple[float, ...]]]:
    """Return each question's scores by category ("all" first), and write the run file."""
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    spent: list[float] = []
    with run.open("w", encoding="utf-8") as file:
        for query in read_lines(queries):
            scope = {"user_ids": [query["user_id"]], "reader": reader, "limit": 10, "min_score": 0.0}
            client.search(query["text"], **scope)  # embeds, and loads the user's working set
            started = time.process_time()
            answer = client.search(query["text"], **scope)
            spent.append(time.process_time() - started)
            if "degraded" in answer:
                raise SystemExit(f"{query['id']}: {answer['degraded']}")
            ranked = [str(hit["meta"]["document"]) for hit in answer["memories"]["normal"]]
            file.write(json.dumps({"id": query["id"], "ranked": ranked}) + "\n")
            if query["relevant"]:
                one = score(ranked, query["relevant"])
                rows["all"].append(one)
                rows[query.get("category") or "-"].append(one)
    rows["CPU ms"] = [(1000 * float(np.median(spent)),)]
    return rows


def compare(
    name: str,
    corpus: Path,
    queries: Path,
    embedder: FiledEmbedder,
    out: Path,
    configurations: dict[str, dict[str, Any]],
) -> None:
    """Print R@10 and nDCG@10 of one set under each of `configurations`; each has a folder of run files."""
    with tempfile.TemporaryDirectory() as folder:
        config = {"data_dir": folder, "ledger": {"synchronous": "NORMAL"}}
        with HyMemoryClient(config, embedding_service=embedder) as client:
            load(client, corpus)
            embedder.save()
        for stage, chosen in configurations.items():
            runs = out / stage.replace(" ", "-")
            runs.mkdir(exist_ok=True)
            with HyMemoryClient({**config, **chosen}, embedding_service=embedder) as client:
                rows = measure(client, queries, "hybrid", runs / f"{name}.jsonl")
            _, recall, ndcg, _ = np.mean(rows["all"], axis=0)
            print(f"{name:12}{stage:24}{recall:>9.4f}{ndcg:>9.4f}{rows['CPU ms'][0][0]:>9.3f}", flush=True)


OFF = {"neighbours": 0, "named_speaker": 0, "own_words": 0, "time": 0}
STAGES: dict[str, dict[str, Any]] = {
    "fused alone": {"ranking": OFF},
    "neighbours": {"ranking": {**OFF, "neighbours": 1.0}},
    "named speaker": {"ranking": {**OFF, "named_speaker": 0.2}},
    "own words": {"ranking": {**OFF, "own_words": 1.0}},
    "time": {"ranking": {**OFF, "time": 0.2}},
    "entities": {"ranking": {**OFF, "entities": 0.2}},
    "folding": {"ranking": {**OFF, "fold_duplicates": True}},
    "default": {},
}
"""What `--stages` compares."""


def rerank(kind: str, **more: Any) -> dict[str, Any]:
    """Return the configuration of one kind of local rerank."""
    chosen = {f"local_rerank_{name}": value for name, value in more.items()}
    return {"recall": {"local_rerank_enabled": True, "local_rerank_kind": kind, **chosen}}


RERANKS: dict[str, dict[str, Any]] = {
    "default": {},
    "second hop": rerank("second_hop"),
    "late alone": rerank("late_interaction", blend=1.0),
    "late without hop": rerank("late_interaction", second_hop=0.0),
    "late interaction": rerank("late_interaction"),
    "late 512 tokens": rerank("late_interaction", max_length=512),
}
"""What `--reranks` compares."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", nargs="+", default=["legacy", "hybrid"])
    parser.add_argument("--backend", nargs="+", default=["faiss"])
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--sets", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of run files")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hy_memory-benchmarks")
    parser.add_argument("--stages", action="store_true", help="compare the ranking stages, hybrid reader")
    parser.add_argument("--reranks", nargs="*", choices=RERANKS, help="compare kinds of local rerank, or all")
    parser.add_argument("--categories", action="store_true", help="print each category too")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    settings = load_settings({"embedder": {"provider": options.embedder, "cache_size": 0}})
    inner = open_embedder(settings, None, None)
    embedder = FiledEmbedder(inner, options.cache / f"{inner.name}-{inner.fingerprint}.npz")
    print(
        f"{'set':12}{'reader':8}{'backend':8}{'category':26}{'n':>5}"
        + "".join(f"{m:>9}" for m in METRICS)
        + f"{'CPU ms':>9}"
    )
    for name, corpus, queries in sets_in(options.folder):
        if options.sets and name not in options.sets:
            continue
        if options.stages or options.reranks is not None:
            names = options.reranks or RERANKS
            chosen = STAGES if options.stages else {one: RERANKS[one] for one in names}
            compare(name, corpus, queries, embedder, options.out, chosen)
            continue
        for backend in options.backend:
            with tempfile.TemporaryDirectory() as folder:
                config = {
                    "data_dir": folder,
                    "vector_store": {"provider": backend},
                    "ledger": {"synchronous": "NORMAL"},
                }
                with HyMemoryClient(config, embedding_service=embedder) as client:
                    load(client, corpus)
                    embedder.save()
                    for reader in options.reader:
                        run = options.out / f"{name}.{reader}.{backend}.{inner.name}.jsonl"
                        rows = measure(client, queries, reader, run)
                        spent = rows.pop("CPU ms")[0][0]
                        for category, scores in rows.items():
                            if category == "all" or options.categories:
                                means = np.mean(scores, axis=0)
                                line = f"{name:12}{reader:8}{backend:8}{category:26}{len(scores):>5}"
                                print(
                                    line + "".join(f"{m:>9.4f}" for m in means) + f"{spent:>9.3f}", flush=True
                                )
    embedder.save()


if __name__ == "__main__":
    main()
