"""What stands beside a hit: shapes, limits, and that nothing comes along which the request may not see."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from hy_memory.conversations.index import Conversations
from hy_memory.errors import LedgerError
from tests.support.stores import BACKENDS, READERS, ids, normal, open_client, quick_folder

HOUR = 3600.0
START = 1_700_000_000.0
Tell = Callable[..., str]
THREE = {"episode_id", "capsule_memories", "timeline"}


def teller(client: HyMemoryClient) -> Tell:
    """Return a function that stores one memory at a minute of the day and returns its id."""

    def tell(content: str, minute: float, **more: Any) -> str:
        more = {"user_id": "u", **more}
        return client.add_extracted([content], memory_at=START + 60 * minute, **more)["memory_id"]

    return tell


def company(item: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the ids beside a hit: of its neighbours, and of its timeline."""
    beside = [one["memory_id"] for one in item.get("capsule_memories", [])]
    return beside, [one["memory_id"] for one in item.get("timeline", [])]


def hit(client: HyMemoryClient, content: str, **more: Any) -> dict[str, Any]:
    """Return the hit of one text in a search that went well; the three keys are there together or not."""
    asked: dict[str, Any] = {"user_ids": ["u"], "min_score": 0.0, "limit": 50, **more}
    answer = client.search(content, **asked)
    assert "degraded" not in answer
    for one in normal(answer):
        assert THREE & one.keys() in (set(), THREE)
    return next(one for one in normal(answer) if one["content"] == content)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_a_hit_comes_with_its_episode(folder: Path, backend: str, reader: str) -> None:
    with open_client(backend, folder) as client:
        tell = teller(client)
        first, second, third, fourth = (
            tell("gamma", 0, source="app"),
            tell("alpha", 1, source="app"),
            tell("delta", 2, source="app", tags=["t"]),
            tell("epsilon", 3),
        )
        alone = tell("beta", 3 + 6 * 60 + 1)  # more than six hours later
        elsewhere = tell("zeta", 1, session_id="other")
        found = hit(client, "alpha", reader=reader)
        assert found["memory_id"] == second
        assert found["episode_id"] == f"ep-{first}"
        assert company(found) == ([first, third], [first, second, third, fourth])
        stored = cast("dict[str, Any]", client.get(third))
        keys = ("memory_id", "content", "layer", "source", "owner", "memory_at", "gmt_created")
        assert found["capsule_memories"][1] == {key: stored[key] for key in keys}
        assert [one["memory_at"] for one in found["timeline"]] == [START + 60 * at for at in range(4)]
        assert company(hit(client, "gamma", reader=reader)) == ([second], [first, second, third, fourth])
        for query, one in (("beta", alone), ("zeta", elsewhere)):
            lonely = hit(client, query, reader=reader)
            assert lonely["memory_id"] == one
            assert not THREE & lonely.keys()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_nothing_comes_along_that_the_request_may_not_see(folder: Path, backend: str, reader: str) -> None:
    """Law 6: the scope, sources, filters and times of the request bind what is attached too."""
    with open_client(backend, folder) as client:
        tell = teller(client)
        secret = tell("gamma", 0, source="diary")
        mine = tell("alpha", 1, source="app")
        tagged = tell("delta", 2, source="app", tags=["t"], metadata={"k": 1})
        late = tell("epsilon", 90, source="app")
        tell("zeta", 1, source="app", user_id="v")
        tell("eta", 1, source="app", agent_id="x")
        tell("theta", 1, source="app", expires_at=5.0)
        tell("iota", 1, source="app", layer="l4_identity")
        identity = hit(client, "iota")["memory_id"]
        everything = [secret, mine, identity, tagged, late]

        def timeline(**more: Any) -> list[str]:
            return company(hit(client, "alpha", reader=reader, **more))[1]

        assert timeline() == everything
        assert timeline(user_ids=["u", "v"]) == everything
        assert timeline(exclude_sources=["diary"]) == everything[1:]
        assert timeline(include_sources=["app"]) == everything[1:]
        assert timeline(created_before=START + 60 * 2) == everything[:4]
        assert timeline(layers=["l2_fact"]) == [secret, mine, tagged, late]
        assert timeline(session_ids=["default_session"], agent_ids=["default_agent"]) == everything
        wanted = {"or": [{"tags": "t"}, {"memory_at": START + 60.0, "layer": "l2_fact"}]}
        assert timeline(filters=wanted) == [mine, tagged]
        assert timeline(filters={"not": {"metadata.k": {"exists": True}}}) == [secret, mine, identity, late]
        beside = hit(client, "alpha", reader=reader, exclude_sources=["diary"], layers=["l2_fact"])
        assert company(beside)[0] == [tagged]
        only = hit(client, "alpha", reader=reader, filters={"memory_at": START + 60, "layer": "l2_fact"})
        assert not THREE & only.keys()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_changes_is_seen_by_the_next_search(folder: Path, backend: str, reader: str) -> None:
    """Law 9: deleted, moved and new neighbours, and a session that was closed."""
    with open_client(backend, folder) as client:
        tell = teller(client)
        before, mine, after = tell("gamma", 0), tell("alpha", 1), tell("delta", 2)
        assert company(hit(client, "alpha", reader=reader))[0] == [before, after]
        client.update(after, "delta epsilon")
        assert hit(client, "alpha", reader=reader)["capsule_memories"][1]["content"] == "delta epsilon"
        client.delete(before)
        found = hit(client, "alpha", reader=reader)
        assert found["episode_id"] == f"ep-{mine}"
        assert company(found) == ([after], [mine, after])
        client.update(after, memory_at=START + 60 * 0.5)
        assert company(hit(client, "alpha", reader=reader)) == ([after], [after, mine])
        client.finalize_session(user_id="u", session_id="default_session")
        late = tell("eta", 1.5)
        assert company(hit(client, "alpha", reader=reader)) == ([after], [after, mine])
        assert not THREE & hit(client, "eta", reader=reader).keys()
        client.delete(after)
        assert not THREE & hit(client, "alpha", reader=reader).keys()
        client.delete_all(user_id="u", session_ids=["default_session"])
        assert client.get(late) is None


@pytest.mark.parametrize("reader", READERS)
def test_a_superseded_memory_is_nobodys_neighbour(client: HyMemoryClient, reader: str) -> None:
    """What took its place is; the old text, shown where the new one's source is left out, stands alone."""
    tell = teller(client)
    old, mine = tell("gamma", 0, source="app"), tell("alpha", 1, source="app")
    more: dict[str, Any] = {"user_id": "u", "source": "diary", "memory_at": START + 120}
    new = client.add_extracted([{"content": "delta", "supersedes": old}], **more)["memory_id"]
    assert company(hit(client, "alpha", reader=reader)) == ([new], [mine, new])
    assert not THREE & hit(client, "alpha", reader=reader, exclude_sources=["diary"]).keys()
    assert not THREE & hit(client, "gamma", reader=reader, exclude_sources=["diary"]).keys()


def test_an_earlier_moment_has_the_episodes_of_then(client: HyMemoryClient) -> None:
    """What stood beside a memory then is shown, and nothing that came later."""
    tell = teller(client)
    tell("gamma", 0)
    tell("alpha", 1)
    stored = cast("dict[str, Any]", client.get(hit(client, "alpha")["memory_id"]))
    time.sleep(0.002)
    tell("delta", 2)
    then = hit(client, "alpha", as_of=stored["gmt_created"] + 1e-3)
    assert [one["content"] for one in then["capsule_memories"]] == ["gamma"]
    assert [one["content"] for one in hit(client, "alpha")["capsule_memories"]] == ["gamma", "delta"]


def test_only_facts_of_the_normal_bucket_have_episodes(client: HyMemoryClient) -> None:
    """Patterns and plans stand in no conversation; an expired plan is an ordinary fact without company."""
    tell = teller(client)
    mine = tell("gamma", 0)
    tell("alpha", 1)
    tell("alpha beta", 2, layer="l6_schema", evidence_ids=[mine])
    tell("alpha delta", 3, layer="l7_intention")
    tell("alpha eta", 4, layer="l7_intention", expires_at=START)
    answer = client.search("alpha", user_ids=["u"], min_score=0.0, schema_min_score=0.0, intention_limit=9)
    buckets = cast("Any", answer)["memories"]
    assert len(buckets["schema"]) == len(buckets["proactive"]) == 1
    assert not THREE & {*buckets["schema"][0], *buckets["proactive"][0]}
    shown = {one["content"]: one for one in buckets["normal"]}
    assert company(shown["alpha"])[0] == company(shown["gamma"])[1][:1] == [mine]
    assert len(company(shown["alpha"])[1]) == 2
    assert not THREE & shown["alpha eta"].keys()


def test_timelines_are_the_twenty_nearest(client: HyMemoryClient) -> None:
    tell = teller(client)
    told = [tell("alpha" if at == 30 else f"gamma {at}", at) for at in range(40)]
    found = hit(client, "alpha")
    assert found["episode_id"] == f"ep-{told[0]}"
    assert company(found) == ([told[29], told[31]], told[20:40])


@pytest.mark.parametrize("number", [0, 1, 3])
def test_how_many_neighbours_is_a_setting(folder: Path, number: int) -> None:
    """None at all where it is 0."""
    config = {"episodes": {"neighbours": number, "gap_hours": 1}}
    with open_client("faiss", folder, config=config) as client:
        tell = teller(client)
        told = [tell("alpha" if at == 4 else f"gamma {at}", at * 30) for at in range(9)]
        tell("beta", 8 * 30 + 61)
        found = hit(client, "alpha")
        if number == 0:
            assert not THREE & found.keys()
        else:
            assert company(found) == ([*told[4 - number : 4], *told[5 : 5 + number]], told)


def test_a_failing_part_leaves_the_hits(client: HyMemoryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = teller(client)
    tell("gamma", 0)
    mine = tell("alpha", 1)

    def fail(_: object, user_id: str) -> None:
        raise LedgerError(f"{user_id}: told to fail")

    with monkeypatch.context() as patched:
        patched.setattr(Conversations, "of", fail)
        answer = client.search("alpha", user_ids=["u"])
        nothing = client.search("alpha", user_ids=["u"], limit=0)
    assert [one["part"] for one in answer.get("degraded", [])] == ["episode"]
    assert mine in ids(answer)
    assert not any(THREE & one.keys() for one in normal(answer))
    assert "degraded" not in nothing  # nothing was asked of it
    assert company(hit(client, "alpha"))[1] != []


def test_answers_do_not_depend_on_each_other(client: HyMemoryClient) -> None:
    """What a caller does with one answer changes no other."""
    tell = teller(client)
    tell("gamma", 0)
    tell("alpha", 1)
    found = hit(client, "alpha")
    kept = [dict(one) for one in found["timeline"]], [dict(one) for one in found["capsule_memories"]]
    found["timeline"][0]["memory_id"] = "?"
    found["capsule_memories"][0].clear()
    again = hit(client, "alpha")
    assert (again["timeline"], again["capsule_memories"]) == kept


WORDS = ("alpha", "beta", "gamma", "delta")


@settings(max_examples=25, deadline=None)
@given(
    told=st.lists(
        st.tuples(
            st.sampled_from(WORDS),
            st.integers(0, 30),
            st.sampled_from("uv"),
            st.sampled_from("st"),
            st.sampled_from(("app", "diary")),
        ),
        min_size=1,
        max_size=14,
    ),
    excluded=st.booleans(),
)
def test_what_is_attached_is_what_a_list_shows(
    told: list[tuple[str, int, str, str, str]], excluded: bool
) -> None:
    """Every hit's timeline is its session's listing, cut at pauses, without what the request excludes."""
    with quick_folder() as folder, open_client("memory", folder) as client:
        rows: dict[str, tuple[int, str, str, str]] = {}
        for word, hour, user, session, source in told:
            made = client.add_extracted(
                [word], user_id=user, session_id=session, source=source, memory_at=START + HOUR * hour
            )
            rows[made["memory_id"]] = hour, user, session, source
        more: dict[str, Any] = {"exclude_sources": ["diary"]} if excluded else {}
        found = normal(client.search("alpha", user_ids=["u"], min_score=0.0, limit=50, **more))
        for item in found:
            _, user, session, _ = rows[item["memory_id"]]
            ordered = sorted((row[0], one) for one, row in rows.items() if row[1:3] == (user, session))
            episodes: list[list[str]] = [[]]
            for at, (hour, one) in enumerate(ordered):
                if at and hour - ordered[at - 1][0] > 6:
                    episodes.append([])
                episodes[-1].append(one)
            (whole,) = [one for one in episodes if item["memory_id"] in one]
            shown = [one for one in whole if not excluded or rows[one][3] != "diary"]
            if len(shown) == 1:
                assert not THREE & item.keys()
            else:
                assert company(item)[1] == shown
                assert item["episode_id"] == f"ep-{whole[0]}"
