"""What becomes of new facts, held against the memories most like them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import And, Compare, Op
from hy_memory.llm.extract import Extracted, Known, Verdict, reconcile
from hy_memory.llm.port import ChatModel
from hy_memory.ports import Embedder, Ledger, VectorIndex
from hy_memory.ranking.fusion import dense_scores
from hy_memory.text.sameness import same_text_key
from hy_memory.values.point import FloatArray
from hy_memory.values.record import NORMAL_LAYERS, Layer, Status
from hy_memory.values.usage import Usage

_NEAREST = 5
_RELATED = 0.4  # the score from which on memories are related at all (contract §2, `min_score`)
_LAYERS = tuple(layer.value for layer in (*NORMAL_LAYERS, Layer.L7_INTENTION))


def verdicts_on(
    facts: Sequence[Extracted],
    vectors: FloatArray,
    user_id: str,
    own: Collection[str],
    ports: tuple[ChatModel, VectorIndex, Embedder, Ledger],
) -> tuple[list[Verdict], Usage]:
    """Return what becomes of each fact; `vectors` (n, dims) are theirs, `own` the turns they come from.

    A fact that a memory says word for word needs no model, nor does one that nothing is like. No two facts
    replace one memory: the second is added. Raises LLMError, BackendError, LedgerError.
    """
    model, index, embedder, ledger = ports
    verdicts = [Verdict()] * len(facts)
    unsure: dict[int, tuple[str, Sequence[Known]]] = {}
    for at, one in enumerate(facts):
        said = same_text_key(one.fact.text)
        known = _alike(vectors[at], user_id, own, index, embedder, ledger)
        same = next((memory for memory in known if same_text_key(memory.text) == said), None)
        if same is not None:
            verdicts[at] = Verdict("nothing", same)
        elif known:
            unsure[at + 1] = (one.fact.text, known)
    if not unsure:
        return verdicts, Usage()
    decided, usage = reconcile(model, unsure)
    replaced: set[str] = set()
    for number, verdict in sorted(decided.items()):
        if number not in unsure or verdict.known is None:
            continue
        if verdict.action != "nothing":
            if verdict.known.memory_id in replaced:
                continue
            replaced.add(verdict.known.memory_id)
        verdicts[number - 1] = verdict
    return verdicts, usage


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
    return [
        Known(record.id, record.content, record.event_at)
        for one in near[:_NEAREST]
        if (record := records.get(one)) is not None
        and record.user_id == user_id
        and record.status is Status.ACTIVE
    ]
