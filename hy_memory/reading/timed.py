"""What a search may reach, within its deadline."""

from __future__ import annotations

from dataclasses import replace

from hy_memory.deadline import Workers
from hy_memory.reading.state import ReadPorts


def timed(ports: ReadPorts, workers: Workers | None) -> ReadPorts:
    """Return `ports` that keep to the deadline of a search; as they are where searches have none."""
    if workers is None:
        return ports
    return replace(
        ports,
        records=workers.timed(ports.records),
        embedder=workers.timed(ports.embedder),
        vectors=workers.timed(ports.vectors),
        keywords=workers.timed(ports.keywords) if ports.keywords else None,
        reranker=workers.timed(ports.reranker) if ports.reranker else None,
        conversations=workers.timed(ports.conversations) if ports.conversations else None,
        entities=workers.timed(ports.entities) if ports.entities else None,
        uses=workers.timed(ports.uses) if ports.uses else None,
    )
