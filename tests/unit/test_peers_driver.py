"""The benchmark beside the peers, with a small peer of its own: protocol, checks of a peer, what is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import measure, sets
from benchmarks.peers.process import CannotError, Process, WorkerError, environment
from benchmarks.peers.results import collect
from benchmarks.peers.roster import ROSTER, Peer
from benchmarks.peers.table import number, page

WORKER = Path(measure.__file__).with_name("worker.py")
PEER = """
import os
PACKAGES = ["numpy", "no-such-package"]

class Store:
    def __init__(self, lookup, options):
        self.lookup, self.options, self.rows = lookup, options, []
        self.arms = {"search": self.search, "dead": lambda *_: os._exit(3)}
        self.arms["failing"] = lambda *_: {}["reason"]
        if options.get("single"):
            self.add_one = self.rows.append
        self.no_single = "it cannot grow"

    def add(self, rows):
        print("a library that talks on stdout")
        self.rows.extend(rows)

    def search(self, question, user, limit):
        own = self.rows if self.options.get("leaks") else [
            row for row in self.rows if self.lookup.documents[row]["user"] == user]
        if self.options.get("blind"):
            own = own[:3]
        vector = self.lookup.question(question)
        best = sorted(own, key=lambda row: -float(self.lookup.vectors[row] @ vector))
        return [self.lookup.documents[row]["id"] for row in best[:limit]]

def open_store(folder, lookup, options):
    (folder / "file").write_bytes(b"x" * 5000)
    return Store(lookup, options)
"""


def peer(name: str, **options: Any) -> Peer:
    return Peer(name, "here", "peer", options, {"search": name}, keeps=False, exact=frozenset({"search"}))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sets.synthetic(tmp_path_factory.mktemp("data") / "small", 60, questions=10)


def start(one: Peer, folder: Path) -> Process:
    folder.mkdir(parents=True, exist_ok=True)
    adapter = folder / "peer.py"
    adapter.write_text(PEER, encoding="utf-8")
    return Process([sys.executable, "-P", str(WORKER), str(adapter)], folder, folder / "worker.log")


@pytest.fixture
def worker(tmp_path: Path, data: Path) -> Iterator[Process]:
    one = start(peer("one"), tmp_path)
    one.ask("open", data=str(data), folder=str(tmp_path / "store"), options={})
    yield one
    one.end()


def test_a_worker_answers_each_request_with_what_it_took(worker: Process) -> None:
    hello = worker.ask("hello")
    assert hello["versions"]["no-such-package"] == "from this checkout"
    assert "." in hello["versions"]["numpy"]
    done = worker.ask("add", first=0, last=110)
    found = worker.ask("search", arm="search", rows=[0, 1], limit=4)
    assert [len(ids) for ids in found["ids"]] == [4, 4]
    assert len(found["cpu"]) == len(found["wall"]) == 2
    assert done["wall"][0] > 0
    assert worker.ask("stats")["disk"] >= 4096


def test_a_worker_says_what_it_cannot_do_and_what_failed(worker: Process) -> None:
    with pytest.raises(CannotError, match="it cannot grow"):
        worker.ask("add_one", first=0, last=1)
    with pytest.raises(WorkerError, match="KeyError: 'reason'"):
        worker.ask("search", arm="failing", rows=[0], limit=1)
    assert worker.ask("ready") == {"cpu": [], "wall": []}, "a failure must not end the worker"


def test_a_worker_that_dies_or_hangs_is_an_error(worker: Process, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="the process ended"):
        worker.ask("search", arm="dead", rows=[0], limit=1)
    sleeper = Process([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path / "s", tmp_path / "log")
    with pytest.raises(WorkerError, match="the process ended"):
        sleeper.ask("hello", patience=0.2)
    sleeper.end()


def test_a_worker_sees_no_settings_of_ours_and_sends_nothing(tmp_path: Path) -> None:
    outer = {
        "MEMORY_MODE": "x",
        "HY_MEMORY_READER": "x",
        "OPENAI_API_KEY": "real",
        "PYTHONPATH": "x",
        "PATH": "p",
    }
    made = environment(outer, tmp_path, "")
    assert made["PATH"] == "p"
    assert made["HOME"] == str(tmp_path)
    assert made["OPENAI_API_KEY"] != "real"
    assert not {"MEMORY_MODE", "HY_MEMORY_READER", "PYTHONPATH"} & set(made)
    assert made["ANONYMIZED_TELEMETRY"] == made["MEM0_TELEMETRY"] == "False"
    assert made["OMP_NUM_THREADS"] == "1"


def test_too_slow_a_store_is_given_up(worker: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "CHUNK", 10)
    with pytest.raises(CannotError, match=r"did not finish in 0 minutes: storing 100 takes"):
        measure.fill(worker, 100, budget=0.0)


def test_peers_are_checked_before_they_are_timed(tmp_path: Path, data: Path) -> None:
    peers = [peer("right", single=True), peer("leaking", leaks=True), peer("blind", blind=True)]
    state = measure.State(tmp_path / "state.json")
    measure.SpeedRun(state, start, data, tmp_path / "stores").run(peers, budget=60.0)
    found = state.get("search", "60")
    assert len(found["right/search"]["cpu"]) == 10
    assert found["right/search"]["ids"] == sets.nearest(data, measure.LIMIT)[sets.SELF_QUESTIONS :]
    assert "another user" in found["leaking/search"]["wrong"]
    assert "word for word" in found["blind/search"]["wrong"]
    assert found["leaking/search"]["cpu"] == found["blind/search"]["cpu"] == []
    assert len(state.get("single", "60", "right")["cpu"]) == sets.SINGLES
    assert state.get("single", "60", "blind") == {"cannot": "it cannot grow"}

    def refuse(one: Peer, folder: Path) -> Process:
        raise AssertionError("what is measured must not be measured again")

    again = measure.State(tmp_path / "state.json")
    run = measure.SpeedRun(again, refuse, data, tmp_path / "stores")
    run.run(peers, budget=60.0)
    assert again.all == state.all
    with pytest.raises(AssertionError, match="measured again"):
        run.run([*peers, peer("newcomer")], budget=60.0)


def test_a_peer_too_small_for_the_size_is_told(tmp_path: Path, data: Path) -> None:
    small = Peer("small", "here", "peer", {}, {"search": "small"}, keeps=False, largest=10)
    state = measure.State(tmp_path / "state.json")
    measure.SpeedRun(state, start, data, tmp_path / "stores").run([peer("right"), small], budget=60.0)
    shown = page(collect(state.all, [peer("right"), small]))
    assert "| small | –[^1]" in shown
    assert "[^1]: not asked to hold more than 10" in shown


def test_goals_and_ratios_are_of_medians() -> None:
    keys = {
        "hy_memory-faiss/legacy": 0.001,
        "mem0/search": 0.08,
        "chroma/search": 0.004,
        "hy_memory-chroma/legacy": 0.006,
    }
    searched = {
        key: {"cpu": [cpu, cpu, 9.0], "wall": [cpu] * 3, "ids": [["1"]] * 3} for key, cpu in keys.items()
    }
    results = collect({"search": {"10000": searched}, "nearest": {"10000": [["1"], ["2"], ["1"]]}}, ROSTER)
    reached = {
        goal["what"].split(",")[0]: (round(goal["ratio"], 3), goal["reached"]) for goal in results["goals"]
    }
    assert reached["mem0"] == (80.0, True)
    assert reached["hy_memory on Chroma against Chroma's own filtered query"] == (1.5, False)
    rows = {row["key"]: row for row in results["speed"]["10000"]}
    assert rows["mem0/search"]["ratio"] == pytest.approx(80.0)
    assert rows["chroma/search"]["exact"] == pytest.approx(2 / 3)
    assert "**missed**" in page(results)


def test_what_our_default_costs_is_held_against_what_was_promised() -> None:
    searched = {"hy_memory-faiss/legacy": {"cpu": [0.001], "wall": [0.001], "ids": [["1"]]}}
    state = {
        "search": {"10": searched},
        "single": {"10": {"hy_memory-faiss": {"cpu": [0.002], "wall": [0.002]}}},
        "fill": {"10": {"hy_memory-faiss": {"rows": 10, "cpu": 0.001, "wall": 1.0}}},
    }
    shown = page(collect(state, ROSTER))
    assert "| one `add`, searchable on return, ms | 10 | 2 | ≤ 1 | **missed** |" in shown
    assert "| bulk, memories a second | 10 | 10,000 | ≥ 5,000 | reached |" in shown


def test_quality_shows_a_dash_where_a_peer_failed() -> None:
    good = {"search": {"R@10": 0.5, "nDCG@10": 0.25, "hits": 10.0, "n": 7}}
    state = {"quality": {"notes": {"mem0": good, "bm25s": {"cannot": "no words"}}}}
    shown = page(collect(state, ROSTER))
    assert "| notes (7) |" in shown
    assert "0.500 / 0.250 |" in shown
    assert ": no words" in shown


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (0.01234, "0.0123"), (12.34, "12.3"), (123.4, "123"), (9876.0, "9,876")],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_every_peer_has_its_adapter_and_a_pinned_environment() -> None:
    folder = WORKER.parent
    for one in ROSTER:
        assert (folder / "adapters" / f"{one.adapter}.py").is_file()
        if one.environment != "here":
            pins = (
                (folder / "requirements" / f"{one.environment}.txt").read_text(encoding="utf-8").splitlines()
            )
            assert sum("==" in pin for pin in pins) >= len(pins) - 1
    assert len({one.name for one in ROSTER}) == len(ROSTER)
    assert os.access(WORKER, os.R_OK)
