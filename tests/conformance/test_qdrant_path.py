"""The qdrant backend over a folder (Qdrant Edge) passes the whole contract."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from qdrant_harness import fed_harness, quick_folder

from hy_memory.ports import Backend, BackendOptions
from hy_memory.testing.contracts.harness import Harness
from hy_memory.testing.contracts.keyword import KeywordIndexContract
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.testing.fakes import ListSource


class _Path:
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Generator[Harness]:
        with quick_folder(tmp_path) as folder:
            opened: list[Backend] = []
            options = BackendOptions(dims=VectorIndexContract.dims, path=str(folder))
            yield fed_harness(options, ListSource(), opened)
            for one in opened:
                one.close()


class TestVectors(_Path, VectorIndexContract):
    pass


class TestKeywords(_Path, KeywordIndexContract):
    pass
