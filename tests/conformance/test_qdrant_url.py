"""The qdrant backend over HTTP, with the real client and the real engine, passes the whole contract."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from qdrant_harness import fed_harness

from hy_memory.ports import Backend, BackendOptions
from hy_memory.testing.contracts.harness import Harness
from hy_memory.testing.contracts.keyword import KeywordIndexContract
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.testing.fakes import ListSource
from hy_memory.testing.qdrant_double import QdrantDouble


class _Url:
    @pytest.fixture
    def harness(self) -> Generator[Harness]:
        opened: list[Backend] = []
        with QdrantDouble() as server:
            options = BackendOptions(dims=VectorIndexContract.dims, url=server.url)
            yield fed_harness(options, ListSource(), opened)
            for one in opened:
                one.close()


class TestVectors(_Url, VectorIndexContract):
    pass


class TestKeywords(_Url, KeywordIndexContract):
    pass
