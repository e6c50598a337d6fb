"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hy_memory import HyMemoryClient, parts, plugins
from tests.support import faulty, golden
from tests.support.faulty import Faults
from tests.support.stores import open_client, open_everywhere, quick_folder

# No deadline: an example may wait for a disk or for the other test process. A fixture that outlives an
# example is meant: stores are opened once a module, and every example has users of its own.
settings.register_profile(
    "hy_memory",
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# A night's search for rare faults: pytest tests/laws --hypothesis-profile=deep
settings.register_profile("deep", settings.get_profile("hy_memory"), max_examples=300)
settings.load_profile("hy_memory")

_OURS = ("MEMORY_", "HY_MEMORY_", "HCM_")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the machine's own settings, `.env` file and home folder from every test."""
    for name in [one for one in os.environ if one.startswith(_OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True, scope="session")
def watched_verbs() -> Generator[golden.Watch]:
    """Check every answer of every verb: its schema, and that nothing in it is somebody else's."""
    with golden.installed() as watch:
        yield watch


_PARTS = dict(plugins.BACKENDS), parts.LEDGER, parts.LOCAL_RERANKER


@pytest.fixture(autouse=True, scope="module")
def own_parts() -> Generator[None]:
    """Fail a module that leaves a stand-in where the next one would open ours."""
    yield
    assert (plugins.BACKENDS, parts.LEDGER, parts.LOCAL_RERANKER) == _PARTS


@pytest.fixture(autouse=True)
def no_hidden_violations(watched_verbs: golden.Watch) -> Generator[None]:
    """Fail a test whose code swallowed what the watch of `watched_verbs` raised."""
    before = len(watched_verbs.violations)
    yield
    assert not watched_verbs.violations[before:]


_numbers = count()


@pytest.fixture
def user() -> str:
    """Return a user id that no other test has."""
    return f"user-{next(_numbers)}"


@pytest.fixture
def folder() -> Generator[Path]:
    """Yield an empty folder for a store."""
    with quick_folder() as path:
        yield path


@pytest.fixture(scope="module")
def everywhere() -> Generator[dict[str, HyMemoryClient]]:
    """Yield a client of each backend over one ledger, open for the whole module."""
    with quick_folder() as path, open_everywhere(path) as clients:
        yield clients


@pytest.fixture
def client(request: pytest.FixtureRequest, folder: Path) -> Generator[HyMemoryClient]:
    """Yield a client with a store of its own: of the parametrised backend, else the default one."""
    with open_client(getattr(request, "param", "faiss"), folder) as opened:
        yield opened


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Make the provider "faulty" known, and return what breaks its parts."""
    made = Faults()
    monkeypatch.setattr(faulty, "factory", made)
    monkeypatch.setitem(plugins.BACKENDS, "faulty", faulty.PATH)
    return made
