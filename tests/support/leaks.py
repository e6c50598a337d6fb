"""The leak guard: whose memories an answer holds, and whether the call allows each of them (contract §2, §3).

Pure checks over what was asked, what was answered, and what the ledger knows of the ids that an answer
carries beside its items. It computes the rules itself, from the contract's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_IDS = ("memory_ids", "evidence_ids")
PLAIN_FIELDS = frozenset({
    "memory_id", "content", "score", "layer", "user_id", "agent_id", "session_id", "source",
    "retrieval_source", "owner", "tags", "memory_at", "gmt_created", "meta",
})  # fmt: skip
"""What every item has; none of it is the id of another memory, but for what callers keep in `meta`."""
_CITES = "cites "
"""How an item's evidence names a memory that a schema rests on."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose a memory is, which application wrote it, and what it rests on."""

    user_id: str
    source: str
    evidence_ids: tuple[str, ...] = ()
    scene: str = "chat"


class Ledger(Protocol):
    """What the guard asks of a client's ledger."""

    def origin(self, memory_id: str) -> Origin | None:
        """Return whose a memory is; None where there is none."""
        ...

    def is_quiet(self) -> bool:
        """Return whether nothing was written since the call began."""
        ...


def check(verb: str, asked: Mapping[str, Any], answer: Any, ledger: Ledger) -> None:
    """Assert that the answer of a verb holds nothing that the call does not allow."""
    if verb in _CHECKS:
        _CHECKS[verb](asked, answer, ledger)


def is_allowed(source: str, include: Iterable[str] | None, exclude: Iterable[str] | None) -> bool:
    """Return whether the source filter lets a source through; on conflict the black list wins."""
    allowed = {one.strip().lower() for one in include or ()}
    denied = {one.strip().lower() for one in exclude or ()}
    if source in denied:
        return False
    if allowed:
        return source in allowed
    return not denied or source != "mixed"


def attached_ids(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield every id that an item carries beside its plain fields, its own id left out."""
    for key, value in item.items():
        if key not in PLAIN_FIELDS:
            yield from (one for one in _ids_in(key, value) if one != item["memory_id"])


def _ids_in(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if key == "memory_id" or key.endswith("_by") or key == "supersedes":
            yield value
        elif key == "leg" and value.startswith(_CITES):
            yield value.removeprefix(_CITES)
    elif isinstance(value, Mapping):
        for inner_key, inner in value.items():
            if inner_key != "meta":
                yield from _ids_in(str(inner_key), inner)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from ((one,) if key in _IDS and isinstance(one, str) else _ids_in(key, one))


def check_search(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    """Assert laws 1, 3, 5 and 6 of one answer, whichever scenes it is of."""
    if "facts" in answer:
        _check_work(asked, answer, ledger)
    if "memories" in answer:
        _check_chat(asked, answer, ledger)


def _check_work(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    """Assert that facts and experiences are of the lanes asked for, and name nothing of anybody else."""
    lanes = ("working", "coding") if answer["scene"] == "all" else (answer["scene"],)
    least = asked["working_fact_min_score"]
    assert all(one["score"] >= least for one in answer["facts"]), f"a fact below {least}"
    for kind, name in (("facts", "fact_id"), ("experiences", "experience_id")):
        items = answer[kind]
        assert len(items) <= asked["limit"], f"{len(items)} {kind}, limit {asked['limit']}"
        assert len({one[name] for one in items}) == len(items), f"one of the {kind} twice"
        for item in items:
            _check_place(asked, item)
            _check_attached(asked, [item[name], *_ids_in("", item)], ledger, lanes)
            _check_attached(asked, item.get("derived_experience_ids", ()), ledger, lanes)


def _check_place(asked: Mapping[str, Any], item: Mapping[str, Any]) -> None:
    for key in ("workspace_id", "branch"):
        assert asked[key] in (None, item[key]), f"{key} {item[key]!r}, asked was for {asked[key]!r}"


def _check_chat(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    memories = answer["memories"]
    items = [item for bucket in memories.values() for item in bucket]
    if "rewrite" not in answer:
        assert not items, "a failed search answers with items"
        assert answer.get("degraded") or answer.get("errors"), "a failed search does not say what failed"
    if asked["request_id"] is not None:
        assert answer["request_id"] == asked["request_id"], "the request id is not the caller's"
    ids = [item["memory_id"] for item in items]
    assert len(set(ids)) == len(ids), f"twice in one answer: {sorted(ids)}"
    for bucket in memories.values():
        _check_order(bucket)
    _check_caps(asked, memories)
    for item in items:
        _check_item(asked, item)
        _check_attached(asked, attached_ids(item), ledger)
    _check_schemas(asked, memories, ledger)
    dropped = answer.get("trace", {}).get("dropped", ())
    _check_attached(asked, (one["memory_id"] for one in dropped), ledger)


def _check_order(bucket: Sequence[Mapping[str, Any]]) -> None:
    for item in bucket:
        assert 0.0 <= item["score"] <= 1.0, f"score {item['score']} is outside [0, 1]"
        assert 0.0 <= item.get("rerank_score", 0.0) <= 1.0, f"rerank_score {item['rerank_score']} is, too"
    order = [(-item.get("rerank_score", item["score"]), item["memory_id"]) for item in bucket]
    assert order == sorted(order), f"out of order: {order}"


def _check_caps(asked: Mapping[str, Any], memories: Mapping[str, Any]) -> None:
    normal, proactive = memories["normal"], memories["proactive"]
    assert len(normal) <= asked["limit"], f"{len(normal)} items, limit {asked['limit']}"
    for name, limit in (("schema", asked["schema_limit"]), ("proactive", asked["intention_limit"])):
        assert limit < 0 or len(memories[name]) <= limit, f"{len(memories[name])} in {name}, limit {limit}"
    for item in (*normal, *proactive):
        assert item["score"] >= asked["min_score"], f"score {item['score']} below {asked['min_score']}"
    for name, layers in (("schema", ("l6_schema",)), ("proactive", ("l7_intention",))):
        assert all(item["layer"] in layers for item in memories[name]), f"another layer in {name}"
    forbidden = ("l0_basic_info", "l1_raw", "l6_schema")
    assert all(item["layer"] not in forbidden for item in normal), "a layer that is never in normal"


def _check_item(asked: Mapping[str, Any], item: Mapping[str, Any]) -> None:
    _check_user_and_source(asked, item["memory_id"], Origin(item["user_id"], item["source"]))
    for argument, key in (("agent_ids", "agent_id"), ("session_ids", "session_id"), ("layers", "layer")):
        wanted = asked.get(argument)
        assert not wanted or item[key] in wanted, f"{key} {item[key]!r} is not in {argument} {wanted}"


def _check_user_and_source(asked: Mapping[str, Any], memory_id: str, origin: Origin) -> None:
    users = asked["user_ids"]
    assert origin.user_id in users, f"{memory_id} is of {origin.user_id!r}, asked was for {users}"
    include, exclude = asked.get("include_sources"), asked.get("exclude_sources")
    assert is_allowed(origin.source, include, exclude), (
        f"{memory_id} is from {origin.source!r}; allowed {include}, denied {exclude}"
    )


def _check_attached(
    asked: Mapping[str, Any], memory_ids: Iterable[str], ledger: Ledger, scenes: Sequence[str] = ("chat",)
) -> None:
    for memory_id in dict.fromkeys(memory_ids):
        origin = ledger.origin(memory_id)
        if origin is not None:
            _check_user_and_source(asked, memory_id, origin)
            assert origin.scene in scenes, f"{memory_id} is of {origin.scene}, asked was for {scenes}"
        else:
            assert not ledger.is_quiet(), f"{memory_id} is in the answer, but not in the ledger"


def _check_schemas(asked: Mapping[str, Any], memories: Mapping[str, Any], ledger: Ledger) -> None:
    """Assert that a schema below its own threshold rests on a hit of the same answer."""
    shown = {(item["user_id"], item["memory_id"]) for item in memories["normal"]}
    for item in memories["schema"]:
        if item["score"] < asked["schema_min_score"] and (origin := ledger.origin(item["memory_id"])):
            cited = {(origin.user_id, one) for one in origin.evidence_ids}
            assert cited & shown or not ledger.is_quiet(), f"schema {item['memory_id']} below its threshold"


def check_context(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    """Assert that the memories in a block, and those that did not fit, are allowed."""
    ids = [*answer["memory_ids"], *answer["dropped"]]
    assert len(set(ids)) == len(ids), f"twice in one block: {sorted(ids)}"
    assert answer["tokens"] <= asked["max_tokens"], "the block is larger than its budget"
    _check_attached(asked, ids, ledger)


def check_listing(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    """Assert that a page holds only what was asked for, and no more of it."""
    del ledger
    whose = {**asked, "user_ids": [asked["user_id"]]}
    items = answer["memories"]
    assert len(items) <= asked["limit"], f"{len(items)} items, limit {asked['limit']}"
    assert answer["total"] >= len(items), "fewer in total than on the page"
    assert len({item["memory_id"] for item in items}) == len(items), "a memory twice on a page"
    for item in items:
        _check_item(whose, item)
        assert not asked["statuses"] or item["status"] in asked["statuses"], f"status {item['status']}"
        assert asked["layers"] or item["layer"] != "l1_raw", "a raw turn that nobody asked for"


def _check_profile(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    whose = {"user_ids": [asked["user_id"]]}
    assert answer["user_id"] == asked["user_id"], "the profile of somebody else"
    _check_attached(whose, _ids_in("basic_info", answer["basic_info"]), ledger)


def _check_one(asked: Mapping[str, Any], answer: Mapping[str, Any] | None, ledger: Ledger) -> None:
    if answer is None:
        return
    assert answer["memory_id"] == asked["memory_id"], "another memory than the one asked for"
    assert asked["user_id"] in (None, answer["user_id"]), f"a memory of {answer['user_id']!r}"
    for one in answer.get("versions", ()):
        assert one["memory_id"] == answer["memory_id"], "a version of another memory"
    whose = {"user_ids": [answer["user_id"]]}
    for linked in filter(None, (answer["supersedes"], answer["superseded_by"])):
        if origin := ledger.origin(linked):
            _check_user_and_source(whose, linked, origin)


def _check_events(asked: Mapping[str, Any], answer: Sequence[Mapping[str, Any]], ledger: Ledger) -> None:
    del ledger
    for event in answer:
        assert asked["user_id"] in (None, event["user_id"]), f"an event of {event['user_id']!r}"
        assert asked.get("memory_id") in (None, event["memory_id"]), "an event of another memory"


def _check_outcome(asked: Mapping[str, Any], answer: Mapping[str, Any] | None, ledger: Ledger) -> None:
    del ledger
    if answer is not None:
        assert asked["user_id"] in (None, answer["user_id"]), f"a write of {answer['user_id']!r}"
        assert answer["request_id"] == asked["request_id"], "another write than the one asked for"


def _check_evolution(asked: Mapping[str, Any], answer: Mapping[str, Any], ledger: Ledger) -> None:
    kept = (*answer["created"], *answer["updated"], *answer["unchanged"])
    for memory_id in kept:
        if origin := ledger.origin(memory_id):
            _check_user_and_source({"user_ids": [asked["user_id"]]}, memory_id, origin)


_CHECKS: Mapping[str, Callable[[Mapping[str, Any], Any, Ledger], None]] = {
    "search": check_search,
    "context": check_context,
    "list_memories": check_listing,
    "get_user_profile": _check_profile,
    "get": _check_one,
    "update": _check_one,
    "history": _check_events,
    "get_recent_history": _check_events,
    "get_write_outcome": _check_outcome,
    "evolve": _check_evolution,
}
