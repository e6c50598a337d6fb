"""A stub in place of the cross-encoder, and clients that use it."""

from __future__ import annotations

import pytest

from hy_memory import parts
from tests.rerank import stub as module
from tests.rerank.stub import Stub


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Return the reranker that clients with local rerank open in this test."""
    made = Stub()
    monkeypatch.setattr(module, "factory", made)
    monkeypatch.setattr(parts, "LOCAL_RERANKER", module.PATH)
    return made
