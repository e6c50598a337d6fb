"""`as_of` beside the laws: days, buckets, chains, what fails, and what it costs."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hy_memory import HyMemoryClient
from hy_memory.errors import EmbeddingError, LedgerError
from hy_memory.ledger.store import SqlLedger
from tests.support.clocks import Hand
from tests.support.embedding import POOL, DottedEmbedding, text
from tests.support.faulty import Faults
from tests.support.stores import contents, ids, normal, open_client

_NOON = datetime(2024, 3, 31, 12, tzinfo=UTC).timestamp()
_DAY = 86_400.0


@pytest.fixture
def hand() -> Hand:
    return Hand(_NOON)


@pytest.fixture
def embedder() -> DottedEmbedding:
    return DottedEmbedding()


@pytest.fixture
def timed(hand: Hand, folder: Path, embedder: DottedEmbedding) -> Generator[HyMemoryClient]:
    """Yield a client that goes by `hand`."""
    with hand.opening(), open_client("faiss", folder, embedder) as client:
        yield client


def _updated(client: HyMemoryClient, hand: Hand, *texts: str) -> str:
    """Return a memory of user u that said each of `texts` for a day."""
    memory_id = client.add(texts[0], user_id="u")["memory_id"]
    for one in texts[1:]:
        hand.at += _DAY
        client.update(memory_id, one)
    hand.at += _DAY
    return memory_id


def test_a_bare_day_means_all_of_it(timed: HyMemoryClient, hand: Hand) -> None:
    """As in `created_before`; every other spelling is an instant, itself included."""
    timed.add("alpha", user_id="u")
    hand.at += 30 * _DAY
    for moment in ("2024-03-31", "2024-03-31T12:00:00Z", datetime(2024, 3, 31, 12), _NOON, int(_NOON)):
        assert contents(timed.search("zeta", user_ids=["u"], as_of=moment)) == ["alpha"]
    for moment in ("2024-03-30", "2024-03-31T11:59:59Z", _NOON - 0.001, 0, -1.0):
        assert contents(timed.search("zeta", user_ids=["u"], as_of=moment)) == []


def test_before_anything_was_every_bucket_is_empty(timed: HyMemoryClient) -> None:
    timed.add("alpha", user_id="u")
    answer = timed.search("zeta", user_ids=["u", "nobody"], as_of="1999-12-31", intention_limit=5)
    assert answer["memories"] == {"normal": [], "schema": [], "proactive": []}
    assert "rewrite" in answer
    assert "degraded" not in answer


@pytest.mark.parametrize("reader", ["legacy", "hybrid"])
def test_a_chain_ends_with_the_moment(timed: HyMemoryClient, hand: Hand, reader: str) -> None:
    _updated(timed, hand, "one", "two", "three")
    for days, chain in ((0.5, None), (1.0, ["two", "one"]), (2.5, ["three", "two", "one"])):
        (item,) = normal(timed.search("zeta", user_ids=["u"], as_of=_NOON + days * _DAY, reader=reader))
        shown: list[Any] = item.get("evolution_chain", [])
        assert [one["content"] for one in shown] == (chain or [])
        assert item["content"] == (chain or ["one"])[0]


@pytest.mark.parametrize("reader", ["legacy", "hybrid"])
def test_what_was_superseded_later_was_current_then(timed: HyMemoryClient, hand: Hand, reader: str) -> None:
    """Heads, chains and `superseded_elsewhere` are those of the moment."""
    wanted: dict[str, Any] = {"user_ids": ["u"], "reader": reader}
    before = timed.add("one", user_id="u", source="a")["memory_id"]
    for content, source in (("two", "a"), ("three", "b")):
        hand.at += _DAY
        fact = {"content": content, "supersedes": before}
        before = timed.add_extracted([fact], user_id="u", source=source)["memory_id"]
    hand.at += _DAY
    chains = (["one"], ["two", "one"], ["three", "two", "one"])
    for days, chain in enumerate(chains):
        (item,) = normal(timed.search("zeta", as_of=_NOON + days * _DAY, **wanted))
        shown: list[Any] = item.get("evolution_chain", [item])
        assert [one["content"] for one in shown] == chain
        (item,) = normal(timed.search("zeta", as_of=_NOON + days * _DAY, include_sources=["a"], **wanted))
        assert item["content"] == ("one" if days == 0 else "two")
        assert item.get("superseded_elsewhere", False) is (days == 2)


def test_episodes_are_those_of_then(timed: HyMemoryClient, hand: Hand) -> None:
    """What was said later, or closed later, stands beside no memory yet."""
    said = [timed.add("one", user_id="u")["memory_id"]]
    for content in (text("two", 3), text("three", 3)):
        hand.at += 60
        said.append(timed.add(content, user_id="u")["memory_id"])
    timed.finalize_session(user_id="u", session_id="default_session")
    hand.at += 60
    timed.add(text("four", 3), user_id="u")
    hand.at += 60
    for minutes, stood in enumerate(([], said[:2], said, said)):
        items = normal(timed.search("zeta", user_ids=["u"], as_of=_NOON + 60 * minutes))
        (item,) = (one for one in items if one["content"] == "one")
        timeline: list[Any] = item.get("timeline", [])
        assert [one["memory_id"] for one in timeline] == stood


def test_expiry_is_that_of_then(timed: HyMemoryClient, hand: Hand) -> None:
    """An intention was open then and a fact from its expiry on; another memory was there until its own."""
    timed.add("call", user_id="u", layer="l7_intention", expires_at=_NOON + _DAY)
    timed.add("ticket", user_id="u", expires_at=_NOON + 2 * _DAY)
    hand.at += 9 * _DAY
    for days, facts, plans in ((0, ["ticket"], ["call"]), (1, ["call", "ticket"], []), (2, ["call"], [])):
        answer = timed.search("zeta", user_ids=["u"], as_of=_NOON + days * _DAY, intention_limit=5)
        assert sorted(contents(answer)) == facts
        assert [one["content"] for one in answer["memories"]["proactive"]] == plans


def test_schemas_are_those_there_were(timed: HyMemoryClient, hand: Hand) -> None:
    cited = timed.add("alpha", user_id="u")["memory_id"]
    hand.at += _DAY
    timed.add(text("pattern", 2), user_id="u", layer="l6_schema", evidence_ids=[cited])
    hand.at += _DAY
    for moment, schemas in ((_NOON, []), (_NOON + _DAY, [text("pattern", 2)])):
        answer = timed.search("zeta", user_ids=["u"], as_of=moment)
        assert [one["content"] for one in answer["memories"]["schema"]] == schemas
        assert contents(answer) == ["alpha"]


def test_a_deleted_memory_is_of_no_moment(timed: HyMemoryClient, hand: Hand) -> None:
    """C78: its text is gone, from the past too, also from a moment that was just asked about."""
    memory_id = _updated(timed, hand, "one", "two")
    assert contents(timed.search("zeta", user_ids=["u"], as_of=_NOON)) == ["one"]
    timed.delete(memory_id)
    for moment in (_NOON, _NOON + _DAY, None):
        assert contents(timed.search("zeta", user_ids=["u"], as_of=moment)) == []


def test_a_moment_is_made_once_for_several_questions(
    timed: HyMemoryClient, hand: Hand, embedder: DottedEmbedding
) -> None:
    """Texts nobody has any more are embedded again, once; a write in between shows at once."""
    _updated(timed, hand, text("one", 3), "two")
    timed.search("zeta", user_ids=["u"], as_of=_NOON, min_score=0.0)
    calls = embedder.calls
    for reader in ("legacy", "hybrid"):
        timed.search("one", user_ids=["u"], as_of=_NOON, reader=reader)
    assert embedder.calls == calls + 2  # the questions
    made = timed.add("beta", user_id="u")["memory_id"]
    assert made in ids(timed.search("zeta", user_ids=["u"], as_of=hand.at))


def test_reading_the_past_changes_nothing(timed: HyMemoryClient, hand: Hand) -> None:
    memory_id = _updated(timed, hand, "one", "two")
    before = timed.get(memory_id, versions=True), timed.get_recent_history(user_id="u")
    timed.search("one", user_ids=["u"], as_of=_NOON, reader="hybrid", explain="dropped")
    assert (timed.get(memory_id, versions=True), timed.get_recent_history(user_id="u")) == before
    assert contents(timed.search("zeta", user_ids=["u"])) == ["two"]


def test_explain_shows_the_same_stages(timed: HyMemoryClient, hand: Hand) -> None:
    _updated(timed, hand, "one", "two")
    shown = [
        timed.search("one", user_ids=["u"], reader="hybrid", explain=True, as_of=at) for at in (None, _NOON)
    ]
    now, then = ([one["stage"] for one in answer["trace"]["stages"]] for answer in shown)  # type: ignore[typeddict-item]
    assert then == now
    (item,) = normal(shown[1])
    assert [one["leg"] for one in item["evidence"]] == ["VDB", "BM25"]


def test_context_of_a_moment(timed: HyMemoryClient, hand: Hand) -> None:
    _updated(timed, hand, "one", "two")
    assert '"one"' in timed.context("zeta", user_ids=["u"], as_of=_NOON)["text"]
    assert '"two"' in timed.context("zeta", user_ids=["u"])["text"]


def test_chroma_has_no_keywords_in_the_past_either(hand: Hand, folder: Path) -> None:
    """`hybrid` of a client is the same search at every moment."""
    with hand.opening(), open_client("chroma", folder) as plain:
        plain.add_extracted(["alpha", text("beta", 2)], user_id="u")
        hand.at += 1
        assert contents(plain.search("beta", user_ids=["u"], reader="hybrid", as_of=_NOON)) == ["alpha"]
    with hand.opening(), open_client("chroma+local", folder) as local:
        assert len(contents(local.search("beta", user_ids=["u"], reader="hybrid", as_of=_NOON))) == 2


def test_a_backend_that_is_down_has_no_part_in_the_past(hand: Hand, folder: Path, faults: Faults) -> None:
    with hand.opening(), open_client("faulty", folder) as client:
        client.add("alpha", user_id="u")
        hand.at += 1
        with faults.breaking("vectors", "keywords", "feed"):
            answer = client.search("zeta", user_ids=["u"], as_of=_NOON)
            assert client.search("zeta", user_ids=["u"])["memories"]["normal"] == []
        assert contents(answer) == ["alpha"]
        assert "degraded" not in answer


def test_a_ledger_that_fails_is_a_failed_reader(
    timed: HyMemoryClient, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed.add("alpha", user_id="u")
    hand.at += 1

    def fail(*_: object) -> None:
        raise LedgerError("told to fail")

    monkeypatch.setattr(SqlLedger, "moment", fail)
    answer = timed.search("zeta", user_ids=["u"], as_of=_NOON)
    assert answer["memories"] == {"normal": [], "schema": [], "proactive": []}
    assert "rewrite" not in answer
    assert [one["part"] for one in answer.get("degraded", [])] == ["reader"]


def test_a_moment_keeps_to_the_deadline(
    hand: Hand, folder: Path, embedder: DottedEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one part: late, it fails the reader; the next question about it may find it made."""
    monkeypatch.setenv("MEMORY_SEARCH_TIMEOUT", "0.4")
    with hand.opening(), open_client("faiss", folder, embedder) as client:
        _updated(client, hand, "one", "two")
        embedder.delay = 0.6
        late = client.search("zeta", user_ids=["u"], as_of=_NOON, query_embedding=POOL[0])
        assert [one["part"] for one in late.get("degraded", [])] == ["reader"]
        embedder.delay = 0.0
        answer = client.search("zeta", user_ids=["u"], as_of=_NOON, query_embedding=POOL[0])
        assert contents(answer) == ["one"]


def test_texts_that_cannot_be_embedded_leave_the_words(
    timed: HyMemoryClient, hand: Hand, embedder: DottedEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector leg fails, whole; the keyword leg stands, and the next search is whole again."""
    _updated(timed, hand, "one", "two")
    wanted: dict[str, Any] = {"user_ids": ["u"], "as_of": _NOON, "query_embedding": POOL[0]}
    embedder.fail_next = 1
    answer = timed.search("one", reader="hybrid", **wanted)
    assert contents(answer) == ["one"]
    assert {one["part"] for one in answer.get("degraded", [])} >= {"VDB"}
    embedder.fail_next = 1
    failed = timed.search("one", reader="legacy", **wanted)
    assert "rewrite" not in failed
    assert "degraded" not in timed.search("one", reader="hybrid", **wanted)
    monkeypatch.setenv("MEMORY_SEARCH_RAISE", "true")
    with hand.opening(), open_client("faiss", Path(timed._runtime.settings.folder()), embedder) as strict:  # type: ignore[union-attr]
        embedder.fail_next = 1
        with pytest.raises(EmbeddingError):
            strict.search("one", reader="legacy", **wanted)
