"""The measurements: filling, searching in turns, adding one by one, and quality on labelled sets.

Everything measured goes into a `State`, a JSON file, as soon as it is there: a run that is interrupted
goes on where it was. Searches of one size are measured together or not at all: they are compared.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.peers.process import CannotError, Process, WorkerError
from benchmarks.peers.roster import Peer
from benchmarks.peers.sets import NEIGHBOUR, SELF_QUESTIONS, SINGLES
from benchmarks.retrieval import read_lines, score

LIMIT = 10
BATCH = 5  # questions to one arm before the next has its turn
WARM = 3  # questions of each arm that are not counted: first calls load things
CHUNK = 500  # rows between two looks at the clock
ARM_SECONDS = 300.0  # an arm that has taken this long is not asked further; 10 questions at least
SELF_RECALL = 0.9  # of stored texts asked word for word: an arm that finds fewer is not timed
Start = Callable[[Peer, Path], Process]


class State:
    """What is measured so far: nested dictionaries in a file, reached by a path of keys."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.all: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}

    def get(self, *keys: str) -> Any:
        """Return what is at a path, None if nothing."""
        found: Any = self.all
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def put(self, value: Any, *keys: str) -> None:
        """Set what is at a path, and write the file in one step."""
        place = self.all
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = value
        fresh = self._path.with_suffix(".part")
        fresh.write_text(json.dumps(self.all))
        os.replace(fresh, self._path)


def say(text: str) -> None:
    """Tell how far the run is."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def fill(process: Process, last: int, budget: float) -> dict[str, Any]:
    """Add rows 0 … last - 1 in bulk; return rows, CPU and wall seconds.

    Raises CannotError as soon as it is plain that it will take more than `budget` seconds.
    """
    cpu = wall = 0.0
    for first in range(0, last, CHUNK):
        done = process.ask("add", first=first, last=min(first + CHUNK, last))
        cpu, wall = cpu + sum(done["cpu"]), wall + sum(done["wall"])
        rows = min(first + CHUNK, last)
        if first and wall / rows * last > budget:
            raise CannotError(
                f"did not finish in {budget / 60:.0f} minutes: storing {last:,} takes "
                f"{wall / rows * last / 60:.1f} ({rows / wall:.0f} a second)"
            )
        if first // CHUNK % 10 == 9:
            say(f"    {rows:,} of {last:,}, {rows / wall:,.0f} a second")
    done = process.ask("ready")
    return {"rows": last, "cpu": cpu + sum(done["cpu"]), "wall": wall + sum(done["wall"])}


class SpeedRun:
    """All peers at one size: filled one after the other, then asked in turns."""

    def __init__(self, state: State, start: Start, data: Path, stores: Path) -> None:
        self._state, self._start, self._data, self._stores = state, start, data, stores
        self._users = [one["user"] for one in read_lines(data / "documents.jsonl")]
        self._questions = list(read_lines(data / "questions.jsonl"))
        self._size = str(sum(user == self._users[0] for user in self._users))

    def run(self, peers: Sequence[Peer], budget: float) -> None:
        """Measure all of them, unless all of them are measured."""
        if all(self._is_measured(peer) for peer in peers):
            return
        with ExitStack() as ending:
            ready: dict[str, Process] = {}
            for peer in peers:
                process = self._prepare(peer, budget)
                if process is not None:
                    ready[peer.name] = process
                    ending.callback(process.end)
            arms = [(peer, arm) for peer in peers if peer.name in ready for arm in peer.arms]
            found = self._search(ready, arms)
            for peer in peers:
                if peer.name in ready:
                    self._after(peer, ready[peer.name])
        self._state.put(found, "search", self._size)

    def _is_measured(self, peer: Peer) -> bool:
        searched = self._state.get("search", self._size)
        is_told = self._state.get("cannot", self._size, peer.name) is not None
        return searched is not None and (
            is_told or all(f"{peer.name}/{arm}" in searched for arm in peer.arms)
        )

    def _prepare(self, peer: Peer, budget: float) -> Process | None:
        """Return the peer's process with a full store, None where it cannot be had."""
        if int(self._size) > peer.largest:
            self._note(peer, f"not asked to hold more than {peer.largest:,}")
            return None
        folder = self._stores / peer.name
        filled = (folder / ".filled").is_file() and self._state.get("fill", self._size, peer.name) is not None
        process = None
        try:
            if not (peer.keeps and filled):
                process = self._fill(peer, folder, budget)
                if not peer.keeps:
                    return process
                process.end()
            process = self._start(peer, folder)
            self._open(peer, process, folder)
            return process
        except (CannotError, WorkerError) as error:
            self._note(peer, str(error))
            if process is not None:
                process.end()
            return None

    def _fill(self, peer: Peer, folder: Path, budget: float) -> Process:
        say(f"  {self._size}: filling {peer.name}")
        shutil.rmtree(folder, ignore_errors=True)
        process = self._start(peer, folder)
        try:
            self._open(peer, process, folder)
            done = fill(process, len(self._users) - SINGLES, budget)
        except (CannotError, WorkerError):
            process.end()
            raise
        self._state.put(done, "fill", self._size, peer.name)
        (folder / ".filled").touch()
        return process

    def _open(self, peer: Peer, process: Process, folder: Path) -> None:
        hello = process.ask("hello")
        opened = process.ask(
            "open", data=str(self._data), folder=str(folder / "store"), options=dict(peer.options)
        )
        self._state.put(hello, "hello", peer.name)
        self._state.put({"cpu": opened["cpu"], "wall": opened["wall"]}, "open", self._size, peer.name)
        self._state.put(None, "cannot", self._size, peer.name)

    def _note(self, peer: Peer, reason: str) -> None:
        say(f"  {self._size}: {peer.name}: {reason}")
        self._state.put(reason, "cannot", self._size, peer.name)

    def _search(self, ready: dict[str, Process], arms: list[tuple[Peer, str]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for peer, arm in arms:
            key = f"{peer.name}/{arm}"
            reason = self._check(ready[peer.name], key, arm)
            found[key] = {"cpu": [], "wall": [], "ids": []}
            if reason:
                say(f"  {self._size}: {key}: {reason}")
                found[key]["wrong"] = reason
        rows = list(range(SELF_QUESTIONS, len(self._questions)))
        for turn, first in enumerate(range(0, len(rows), BATCH)):
            shift = turn % len(arms)
            for peer, arm in arms[shift:] + arms[:shift]:
                self._turn(ready[peer.name], arm, rows[first : first + BATCH], found[f"{peer.name}/{arm}"])
            say(f"  {self._size}: searched {min(first + BATCH, len(rows))} of {len(rows)}")
        return found

    def _turn(self, process: Process, arm: str, rows: list[int], one: dict[str, Any]) -> None:
        """Ask one arm a few questions, unless it is wrong or has taken long enough."""
        is_slow = sum(one["wall"]) > ARM_SECONDS and len(one["wall"]) >= 10
        if "wrong" in one or is_slow:
            return
        try:
            answer = process.ask("search", arm=arm, rows=rows, limit=LIMIT)
        except (CannotError, WorkerError) as error:
            one["wrong"] = str(error)
            say(f"  {self._size}: {arm}: {error}")
            return
        for what in ("cpu", "wall", "ids"):
            one[what].extend(answer[what])

    def _check(self, process: Process, key: str, arm: str) -> str:
        """Return what is wrong with an arm, "" when it finds what is stored and nobody else's."""
        try:
            answer = process.ask("search", arm=arm, rows=list(range(SELF_QUESTIONS)), limit=LIMIT)
        except WorkerError as error:
            return str(error)
        self._state.put(answer["cpu"][0], "first", self._size, key)
        wanted = [self._questions[row]["self"] for row in range(SELF_QUESTIONS)]
        recall = sum(one in ids for one, ids in zip(wanted, answer["ids"], strict=True)) / SELF_QUESTIONS
        strangers = sum(self._owner(one) == NEIGHBOUR for ids in answer["ids"] for one in ids)
        if strangers:
            return f"{strangers} memories of another user came back"
        if recall < SELF_RECALL:
            return f"asked stored texts word for word, it finds {recall:.0%} of them"
        process.ask("search", arm=arm, rows=list(range(WARM)), limit=LIMIT)
        return ""

    def _owner(self, document: str) -> str:
        return self._users[int(document)] if document.isdigit() else ""

    def _after(self, peer: Peer, process: Process) -> None:
        """Measure memory and disk, then add one by one."""
        first = len(self._users) - SINGLES
        try:
            self._state.put(process.ask("stats"), "stats", self._size, peer.name)
            done: dict[str, Any] = process.ask("add_one", first=first, last=first + SINGLES)
        except (CannotError, WorkerError) as error:
            done = {"cannot": str(error)}
        self._state.put(done, "single", self._size, peer.name)
        (self._stores / peer.name / ".filled").unlink(missing_ok=True)  # it holds more than its size now


def measure_quality(state: State, start: Start, peers: Sequence[Peer], data: Path, folder: Path) -> None:
    """Fill each peer with a labelled set and score its answers to every question."""
    questions = list(read_lines(data / "questions.jsonl"))
    total = sum(1 for _ in read_lines(data / "documents.jsonl"))
    calibration = json.loads((data / "embedder.json").read_text()).get("calibration")
    for peer in peers:
        if state.get("quality", data.name, peer.name) is not None:
            continue
        say(f"  {data.name}: {peer.name}")
        shutil.rmtree(folder / peer.name, ignore_errors=True)
        process = start(peer, folder / peer.name)
        options = {**peer.options, "calibration": calibration}
        try:
            hello = process.ask("hello")
            process.ask("open", data=str(data), folder=str(folder / peer.name / "store"), options=options)
            fill(process, total, budget=float("inf"))
            scores: dict[str, Any] = {arm: _scores(process, arm, questions) for arm in peer.arms}
        except (CannotError, WorkerError) as error:
            say(f"  {data.name}: {peer.name}: {error}")
            scores = {"cannot": str(error)}
        else:
            state.put(hello, "hello", peer.name)
        process.end()
        state.put(scores, "quality", data.name, peer.name)
        shutil.rmtree(folder / peer.name, ignore_errors=True)


def _scores(process: Process, arm: str, questions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean recall@10 and nDCG@10 of an arm, and how many hits it gave."""
    rows = [row for row, one in enumerate(questions) if one["relevant"]]
    recall = gain = hits = 0.0
    for first in range(0, len(rows), 50):
        part = rows[first : first + 50]
        answer = process.ask("search", arm=arm, rows=part, limit=LIMIT)
        for row, ids in zip(part, answer["ids"], strict=True):
            one = score(ids, questions[row]["relevant"])
            recall, gain, hits = recall + one[1], gain + one[2], hits + len(ids)
    count = len(rows)
    return {"R@10": recall / count, "nDCG@10": gain / count, "hits": hits / count, "n": count}
