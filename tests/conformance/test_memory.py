"""The reference backend passes the suite that it is the reference of."""

from __future__ import annotations

import pytest

from hy_memory.ports import BackendOptions
from hy_memory.testing.contracts.harness import Harness, open_harness
from hy_memory.testing.contracts.keyword import KeywordIndexContract
from hy_memory.testing.contracts.vectors import VectorIndexContract
from hy_memory.vectors.memory import open_backend


class _Memory:
    @pytest.fixture
    def harness(self) -> Harness:
        return open_harness(open_backend, BackendOptions(dims=VectorIndexContract.dims))


class TestVectors(_Memory, VectorIndexContract):
    pass


class TestKeywords(_Memory, KeywordIndexContract):
    pass
