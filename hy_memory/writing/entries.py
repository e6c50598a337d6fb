"""From a write's drafts to what the ledger stores: records, vectors, keywords, raw exchange, sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hy_memory.clock import Clock
from hy_memory.ports import Embedder, Ledger
from hy_memory.projection import Feeder
from hy_memory.ranking.bm25 import document_terms
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Layer, MemoryRecord, indexed_text
from hy_memory.values.write import Entry
from hy_memory.writing.compose import raw_exchange, record_of
from hy_memory.writing.parts import is_long, mean_of, parts_of
from hy_memory.writing.repeats import Mark
from hy_memory.writing.request import AddRequest


@dataclass(frozen=True, slots=True)
class WritePorts:
    """What the writing verbs may reach; `feeder` is None where no projection must be fed.

    `code_root` is the folder of the repository that sessions work in, "" where none is set. `merges_repeats`:
    words that are said again as they were are kept once, `merges_near`: those that add nothing too. Texts
    above `section_above_tokens` are stored in sections too.
    """

    ledger: Ledger
    embedder: Embedder
    clock: Clock
    feeder: Feeder | None
    code_root: str = ""
    merges_repeats: bool = False
    merges_near: bool = False
    section_above_tokens: int = 8000


def entries_of(
    request: AddRequest, ports: WritePorts, vectors: FloatArray | None, marks: Sequence[Mark]
) -> list[Entry]:
    """Return the entries of a request: the raw exchange first, then its memories, recognised by `marks`."""
    now = ports.clock.now()
    ids = ports.clock.make_ids(now, len(request.drafts))
    raw: list[Entry] = []
    evidence: tuple[str, ...] = ()
    if request.keeps_raw:
        evidence = (ports.clock.new_id(),)
        origin = replace(request.origin, layer=Layer.L1_RAW, tags=(), evidence_ids=(), expires_at=None)
        exchange = replace(request.drafts[0], content=raw_exchange(request.drafts, ids), metadata={})
        record = replace(record_of(exchange, origin, evidence[0], now, ()), context="")
        raw.append(Entry(record, is_pending=request.is_pending))
    records = [
        record_of(d, request.origin, one, now, evidence) for d, one in zip(request.drafts, ids, strict=True)
    ]
    parts = [] if request.is_pending else _parts(records, ports)
    rows, of_parts = _vectors(records, parts, ports, vectors)
    searchable = [
        Entry(
            record,
            rows[at],
            document_terms(record.content, record.context),
            draft.supersedes,
            repeat_key=mark.key,
            likeness=mark.likeness,
        )
        for at, (record, draft, mark) in enumerate(zip(records, request.drafts, marks, strict=True))
    ]
    sections = [
        Entry(record, row, document_terms(record.content, record.context))
        for record, row in zip(parts, of_parts, strict=True)
    ]
    return [*raw, *searchable, *sections]


def _parts(records: Sequence[MemoryRecord], ports: WritePorts) -> list[MemoryRecord]:
    """Return the sections of those of the records that are long."""
    long = [one for one in records if is_long(one.content, ports.section_above_tokens)]
    return [part for one in long for part in parts_of(one, ports.clock)]


def _vectors(
    records: Sequence[MemoryRecord],
    parts: Sequence[MemoryRecord],
    ports: WritePorts,
    given: FloatArray | None,
) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
    """Return the vectors of records, and of their sections; a long one has the mean of its sections'."""
    long = {one.part_of for one in parts}
    whole = [one for one in records if given is None and one.id not in long]
    texts = [indexed_text(one) for one in (*whole, *parts)]
    made = np.asarray(ports.embedder.embed_documents(texts), dtype=np.float32) if texts else []
    of_parts = list(made[len(whole) :])
    if given is not None:
        return list(np.asarray(given, dtype=np.float32)), of_parts
    own = dict(zip([one.id for one in whole], made[: len(whole)], strict=True))
    for root in long:
        own[root or ""] = mean_of(
            [row for one, row in zip(parts, of_parts, strict=True) if one.part_of == root]
        )
    return [own[one.id] for one in records], of_parts
