"""What becomes of new facts, held against the memories most like them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from hy_memory.errors import ConflictError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import And, Compare, Op
from hy_memory.llm.extract import Extracted, Known, Verdict, reconcile
from hy_memory.llm.port import ChatModel
from hy_memory.ports import Embedder, Ledger, VectorIndex
from hy_memory.ranking.fusion import dense_scores
from hy_memory.text.sameness import same_text_key
from hy_memory.values.point import FloatArray
from hy_memory.values.record import NORMAL_LAYERS, Layer, MemoryRecord, Status
from hy_memory.values.usage import Usage

_NEAREST = 5
_RELATED = 0.4  # the score from which on memories are related at all (contract §2, `min_score`)
_LAYERS = tuple(layer.value for layer in (*NORMAL_LAYERS, Layer.L7_INTENTION))


def verdicts_on(
    facts: Sequence[Extracted],
    records: Sequence[MemoryRecord],
    vectors: FloatArray,
    exchange: tuple[float, Collection[str]],
    ports: tuple[ChatModel, VectorIndex, Embedder, Ledger],
) -> tuple[list[Verdict], Usage]:
    """Return what becomes of each fact; `records` and `vectors` (n, dims) are theirs.

    `exchange` is when they were said, and memories that they are not held against: their own turns. A fact
    that a memory says word for word needs no model, nor does one that nothing is like. No two facts replace
    one memory, and none replaces what was said later: such a one is added. A memory of another source is
    only ever superseded, and texts are merged within one session alone: a text of both would be one's words
    in answers of the other, and would stay when that is deleted. Raises LLMError, BackendError, LedgerError.
    """
    model, index, embedder, ledger = ports
    said_at, own = exchange
    verdicts = [Verdict()] * len(facts)
    unsure: dict[int, tuple[Known, Sequence[Known]]] = {}
    for at, one in enumerate(facts):
        said = same_text_key(one.fact.text)
        known = _alike(vectors[at], records[at].user_id, own, index, embedder, ledger)
        source = records[at].source
        same = next((one for one in known if same_text_key(one.text) == said and one.source == source), None)
        if same is not None:
            verdicts[at] = Verdict("nothing", same)
        elif known:
            new = Known(records[at].id, one.fact.text, records[at].event_at, said_at, _origin(records[at]))
            unsure[at + 1] = (new, known)
    if not unsure:
        return verdicts, Usage()
    decided, usage = reconcile(model, unsure)
    replaced: set[str] = set()
    for number, verdict in sorted(decided.items()):
        known = verdict.known
        if number not in unsure or known is None or not _may_join(verdict, unsure[number][0], known):
            continue
        if verdict.action != "nothing":
            if known.memory_id in replaced or known.said_at > said_at:
                continue
            replaced.add(known.memory_id)
        verdicts[number - 1] = verdict
    return verdicts, usage


def _may_join(verdict: Verdict, new: Known, known: Known) -> bool:
    """Return whether a fact may say nothing new, or be merged: see `verdicts_on`."""
    if verdict.action == "update":
        return known.origin == new.origin
    return verdict.action == "supersede" or known.source == new.source


def said_meanwhile(
    records: Sequence[MemoryRecord],
    vectors: FloatArray,
    verdicts: Sequence[Verdict],
    exchange: tuple[float, Collection[str]],
    ports: tuple[ChatModel, VectorIndex, Embedder, Ledger],
) -> list[Verdict]:
    """Return `verdicts` as things stand now: while the model was asked, somebody else may have said the same.

    Raises ConflictError where a memory that says the same already was deleted or superseded since.
    """
    _, index, embedder, ledger = ports
    fresh: list[Verdict] = list(verdicts)
    for at, (record, verdict) in enumerate(zip(records, verdicts, strict=True)):
        if verdict.known is None:
            said = same_text_key(record.content)
            for one in _alike(vectors[at], record.user_id, exchange[1], index, embedder, ledger):
                if same_text_key(one.text) == said and one.source == record.source:
                    fresh[at] = Verdict("nothing", one)
        elif verdict.action == "nothing":
            known = ledger.records([verdict.known.memory_id]).get(verdict.known.memory_id)
            if known is None or known.status is not Status.ACTIVE:
                raise ConflictError("a memory that said the same was changed meanwhile")
    return fresh


def _alike(
    vector: FloatArray,
    user_id: str,
    own: Collection[str],
    index: VectorIndex,
    embedder: Embedder,
    ledger: Ledger,
) -> list[Known]:
    """Return the user's current memories most like a fact, the nearest first, without those of its turns."""
    current = And(
        (
            Compare("status", Op.EQ, Status.ACTIVE.value),
            Compare("layer", Op.IN, _LAYERS),
        )
    )
    ranking = index.search(vector, scoped((user_id,), current), _NEAREST + len(own))
    scores = dense_scores(ranking.scores, embedder.calibration)
    near = [
        ranking.ids[at] for at in np.flatnonzero(scores >= _RELATED).tolist() if ranking.ids[at] not in own
    ]
    records = ledger.records(near[:_NEAREST])
    raws = ledger.records(sorted({one for record in records.values() for one in record.evidence_ids[-1:]}))
    return [
        Known(record.id, record.content, record.event_at, _said_at(record, raws), _origin(record))
        for one in near[:_NEAREST]
        if (record := records.get(one)) is not None
        and record.user_id == user_id
        and record.status is Status.ACTIVE
    ]


def _origin(record: MemoryRecord) -> tuple[str, str, str]:
    return record.source, record.agent_id, record.session_id


def _said_at(record: MemoryRecord, raws: Mapping[str, MemoryRecord]) -> float:
    """Return when a memory was said: with its exchange, which it names last, where there is one."""
    raw = raws.get(record.evidence_ids[-1]) if record.evidence_ids else None
    return raw.event_at if raw is not None and raw.layer is Layer.L1_RAW else record.event_at
