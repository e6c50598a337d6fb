"""From what was measured to what is shown: medians, ratios to our default row, goals and quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.roster import OURS, Peer

Results = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio of CPU time that the project promises: `over` / `under` at `size`."""

    what: str
    over: str
    under: str
    bound: float
    is_least: bool
    """Whether the ratio is to be at least `bound`, else at most."""
    size: str = "10000"


GOALS = (
    Goal(
        "published 2.0.6, default against default",
        "hy-memory-2-chroma-pro/legacy",
        "hy_memory-faiss/legacy",
        100,
        True,
    ),
    Goal(
        "published 2.0.6, FAISS against FAISS",
        "hy-memory-2-faiss-pro/legacy",
        "hy_memory-faiss/legacy",
        20,
        True,
    ),
    Goal("mem0, its default embedded store", "mem0/search", "hy_memory-faiss/legacy", 50, True),
    Goal(
        "hy_memory on Chroma against Chroma's own filtered query",
        "hy_memory-chroma/legacy",
        "chroma/search",
        1.1,
        False,
    ),
    Goal(
        "hy_memory on FAISS against FAISS itself",
        "hy_memory-faiss/legacy",
        "faiss/search",
        1.5,
        False,
        "100000",
    ),
    Goal(
        "hy_memory on Qdrant against qdrant-edge itself",
        "hy_memory-qdrant/legacy",
        "qdrant-edge/search",
        1.5,
        False,
        "100000",
    ),
)  # fmt: skip - a table


COSTS = (
    ("one `add`, searchable on return, ms", "single ms", 1.0, False),
    ("bulk, memories a second", "bulk rows / CPU s", 5000.0, True),
    ("import, s", "import s", 0.3, False),
    ("opening a full store, s", "construct s", 0.2, False),
)
"""What the project promises of our default row: title, key, bound, whether it is a least one."""


def collect(state: Results, roster: Sequence[Peer]) -> Results:
    """Return everything the page and the figures show."""
    sizes = sorted(state.get("search", {}), key=int)
    speed = {size: _rows(state, roster, size) for size in sizes}
    return {
        "machine": state.get("machine", {}),
        "plan": state.get("plan", {}),
        "load": state.get("load", {}),
        "versions": {name: hello["versions"] for name, hello in state.get("hello", {}).items()},
        "embedder": state.get("embedder", {}).get("name"),
        "goals": [*goals(speed), *costs(speed)],
        "speed": speed,
        "quality": {name: _quality(found, roster) for name, found in state.get("quality", {}).items()},
    }


def goals(speed: Results) -> list[Results]:
    """Return each goal with the ratio reached, where both sides were measured."""
    found = []
    for goal in GOALS:
        rows = speed.get(goal.size, [])
        medians = {row["key"]: row["cpu ms"] for row in rows if row["cpu ms"] is not None}
        if goal.over in medians and goal.under in medians:
            ratio = medians[goal.over] / medians[goal.under]
            found.append(_reached(goal.what, goal.size, ratio, "×", goal.bound, goal.is_least))
    return found


def costs(speed: Results) -> list[Results]:
    """Return what our default row costs besides searching, with what was promised, at each size."""
    found = []
    for size, rows in speed.items():
        ours = next((row for row in rows if row["key"] == "/".join(OURS)), {})
        for what, key, bound, is_least in COSTS:
            if ours.get(key) is not None:
                found.append(_reached(what, size, ours[key], "", bound, is_least))
    return found


def _reached(what: str, size: str, value: float, unit: str, bound: float, is_least: bool) -> Results:
    told = f"{'≥' if is_least else '≤'} {bound:,g}{unit}"
    reached = value >= bound if is_least else value <= bound
    return {"what": what, "size": size, "ratio": value, "unit": unit, "goal": told, "reached": reached}


def _rows(state: Results, roster: Sequence[Peer], size: str) -> list[Results]:
    searched = state["search"][size]
    nearest = state.get("nearest", {}).get(size, [])
    ours = searched.get("/".join(OURS))
    base = _scaled(_median(ours["cpu"])) if ours else None
    rows = []
    for peer in roster:
        costs = _costs(state, peer.name, size)
        reason = state.get("cannot", {}).get(size, {}).get(peer.name)
        for arm, title in peer.arms.items():
            one = searched.get(f"{peer.name}/{arm}")
            if one is None and reason is None:
                continue
            times = _times(one or {"cpu": [], "wall": [], "ids": []})
            rows.append(
                {
                    "key": f"{peer.name}/{arm}",
                    "title": title,
                    **times,
                    "ratio": times["cpu ms"] / base if base and times["cpu ms"] else None,
                    "exact": _exact(one["ids"], nearest) if one and arm in peer.exact else None,
                    **costs,
                    "first s": state.get("first", {}).get(size, {}).get(f"{peer.name}/{arm}"),
                    "note": reason or (one or {}).get("wrong"),
                    "remark": peer.remark,
                }
            )
    return rows


def _times(one: Results) -> Results:
    cpu, wall = one["cpu"], one["wall"]
    return {
        "searches": len(cpu),
        "cpu ms": _scaled(_median(cpu)),
        "cpu ms p95": _scaled(_percentile(cpu, 95)),
        "wall ms": _scaled(_median(wall)),
        "wall ms p95": _scaled(_percentile(wall, 95)),
        "hits": float(np.mean([len(ids) for ids in one["ids"]])) if one["ids"] else None,
        "cpu ms each": [round(1000 * value, 3) for value in cpu],
        "wall ms each": [round(1000 * value, 3) for value in wall],
    }


def _costs(state: Results, name: str, size: str) -> Results:
    """Return what a peer costs besides searching; None where it was not measured."""
    hello, opened = state.get("hello", {}).get(name), state.get("open", {}).get(size, {}).get(name)
    filled = state.get("fill", {}).get(size, {}).get(name)
    single = state.get("single", {}).get(size, {}).get(name) or {}
    stats = state.get("stats", {}).get(size, {}).get(name)
    return {
        "import s": sum(hello["cpu"]) if hello else None,
        "construct s": sum(opened["cpu"]) if opened else None,
        "bulk rows / CPU s": filled["rows"] / filled["cpu"] if filled else None,
        "bulk rows / s": filled["rows"] / filled["wall"] if filled else None,
        "single ms": _scaled(_median(single.get("cpu", []))),
        "single wall ms": _scaled(_median(single.get("wall", []))),
        "single note": single.get("cannot"),
        "RSS MB": stats["rss"] / 1e6 if stats else None,
        "disk MB": stats["disk"] / 1e6 if stats else None,
    }


def _exact(answers: Sequence[Sequence[str]], nearest: Sequence[Sequence[str]]) -> float | None:
    """Return the share of the truly nearest memories that came back."""
    pairs = list(zip(answers, nearest, strict=False))
    wanted = sum(len(near) for _, near in pairs)
    return sum(len(set(ids) & set(near)) for ids, near in pairs) / wanted if wanted else None


def _quality(found: Results, roster: Sequence[Peer]) -> list[Results]:
    rows = []
    for peer in roster:
        scores = found.get(peer.name)
        if scores is None:
            continue
        for arm, title in peer.arms.items():
            blank = {"R@10": None, "nDCG@10": None, "hits": None, "n": None}
            one = {**blank, **scores.get(arm, {}), "note": scores.get("cannot")}
            rows.append({"key": f"{peer.name}/{arm}", "title": title, **one, "remark": peer.remark})
    return rows


def _median(values: Sequence[float]) -> float | None:
    return _percentile(values, 50)


def _percentile(values: Sequence[float], at: float) -> float | None:
    return float(np.percentile(values, at)) if len(values) else None


def _scaled(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
