"""The default backend under the whole suite."""

from __future__ import annotations

import pytest

from hy_memory.ports import BackendOptions
from hy_memory.testing.contracts.harness import Harness, open_harness
from hy_memory.testing.contracts.keyword import KeywordIndexContract
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.vectors.faiss.store import open_backend


class _Faiss:
    @pytest.fixture
    def harness(self) -> Harness:
        return open_harness(open_backend, BackendOptions(dims=VectorIndexContract.dims))


class TestVectors(_Faiss, VectorIndexContract):
    pass


class TestKeywords(_Faiss, KeywordIndexContract):
    pass
