"""The server form of the qdrant backend: momentary failures, refusals, and collections of others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from hy_memory.errors import BackendError, ClosedError, ConfigurationError
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING
from hy_memory.ports import Backend, BackendOptions, Fed
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.testing.qdrant_double import QdrantDouble
from hy_memory.values.point import Point
from hy_memory.vectors.qdrant.schema import INDEXES
from hy_memory.vectors.qdrant.store import open_backend

DIMS = 4
ANA = scoped(("ana",), EVERYTHING)
QUERY = np.eye(DIMS, dtype=np.float32)[0]


@pytest.fixture
def server() -> Generator[QdrantDouble]:
    with QdrantDouble() as double:
        yield double


def connected(server: QdrantDouble) -> Backend:
    return open_backend(BackendOptions(dims=DIMS, url=server.url), ListSource())


def fed(backend: Backend) -> Fed:
    assert backend.fed is not None
    return backend.fed


def one_point(name: str = "p") -> Point:
    return make_point(name, payload_for("ana"), QUERY, {3: 0.5})


@pytest.mark.parametrize("status", [0, 429, 502, 503, 504])
def test_a_momentary_failure_is_not_seen(server: QdrantDouble, status: int) -> None:
    """Every call outlives three failures in a row, dropped connections (0) among them."""
    backend = connected(server)
    server.fail_next(status, 3)
    fed(backend).upsert([one_point()])
    server.fail_next(status, 3)
    assert backend.vectors.search(QUERY, ANA, 3).ids == ("p",)
    server.fail_next(status, 3)
    assert list(fed(backend).ids()) == ["p"]
    server.fail_next(status, 3)
    fed(backend).remove(["p"])
    assert backend.vectors.count(ANA) == 0
    backend.close()


def test_a_lasting_failure_is_told(server: QdrantDouble) -> None:
    """After four attempts the error names the server; the next call works again."""
    backend = connected(server)
    server.fail_next(503, 4)
    before = server.requests
    with pytest.raises(BackendError, match=server.url):
        backend.vectors.count(ANA)
    assert server.requests == before + 4
    assert backend.vectors.count(ANA) == 0
    backend.close()


def test_a_mistake_is_not_repeated(server: QdrantDouble) -> None:
    """What the server calls wrong stays wrong: one request, one error."""
    backend = connected(server)
    before = server.requests
    with pytest.raises(BackendError, match="400"):
        backend.vectors.search(QUERY[:2], ANA, 3)
    assert server.requests == before + 1
    with pytest.raises(BackendError, match="p has a vector of shape"):
        fed(backend).upsert([replace(one_point(), vector=QUERY[:2])])
    assert server.requests == before + 1
    backend.close()


def test_a_server_that_is_not_there() -> None:
    """A refused connection ends in a BackendError that names the address, within seconds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(BackendError, match=url):
        open_backend(BackendOptions(dims=DIMS, url=url), ListSource())


def test_a_server_that_never_answers() -> None:
    """The timeout of the options bounds a call, attempts included."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(BackendError, match=url):
            open_backend(BackendOptions(dims=DIMS, url=url, timeout=1.0), ListSource())
        assert time.monotonic() - began < 4.0


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_the_key_is_sent_and_a_wrong_one_named() -> None:
    """A refused key is a matter of configuration."""
    with QdrantDouble(api_key="right") as server:
        options = BackendOptions(dims=DIMS, url=server.url, api_key="right")
        open_backend(options, ListSource()).close()
        for key in ("wrong", None):
            with pytest.raises(ConfigurationError, match="refuses the API key"):
                open_backend(replace(options, api_key=key), ListSource())


@pytest.mark.parametrize("version", ["1.18.2", "0.11.0", "unknown"])
def test_an_old_server_is_refused(version: str) -> None:
    """Law 10: a server that counts word frequencies over everybody's memories will not do."""
    with (
        QdrantDouble(version=version) as server,
        pytest.raises(ConfigurationError, match=r"1\.19 or newer"),
    ):
        connected(server)


@pytest.mark.parametrize("version", ["1.19.0", "1.20.0-dev", "2.0.0"])
def test_servers_that_do(version: str) -> None:
    """Newer servers work, and every field that filters use is indexed."""
    with QdrantDouble(version=version) as server:
        connected(server).close()
        answer = httpx.get(f"{server.url}/collections/hy_memory").json()
        assert answer["result"]["payload_schema"].keys() == INDEXES.keys()
        assert answer["result"]["config"]["params"]["sparse_vectors"] == {"terms": {"modifier": "idf"}}


DENSE = {"dense": {"size": DIMS, "distance": "Cosine"}}
IDF = {"terms": {"modifier": "idf"}}


@pytest.mark.parametrize(
    ("collection", "message"),
    [
        ({"vectors": {"other": DENSE["dense"]}, "sparse_vectors": IDF}, "something else"),
        ({"vectors": DENSE}, "something else"),
        ({"vectors": DENSE, "sparse_vectors": {"terms": {}}}, "something else"),
        (
            {"vectors": {"dense": {"size": 3, "distance": "Cosine"}}, "sparse_vectors": IDF},
            r"3 dimensions.*gives 4.*reindex",
        ),
        ({"vectors": DENSE, "sparse_vectors": IDF, "shard_number": 3}, "3 shards"),
    ],
)
def test_a_collection_of_another_form_is_refused(
    server: QdrantDouble, collection: dict[str, Any], message: str
) -> None:
    """What somebody else made is named and left as it is."""
    httpx.put(f"{server.url}/collections/hy_memory", json=collection).raise_for_status()
    with pytest.raises(ConfigurationError, match=message):
        connected(server)
    assert httpx.get(f"{server.url}/collections/hy_memory").json()["result"]["payload_schema"] == {}


def test_many_processes_share_a_collection(server: QdrantDouble) -> None:
    """Clients that start at once make the collection once, and each sees what the others write."""
    backends: list[Backend] = []
    starters = [threading.Thread(target=lambda: backends.append(connected(server))) for _ in range(6)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert len(backends) == 6
    fed(backends[0]).upsert([one_point()])
    assert [one.vectors.count(ANA) for one in backends] == [1] * 6
    fed(backends[1]).clear()
    assert [one.vectors.count(ANA) for one in backends] == [0] * 6
    for one in backends:
        one.close()


def test_a_closed_backend_says_so(server: QdrantDouble) -> None:
    """Closing twice is no error, a call afterwards is a typed one."""
    backend = connected(server)
    backend.close()
    backend.close()
    with pytest.raises(ClosedError):
        backend.vectors.count(ANA)
    with pytest.raises(ClosedError):
        fed(backend).upsert([one_point()])


def test_both_forms_give_the_same_scores(server: QdrantDouble, tmp_path: Path) -> None:
    """Law 8: embedded or served, the same points get the same scores, to the last digit."""
    rng = np.random.default_rng(4)
    points = [
        make_point(f"p{index}", payload_for("ana"), rng.standard_normal(DIMS), {index % 5: 0.5, 9: 0.25})
        for index in range(60)
    ]
    source = ListSource(points)
    path = str(tmp_path / "embedded")
    both = [
        open_backend(BackendOptions(dims=DIMS, url=server.url), source),
        open_backend(BackendOptions(dims=DIMS, path=path), source),
    ]
    terms = np.array([2, 9, 11], dtype=np.uint32)
    ids = [point.id for point in points]
    found: list[tuple[list[float], list[float]]] = []
    for backend in both:
        assert backend.keywords is not None
        fed(backend).upsert(points)
        vectors, keywords = backend.vectors, backend.keywords
        found.append((vectors.score(QUERY, ids, ANA).tolist(), keywords.score(terms, ids, ANA).tolist()))
        backend.close()
    assert found[0] == found[1]
