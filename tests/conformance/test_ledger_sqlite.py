"""The ledger on SQLite under the whole contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from hy_memory.clock import Clock
from hy_memory.ledger.open import open_ledger
from hy_memory.testing.contracts.ledger import LedgerContract, OpenStore


class TestSqlite(LedgerContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda: open_ledger(None, path=tmp_path, clock=Clock())
