"""How the conformance suite drives the qdrant backend: points go to its source and to its feed."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hy_memory.ports import Backend, BackendOptions
from hy_memory.testing.contracts.harness import Harness
from hy_memory.testing.fakes import ListSource
from hy_memory.values.point import Point
from hy_memory.vectors.qdrant.store import open_backend


@contextmanager
def quick_folder(otherwise: Path) -> Generator[Path]:
    """Yield a folder in memory where the system has one: making a shard syncs some dozen files."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def fed_harness(options: BackendOptions, source: ListSource, opened: list[Backend]) -> Harness:
    """Return a harness over the backend of `options`; what it opens is added to `opened`."""
    backend = open_backend(options, source)
    opened.append(backend)
    fed = backend.fed
    assert fed is not None

    def put(points: Sequence[Point]) -> None:
        source.put(points)
        fed.upsert(points)

    def remove(ids: Sequence[str]) -> None:
        source.remove(ids)
        fed.remove(ids)

    def reopen() -> Harness:
        backend.close()
        return fed_harness(options, source, opened)

    return Harness(backend, put, remove, reopen)
