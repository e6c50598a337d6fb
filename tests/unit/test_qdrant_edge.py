"""The embedded form of the qdrant backend: its folder, its process, its threads, its graph."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hy_memory.errors import (
    BackendError,
    ClosedError,
    ConfigurationError,
    HyMemoryError,
    MissingExtraError,
    StoreLockedError,
)
from hy_memory.filters.scope import scoped
from hy_memory.filters.tree import EVERYTHING, Compare, Op
from hy_memory.ports import Backend, BackendOptions, Fed, KeywordIndex
from hy_memory.ranking.bm25 import idf
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.values.point import Point
from hy_memory.vectors.qdrant.edge import EdgeEngine
from hy_memory.vectors.qdrant.store import QdrantFeed, QdrantVectors, open_backend

DIMS = 8
ANA = scoped(("ana",), EVERYTHING)
QUERY = np.eye(DIMS, dtype=np.float32)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A folder of its own, in memory where the system has one: making a shard syncs some dozen files."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path / "qdrant"
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name) / "qdrant"


def opened(folder: Path, source: ListSource | None = None, dims: int = DIMS) -> Backend:
    return open_backend(BackendOptions(dims=dims, path=str(folder)), source or ListSource())


def fed(backend: Backend) -> Fed:
    assert backend.fed is not None
    return backend.fed


def keywords(backend: Backend) -> KeywordIndex:
    assert backend.keywords is not None
    return backend.keywords


def some_points(count: int, user_id: str = "ana") -> list[Point]:
    rows = np.random.default_rng(count).standard_normal((count, DIMS))
    return [make_point(f"{user_id}{index}", payload_for(user_id), row) for index, row in enumerate(rows)]


def test_a_second_client_is_told_what_to_do(folder: Path) -> None:
    """C46: the folder is held by one client; the message names three ways out; close gives it free."""
    first = opened(folder)
    with pytest.raises(StoreLockedError, match=r"close the other one.*URL.*faiss"):
        opened(folder)
    first.close()
    first.close()
    opened(folder).close()


def test_collections_of_one_folder_are_apart(folder: Path) -> None:
    """Two collection names are two shards with two locks."""
    both = [
        open_backend(BackendOptions(dims=DIMS, path=str(folder), collection=name), ListSource())
        for name in ("one", "two")
    ]
    fed(both[0]).upsert(some_points(3))
    assert [one.vectors.count(ANA) for one in both] == [3, 0]
    for one in both:
        one.close()


HOLDER = """
import sys, numpy as np
from hy_memory.ports import BackendOptions
from hy_memory.testing.fakes import ListSource, make_point, payload_for
from hy_memory.vectors.qdrant.store import open_backend
backend = open_backend(BackendOptions(dims=8, path=sys.argv[1]), ListSource())
rows = np.random.default_rng(0).standard_normal((200, 8))
for index, row in enumerate(rows):
    backend.fed.upsert([make_point(f"p{index}", payload_for("ana"), row, {7: 0.5})])
backend.fed.remove(["p0"])
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_killed_holder_leaves_data_and_no_lock(folder: Path) -> None:
    """C46, C45: another process is refused while one holds the folder; after SIGKILL all is there."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(StoreLockedError):
            opened(folder)
        holder.kill()
    backend = opened(folder)
    assert backend.vectors.count(ANA) == 199
    assert sorted(fed(backend).ids()) == sorted(f"p{index}" for index in range(1, 200))
    assert len(keywords(backend).search(np.array([7], dtype=np.uint32), ANA, 500).ids) == 199
    backend.close()


def test_a_foreign_folder_is_refused_and_left_alone(folder: Path) -> None:
    """A folder of something else is not written to."""
    folder.mkdir()
    (folder / "meta.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"meta\.json.*empty folder"):
        opened(folder)
    assert (folder / "meta.json").read_text() == "{}"
    (folder / "meta.json").unlink()
    (folder / "hy_memory").mkdir()
    (folder / "hy_memory" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"hy_memory is not a sound .*reindex"):
        opened(folder)


def test_a_path_that_is_a_file_is_refused(folder: Path) -> None:
    """The path must be a folder or absent."""
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file")
    with pytest.raises(ConfigurationError, match="cannot be used as a Qdrant folder"):
        opened(folder)


@pytest.mark.parametrize("part", ["wal/*", "segments/*/segment.json", "edge_config.json"])
def test_a_damaged_folder_names_the_way_back(folder: Path, part: str) -> None:
    """Damage is told, with the command that mends it, and deleting the folder does mend it."""
    backend = opened(folder)
    fed(backend).upsert(some_points(20))
    backend.close()
    damaged = [file for file in (folder / "hy_memory").glob(part) if file.is_file()]
    assert damaged
    for file in damaged:
        file.write_bytes(b"\xff not what it was" * 40)
    with pytest.raises(ConfigurationError, match="reindex"):
        opened(folder)
    shutil.rmtree(folder / "hy_memory")
    opened(folder).close()


def test_other_dimensions_are_refused(folder: Path) -> None:
    """Another embedder's vectors do not fit; the message names both sizes and the command."""
    opened(folder).close()
    with pytest.raises(ConfigurationError, match=r"8 dimensions.*gives 9.*reindex"):
        opened(folder, dims=9)
    opened(folder).close()


def test_a_half_made_shard_is_never_opened(folder: Path) -> None:
    """A process that died while making the shard left a folder beside it, which is made anew."""
    opened(folder).close()
    shutil.move(folder / "hy_memory", folder / "hy_memory.new")
    backend = opened(folder)
    fed(backend).upsert(some_points(3))
    assert backend.vectors.count(ANA) == 3
    assert not (folder / "hy_memory.new").exists()
    backend.close()


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b"])
def test_a_collection_is_a_plain_name(folder: Path, name: str) -> None:
    """A collection name cannot lead out of the folder."""
    with pytest.raises(ConfigurationError, match="collection name"):
        EdgeEngine(str(folder), name, DIMS)


def test_lost_indexes_are_made_again(folder: Path) -> None:
    """Fields are indexed again after the segments were lost and replayed from the log."""
    backend = opened(folder)
    fed(backend).upsert(some_points(20))
    backend.close()
    shutil.rmtree(folder / "hy_memory" / "segments")
    backend = opened(folder)
    assert backend.vectors.count(ANA) == 20
    config = json.loads((folder / "hy_memory" / "edge_config.json").read_text())
    assert config["sparse_vectors"]["terms"]["modifier"] == "idf"
    backend.close()


def test_what_is_no_number_never_gets_in(folder: Path) -> None:
    """A vector with NaN, or of a wrong length, is refused by name; nothing of its batch is stored."""
    backend = opened(folder)
    good = some_points(3)
    nan = replace(good[1], id="broken", vector=np.full(DIMS, np.nan, dtype=np.float32))
    with pytest.raises(BackendError, match="broken"):
        fed(backend).upsert([good[0], nan])
    with pytest.raises(BackendError, match="short"):
        fed(backend).upsert([replace(good[0], id="short", vector=QUERY[:3])])
    assert backend.vectors.count(ANA) == 0
    with pytest.raises(BackendError, match="Qdrant Edge failed"):
        backend.vectors.search(QUERY[:3], ANA, 3)
    backend.close()


def test_a_closed_backend_says_so(folder: Path) -> None:
    """Every call after close is a typed error."""
    backend = opened(folder)
    backend.close()
    calls: list[Callable[[], object]] = [
        lambda: backend.vectors.search(QUERY, ANA, 3),
        lambda: backend.vectors.count(ANA),
        lambda: fed(backend).upsert(some_points(1)),
        lambda: fed(backend).clear(),
        lambda: list(fed(backend).ids()),
    ]
    for call in calls:
        with pytest.raises(ClosedError):
            call()


def test_threads_search_while_one_writes_and_clears(folder: Path) -> None:
    """C51: searches in many threads never fail, whatever the writer does, and the counts come out exact."""
    backend = opened(folder)
    fed(backend).upsert(some_points(500, "ben"))
    stop = threading.Event()
    failures: list[HyMemoryError] = []
    strangers: list[str] = []

    def read() -> None:
        while not stop.is_set():
            try:
                found = backend.vectors.search(QUERY, ANA, 10)
            except HyMemoryError as error:
                failures.append(error)
                return
            strangers.extend(one for one in found.ids if not one.startswith("ana"))

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    mine = some_points(400)
    for start in range(0, 400, 20):
        fed(backend).upsert(mine[start : start + 20])
        fed(backend).remove([mine[start].id])
        if start == 200:
            fed(backend).clear()
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert strangers == []
    assert backend.vectors.count(ANA) == 9 * 19
    assert backend.vectors.count(scoped(("ben",), EVERYTHING)) == 0
    backend.close()


def test_many_threads_write(folder: Path) -> None:
    """C51: 8 threads that each add and remove lose nothing."""
    backend = opened(folder)

    def write(user_id: str) -> None:
        points = some_points(60, user_id)
        for point in points:
            fed(backend).upsert([point])
        fed(backend).remove([point.id for point in points[:10]])

    names = [f"user{number}" for number in range(8)]
    writers = [threading.Thread(target=write, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [backend.vectors.count(scoped((name,), EVERYTHING)) for name in names] == [50] * 8
    backend.close()


def test_a_word_that_all_use_keeps_its_digits(folder: Path) -> None:
    """The engine counts IDF in float32, which knows few digits of a word in 2,999 of 3,000 memories."""
    source = ListSource()
    backend = opened(folder, source)
    weights = [{1: 0.25 + index % 3 / 4, 2: 1.0 - index % 4 / 8} for index in range(3_000)]
    del weights[0][2]
    points = [
        make_point(f"p{index}", payload_for("ana"), QUERY, terms) for index, terms in enumerate(weights)
    ]
    source.put(points)
    fed(backend).upsert(points)
    query = np.array([1, 2], dtype=np.uint32)
    first, second = idf(3_000, [3_000, 2_999]).tolist()
    exact = [(first * one[1] + second * one.get(2, 0.0)) / (first + second) for one in weights]
    scores = keywords(backend).score(query, [point.id for point in points], ANA)
    assert scores == pytest.approx(exact, abs=1e-6)
    ranking = keywords(backend).search(query, ANA, 5)
    assert ranking.scores[0] == pytest.approx(max(exact), abs=1e-6)
    backend.close()


def test_a_graph_changes_no_filtered_answer(folder: Path) -> None:
    """Law 4: with a graph built, a user's few memories are still all found, and scores stay exact."""
    engine = EdgeEngine(str(folder), "graph", 64, graph_from=500)
    feed, vectors = QdrantFeed(engine), QdrantVectors(engine)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((2_000, 64))
    found = [make_point(f"p{index}", payload_for(f"user{index % 40}"), row) for index, row in enumerate(rows)]
    feed.upsert(found)
    feed.remove([one.id for one in found[:400]])
    feed.compact()
    query = make_point("query", payload_for("nobody"), rng.standard_normal(64)).vector
    for user_id in ("user0", "user17"):
        mine = [one for one in found[400:] if one.payload.user_id == user_id]
        ranking = vectors.search(query, scoped((user_id,), EVERYTHING), 10)
        exact = sorted((float(one.vector @ query) for one in mine), reverse=True)
        assert ranking.scores == pytest.approx(exact[:10], abs=1e-5)
    everybody = scoped(tuple(f"user{number}" for number in range(40)), EVERYTHING)
    assert vectors.count(everybody) == 1_600
    best = sorted((one.vector @ query for one in found[400:]), reverse=True)[:10]
    assert np.mean(vectors.search(query, everybody, 10).scores >= best[-1] - 1e-5) >= 0.9
    engine.close()


def test_compacting_keeps_scores(folder: Path) -> None:
    """C14: deleted memories leave the statistics before and after their room is reclaimed."""
    source = ListSource()
    backend = opened(folder, source)
    points = [make_point(f"p{index}", payload_for("ana"), QUERY, {index % 7: 0.5}) for index in range(3_000)]
    source.put(points)
    fed(backend).upsert(points)
    gone = [point.id for point in points[:2_000]]
    source.remove(gone)
    fed(backend).remove(gone)
    query = np.array([0, 3, 99], dtype=np.uint32)
    before = keywords(backend).search(query, ANA, 5)
    feed = fed(backend)
    assert isinstance(feed, QdrantFeed)
    feed.compact()
    after = keywords(backend).search(query, ANA, 5)
    assert set(after.ids) == set(before.ids)
    assert after.scores == pytest.approx(before.scores, abs=1e-7)
    backend.close()


def test_scores_of_ids_of_every_kind(folder: Path) -> None:
    """Point ids of our making are told back as the memory's own, in search, score and the list."""
    backend = opened(folder)
    plain = "6f1f2a1e-9f0c-7c4e-8a55-0d1f6a1c2b3d"
    names = [plain, plain.upper(), "main", "用户 1", ""]
    fed(backend).upsert([make_point(name, payload_for("ana"), QUERY) for name in names])
    assert set(backend.vectors.search(QUERY, ANA, 9).ids) == set(names)
    assert set(fed(backend).ids()) == set(names)
    assert backend.vectors.score(QUERY, names, ANA) == pytest.approx([1.0] * 5)
    assert math.isnan(backend.vectors.score(QUERY, ["else"], ANA)[0])
    backend.close()


def test_ties_longer_than_the_margin(folder: Path) -> None:
    """Law 3: 300 equal memories at the cut all come back, although 3 were asked for."""
    backend = opened(folder)
    fed(backend).upsert([make_point(f"p{index}", payload_for("ana"), QUERY) for index in range(300)])
    fed(backend).upsert([make_point("worse", payload_for("ana"), -QUERY)])
    ranking = backend.vectors.search(QUERY, ANA, 3)
    assert len(ranking.ids) == 300
    assert not ranking.exhausted
    narrowed = scoped(("ana",), Compare("source", Op.EQ, "other"))
    assert backend.vectors.search(QUERY, narrowed, 3).exhausted
    assert backend.vectors.search(QUERY, ANA, 0).ids == ()
    backend.close()


def test_each_form_needs_its_own_package_alone() -> None:
    """C65: loading the backend loads neither driver; the embedded form never loads the client."""
    script = (
        "import sys, hy_memory.vectors.qdrant.store\n"
        "assert not {'qdrant_edge', 'qdrant_client'} & sys.modules.keys()\n"
        "import hy_memory.vectors.qdrant.edge\n"
        "assert 'qdrant_client' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("module", "adapter", "option", "package"),
    [
        ("qdrant_edge", "edge", {"path": "nowhere"}, "qdrant-edge-py"),
        ("qdrant_client", "remote", {"url": "http://127.0.0.1:1"}, "qdrant-client"),
    ],
)
def test_a_missing_package_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, adapter: str, option: dict[str, str], package: str
) -> None:
    """A package that is not installed is named, with the line that installs it."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"hy_memory.vectors.qdrant.{adapter}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"{package} is not installed.*\[qdrant\]"):
        open_backend(replace(BackendOptions(dims=DIMS), **option), ListSource())


def test_neither_path_nor_url() -> None:
    """There is no default place: it is asked for."""
    with pytest.raises(ConfigurationError, match=r"path.*url"):
        open_backend(BackendOptions(dims=DIMS), ListSource())


def test_no_thread_outlives_the_backend(folder: Path) -> None:
    """C65: nothing runs after close."""
    before = set(threading.enumerate())
    backend = opened(folder)
    fed(backend).upsert(some_points(10))
    backend.vectors.search(QUERY, ANA, 3)
    backend.close()
    assert list(itertools.filterfalse(before.__contains__, threading.enumerate())) == []


def test_close_waits_for_searches(folder: Path) -> None:
    """Closing while others search ends in closed searches, never in a failed close or a held folder."""
    backend = opened(folder)
    fed(backend).upsert(some_points(3_000))
    ended: list[type[HyMemoryError]] = []

    def read() -> None:
        try:
            while True:
                backend.vectors.search(QUERY, ANA, 10)
        except HyMemoryError as error:
            ended.append(type(error))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    backend.close()
    for reader in readers:
        reader.join()
    assert ended == [ClosedError] * 4
    opened(folder).close()
