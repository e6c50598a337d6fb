"""Local rerank without its extra, and what importing it costs those who do not use it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import ConfigurationError, MissingExtraError, RerankerLoadError
from tests.support.stores import config_for


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract §4: RuntimeError in the constructor with model, cause and install line; nothing is made."""
    for module in [one for one in sys.modules if one.startswith("hy_memory.reranking.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    store = tmp_path / "store"
    recall = {"local_rerank_enabled": True, "local_rerank_model": "some/model"}
    with pytest.raises(RuntimeError) as raised:
        HyMemoryClient(config_for("memory", store, recall=recall))
    assert isinstance(raised.value, RerankerLoadError)
    assert isinstance(raised.value, ConfigurationError)
    assert isinstance(raised.value.__cause__, MissingExtraError)
    assert raised.value.model == "some/model"
    for part in ("some/model", "is not installed", "pip install '.[rerank]'"):
        assert part in str(raised.value)
    assert not store.exists()
