"""Every parameter of `search` and every field of an item, one by one, on every backend and both readers.

`tests/contract/test_coverage.py` holds that no parameter and no field is without its test here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import InvalidArgumentError
from tests.support.embedding import DIMS, POOL, text
from tests.support.stores import EVERYWHERE, READERS, contents, has_keywords, ids, normal, scores

Clients = Mapping[str, HyMemoryClient]
Item = dict[str, Any]
_PAST, _LATER = 1_704_844_800.0, 1_710_028_800.0
ALL = 1000

pytestmark = [pytest.mark.parametrize("backend", EVERYWHERE), pytest.mark.parametrize("reader", READERS)]


class Asking:
    """One client, one reader, one user of its own; `ask` searches for "alpha" unless told otherwise."""

    def __init__(self, client: HyMemoryClient, backend: str, reader: str, user: str) -> None:
        self.client, self.backend, self.reader = client, backend, reader
        self.user = f"{user}-{time.monotonic_ns()}"

    def ask(self, query: str = "alpha", **more: Any) -> Any:
        asked: dict[str, Any] = {"user_ids": [self.user], "reader": self.reader, "min_score": 0, "limit": ALL}
        return self.client.search(query, **{**asked, **more})

    def add(self, content: str, **more: Any) -> str:
        return self.client.add_extracted([content], user_id=self.user, **more)["memory_id"]

    def fill(self) -> None:
        """Store a dozen memories that differ in all that can be filtered by, and in how near they are."""
        for at in range(12):
            self.add(
                text(f"alpha {'beta' if at % 2 else 'gamma'}", at),
                agent_id=f"agent{at % 3}",
                session_id=f"session{at % 4}",
                source=("app", "other", "mixed")[at % 3],
                layer=("l2_fact", "l3_summary", "l4_identity", "l5_knowledge")[at % 4],
                tags=[f"tag{at % 2}"],
                metadata={"number": at},
                memory_at=_PAST if at % 2 else _LATER,
            )


@pytest.fixture
def asking(everywhere: Clients, backend: str, reader: str, user: str) -> Asking:
    return Asking(everywhere[backend], backend, reader, user)


# -- the question --------------------------------------------------------------------------------


def test_query_by_place_and_by_name(asking: Asking) -> None:
    asking.fill()
    question: dict[str, Any] = {"user_ids": [asking.user], "reader": asking.reader}
    by_place = asking.client.search("alpha beta", **question)
    assert normal(by_place) == normal(asking.client.search(query="alpha beta", **question))
    assert normal(by_place) != normal(asking.client.search("alpha beta ..", **question))
    assert (by_place.get("rewrite") or {}).get("original_query") == "alpha beta"


def test_queries_ask_the_last_of_them(asking: Asking) -> None:
    asking.fill()
    question: dict[str, Any] = {"user_ids": [asking.user], "reader": asking.reader}
    several = asking.client.search(queries=["gamma ..", "beta"], **question)
    assert normal(several) == normal(asking.client.search("beta", **question))
    with pytest.raises(InvalidArgumentError):
        asking.ask("alpha", queries=["alpha"])


def test_query_embedding_is_the_question_to_the_vector_leg(asking: Asking) -> None:
    asking.fill()
    own = asking.ask("beta", query_embedding=POOL[5])
    assert normal(own) == normal(asking.ask(text("beta", 5)))
    with pytest.raises(InvalidArgumentError, match="query_embedding"):
        asking.ask(query_embedding=[1.0] * (DIMS + 1))


def test_request_id_is_echoed_or_made(asking: Asking) -> None:
    assert asking.ask(request_id="mine ✓")["request_id"] == "mine ✓"
    made = {asking.ask()["request_id"] for _ in range(3)}
    assert len(made) == 3


# -- who and what may come -----------------------------------------------------------------------


def test_user_ids_alone_decide_whose_memories_come(asking: Asking) -> None:
    """Law 10: another user's data changes neither scores nor order, and comes only where it is asked for."""
    asking.fill()
    alone = normal(asking.ask("alpha beta"))
    other = f"{asking.user}-other"
    asking.client.add_extracted(["alpha beta", "beta", text("alpha", 4)] * 5, user_id=other)
    assert normal(asking.ask("alpha beta")) == alone
    both = normal(asking.ask("alpha beta", user_ids=[other, asking.user]))
    assert [one for one in both if one["user_id"] == asking.user] == alone
    assert len(both) == len(alone) + 15
    assert normal(asking.ask(user_ids=["nobody"])) == []


STRICTER: tuple[tuple[dict[str, Any], Callable[[Item], bool]], ...] = (
    ({"agent_ids": ["agent0", "agent1"]}, lambda one: one["agent_id"] in ("agent0", "agent1")),
    ({"session_ids": ["session2"]}, lambda one: one["session_id"] == "session2"),
    ({"include_sources": [" APP "]}, lambda one: one["source"] == "app"),
    ({"include_sources": ["mixed", "app"]}, lambda one: one["source"] in ("mixed", "app")),
    ({"exclude_sources": ["app"]}, lambda one: one["source"] == "other"),
    ({"created_after": _LATER}, lambda one: one["memory_at"] >= _LATER),
    ({"created_before": _PAST}, lambda one: one["memory_at"] <= _PAST),
    (
        {"layers": ["l3_summary", "l5_knowledge"]},
        lambda one: one["layer"] in ("l3_summary", "l5_knowledge"),
    ),
    ({"filters": {"tags": {"contains": "tag1"}}}, lambda one: "tag1" in one["tags"]),
    ({"filters": {"metadata.number": {"gte": 7}}}, lambda one: one["meta"]["number"] >= 7),
    ({"filters": {"not": {"source": "app"}}}, lambda one: one["source"] != "app"),
)
"""Every filter there is, and which of the items it admits."""


def test_a_stricter_filter_only_takes_away(asking: Asking) -> None:
    """Laws 4 and 5: of the wide answer exactly what the filter admits, scores and order unchanged."""
    asking.fill()
    wide = normal(asking.ask("alpha beta"))
    assert len(wide) == 12
    for stricter, admits in STRICTER:
        wanted = [one for one in wide if admits(one)]
        assert 0 < len(wanted) < 12
        assert normal(asking.ask("alpha beta", **stricter)) == wanted
        assert normal(asking.ask("alpha beta", **stricter, limit=2)) == wanted[:2]


# -- how much ------------------------------------------------------------------------------------


def test_a_higher_limit_only_appends(asking: Asking) -> None:
    asking.fill()
    everything = ids(asking.ask("alpha beta"))
    for limit in (0, 1, 2, 5, 11, 12, 13):
        assert ids(asking.ask("alpha beta", limit=limit)) == everything[:limit]


def test_a_higher_min_score_only_removes(asking: Asking) -> None:
    asking.fill()
    everything = scores(asking.ask("alpha beta"))
    for least in (0.2, *sorted(everything.values())[::4], 1.0):
        kept = {one: score for one, score in everything.items() if score >= least}
        assert scores(asking.ask("alpha beta", min_score=least)) == kept


def _schemas(asking: Asking) -> list[str]:
    return [asking.add(text("habit", at), layer="l6_schema") for at in (0, 4, 1, 2)]


def _bucket(answer: Any, name: str) -> list[str]:
    return [one["memory_id"] for one in answer["memories"][name]]


def test_schema_limit_is_a_cap_of_its_own(asking: Asking) -> None:
    made = _schemas(asking)
    asking.fill()
    for limit in (0, 1, 3, 4, 9, -1):
        answer = asking.ask(schema_limit=limit, schema_min_score=0, limit=2)
        assert _bucket(answer, "schema") == (made if limit < 0 else made[:limit])
        assert len(normal(answer)) == 2


def test_schema_min_score_gates_what_no_hit_is_cited_by(asking: Asking) -> None:
    made = _schemas(asking)
    hit = asking.add("alpha")
    cited = asking.add(text("habit", 3), layer="l6_schema", evidence_ids=[hit])
    assert _bucket(asking.ask(schema_min_score=0.0), "schema") == [*made, cited]
    assert _bucket(asking.ask(schema_min_score=0.4), "schema") == [*made[:3], cited]
    assert _bucket(asking.ask(schema_min_score=0.9), "schema") == [made[0], cited]


def test_intention_limit_switches_proactive_on(asking: Asking) -> None:
    later = time.time() + 1000
    made = [asking.add(text("plan", at), layer="l7_intention", expires_at=later) for at in (0, 4, 1)]
    assert _bucket(asking.ask(), "proactive") == []
    for limit in (1, 2, 3, 9):
        assert _bucket(asking.ask(intention_limit=limit), "proactive") == made[:limit]


# -- how it is read ------------------------------------------------------------------------------


def test_reader_adds_keywords_and_nothing_else(asking: Asking) -> None:
    """Law 2; a reader that nobody knows is `legacy`."""
    asking.fill()
    legacy, other = scores(asking.ask("beta", reader="legacy")), scores(asking.ask("beta"))
    assert other.keys() == legacy.keys()
    assert all(other[one] >= legacy[one] for one in legacy)
    assert (other != legacy) == (asking.reader == "hybrid" and has_keywords(asking.backend))
    assert scores(asking.ask("beta", reader="nobody's")) == legacy


def test_scene_and_search_mode_by_name(asking: Asking) -> None:
    asking.fill()
    plain = normal(asking.ask())
    assert normal(asking.ask(scene="chat", search_mode="default")) == plain
    wrongs: tuple[dict[str, Any], ...] = ({"scene": "talk"}, {"search_mode": "deep"})
    for wrong in wrongs:
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            asking.ask(**wrong)


def test_arguments_of_working_memory_change_no_chat_answer(asking: Asking) -> None:
    """Thresholds of the other scenes are checked and change nothing; a workspace is no part of chat."""
    asking.fill()
    plain = normal(asking.ask())
    assert normal(asking.ask(working_fact_min_score=0.9, working_experience_min_score=0.95)) == plain
    wrongs: tuple[dict[str, Any], ...] = (
        {"working_fact_min_score": "high"},
        {"working_experience_min_score": float("nan")},
        {"workspace_id": "w"},
        {"branch": "main"},
    )
    for wrong in wrongs:
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            asking.ask(**wrong)


def test_rerank_false_is_the_order_without_a_model(asking: Asking) -> None:
    """What it switches off is tested with models in tests/rerank."""
    asking.fill()
    with_it, without = asking.ask("alpha beta", rerank=True), asking.ask("alpha beta", rerank=False)
    assert normal(with_it) == normal(without)
    assert all("rerank_score" not in one for one in normal(without))


def test_explain_adds_and_changes_nothing(asking: Asking) -> None:
    asking.fill()
    plain = asking.ask("alpha beta", limit=5, min_score=0.3)
    told = asking.ask("alpha beta", limit=5, min_score=0.3, explain=True)
    dropped = asking.ask("alpha beta", limit=5, min_score=0.3, explain="dropped")
    bare = [{key: value for key, value in one.items() if key != "evidence"} for one in normal(told)]
    assert bare == normal(plain)
    assert "trace" not in plain
    assert "dropped" not in told["trace"]
    assert normal(dropped) == normal(told)
    for item in normal(told):
        best = max(one["score"] for one in item["evidence"])
        assert best <= item["score"] + 1e-5
    gone = dropped["trace"]["dropped"]
    everything = scores(asking.ask("alpha beta"))
    assert {one["memory_id"] for one in gone} | set(ids(plain)) == set(everything)
    for one in gone:
        assert one["score"] == everything[one["memory_id"]]
        assert one["reason"] == ("beyond limit" if one["score"] >= 0.3 else "below min_score 0.3")


# -- the fields of an item -----------------------------------------------------------------------


def test_every_field_of_an_item(asking: Asking) -> None:
    before = time.time()
    made = asking.client.add(
        [{"role": "user", "name": "Ann", "content": "alpha — “quoted”\n  as it is"}],
        user_id=asking.user,
        agent_id="agent",
        session_id="session",
        source=" My App ",
        tags=["b", "a"],
        metadata={"k": {"deep": [1, None, True]}, "score": 7},
        memory_at="2024-05-07T09:00:00+02:00",
    )
    (item,) = normal(asking.ask())
    assert before - 1 <= item.pop("gmt_created") <= time.time() + 1
    assert item == {
        "memory_id": made["memory_id"],
        "content": "alpha — “quoted”\n  as it is",
        "score": item["score"],
        "layer": "l2_fact",
        "user_id": asking.user,
        "agent_id": "agent",
        "session_id": "session",
        "source": "my app",
        "retrieval_source": "VDB",
        "owner": "Ann",
        "tags": ["b", "a"],
        "memory_at": 1715065200.0,
        "meta": {"k": {"deep": [1, None, True]}, "score": 7},
    }
    assert 0.9 <= item["score"] <= 1.0


def test_evolution_chain_of_an_updated_memory(asking: Asking) -> None:
    kept = asking.add("alpha", memory_at=_PAST)
    assert "evolution_chain" not in normal(asking.ask())[0]
    asking.client.update(kept, text("alpha beta", 4))
    (item,) = normal(asking.ask())
    assert [(one["memory_id"], one["content"]) for one in item["evolution_chain"]] == [
        (kept, text("alpha beta", 4)),
        (kept, "alpha"),
    ]
    assert item["content"] == text("alpha beta", 4)


def test_superseded_elsewhere_and_the_chain_of_a_successor(asking: Asking) -> None:
    """Law 6: an old text whose newer one is in an excluded source says so, and shows nothing of it."""
    old = asking.add("alpha", source="app")
    newer: dict[str, object] = {"content": "alpha beta", "supersedes": old}
    asking.client.add_extracted([newer], user_id=asking.user, source="other")
    (item,) = normal(asking.ask())
    assert [one["content"] for one in item["evolution_chain"]] == ["alpha beta", "alpha"]
    assert "superseded_elsewhere" not in item
    wheres: tuple[dict[str, Any], ...] = ({"include_sources": ["app"]}, {"exclude_sources": ["other"]})
    for where in wheres:
        (item,) = normal(asking.ask(**where))
        assert (item["memory_id"], item["superseded_elsewhere"]) == (old, True)
        assert "evolution_chain" not in item


def test_c19_scores_of_opposite_vectors_stay_in_range(asking: Asking) -> None:
    """C19: whatever the cosines, every score is in [0, 1]; a threshold of 0.99 keeps the exact match."""
    for at in range(len(POOL)):
        asking.add(text("alpha", at))
    for at in range(0, len(POOL), 3):
        found = normal(asking.ask(text("beta", at)))
        assert len(found) == len(POOL)
        assert all(0.0 <= one["score"] <= 1.0 for one in found)
        assert found[0]["content"] == text("alpha", at)
        close = {text("alpha", one) for one in range(len(POOL)) if float(POOL[one] @ POOL[at]) >= 0.99}
        assert set(contents(asking.ask(text("beta", at), min_score=0.99))) == close
