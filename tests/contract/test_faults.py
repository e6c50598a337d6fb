"""Every part of a search × every way to fail: what stands, what is named; nothing hangs (contract §2).

A part that can fail is one line of TABLE: where it breaks, how `degraded` calls it, and what each reader
still answers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, cast

import pytest

from hy_memory import HyMemoryClient, runtime
from hy_memory.deadline import is_timed
from hy_memory.errors import BackendError, ConfigurationError, EmbeddingError, PartTimeoutError
from hy_memory.ranking.weights import RankingWeights, UseWeights
from hy_memory.settings.load import load_settings
from tests.contract.test_shapes import check_answer_shape
from tests.support.acts import FOREVER, NONSENSE, hanging, listed, raises, says
from tests.support.embedding import text
from tests.support.faulty import Act, Faults, FaultyEmbedding, faulty_parts
from tests.support.stores import BACKENDS, READERS, has_keywords, open_client, quick_folder

_TIMEOUT = 1.2  # of which the first part that hangs takes three quarters; the rest is ample for all others
_WORDS = ["alpha", text("alpha", 2), text("gamma alpha", 9)]
_numbers = count()

Buckets = dict[str, list[str]]


@dataclass(frozen=True)
class Whole:
    """What both readers answer when nothing fails."""

    legacy: Buckets
    hybrid: Buckets

    def of(self, reader: str) -> Buckets:
        return self.legacy if reader == "legacy" else self.hybrid


Stands = Callable[[Whole, str], "Buckets | None"]
"""What is left of an answer; None: the reader has failed."""


def everything(whole: Whole, reader: str) -> Buckets:
    return whole.of(reader)


def nothing(whole: Whole, reader: str) -> None:
    del whole, reader


def by_meaning(whole: Whole, reader: str) -> Buckets:
    del reader
    return whole.legacy


def by_words(whole: Whole, reader: str) -> Buckets:
    return {**whole.of(reader), "normal": sorted(_WORDS)}


def by_words_alone(whole: Whole, reader: str) -> Buckets:
    """Buckets beside `normal` are found by meaning only."""
    return {**by_words(whole, reader), "schema": [], "proactive": []}


def without(*keys: str) -> Stands:
    def stands(whole: Whole, reader: str) -> Buckets:
        return {**whole.of(reader), **{key: [] for key in keys}}

    return stands


@dataclass(frozen=True)
class Row:
    """A place that can fail, the part that `degraded` names then, and what stands in each reader."""

    place: str
    parts: tuple[str, ...]
    legacy: Stands
    hybrid: Stands

    def __str__(self) -> str:
        return self.place

    def stands(self, reader: str, backend: str) -> Stands:
        return self.hybrid if reader == "hybrid" and has_keywords(backend) else self.legacy


TABLE = (
    Row("embedder", ("embedder",), nothing, by_words_alone),
    Row("vectors.search", ("VDB",), nothing, by_words),
    Row("vectors.score", ("VDB",), everything, by_words),
    Row("keywords.search", ("BM25",), everything, by_meaning),
    Row("keywords.score", ("BM25",), everything, by_meaning),
    Row("rerank", ("rerank",), everything, everything),
    Row("ledger.turns", ("episode",), everything, everything),
    Row("schema", ("schema",), without("schema"), without("schema")),
    Row("intention", ("intention",), without("proactive"), without("proactive")),
    Row("ledger.versions", ("chain",), without("chains"), without("chains")),
    Row(
        "ledger.counts",
        ("schema", "intention"),
        without("schema", "proactive"),
        without("schema", "proactive"),
    ),
    Row("ledger.embedder", ("embedder",), nothing, by_words_alone),
    Row("ledger.records", ("reader",), nothing, nothing),
    Row("ledger.freshness", ("reader",), nothing, nothing),
)
NOT_ASKED = {
    "legacy": {"vectors.score", "keywords.search", "keywords.score"},
    "hybrid": set[str](),
}
"""Places that a reader does not come to: breaking them changes nothing."""


def not_asked(reader: str, backend: str) -> set[str]:
    return NOT_ASKED[reader if has_keywords(backend) else "legacy"]


@dataclass(frozen=True)
class Store:
    """A client with faulty parts and a store that shows every part at work."""

    backend: str
    client: HyMemoryClient
    faults: Faults
    whole: Whole

    def search(self, reader: str, *, rerank: bool = False, **more: Any) -> dict[str, Any]:
        """Search with all the buckets; whatever was kept of the ledger is out of date, and read anew."""
        self.client.add("beta", user_id=f"else-{next(_numbers)}")
        return _search(self.client, reader, rerank=rerank, **more)

    def breaking(self, row: Row, reader: str, act: Act) -> tuple[dict[str, Any], int]:
        """Return the answer while `row` does `act`, and how often it was asked."""
        asked: list[None] = []

        def counted(call: Callable[[], Any]) -> Any:
            asked.append(None)
            return act(call)

        self.client.add("beta", user_id=f"else-{next(_numbers)}")
        with self.faults.acting(row.place, counted):
            answer = _search(self.client, reader, rerank=row.place == "rerank")
        return answer, len(asked)


def _search(client: HyMemoryClient, reader: str, **more: Any) -> dict[str, Any]:
    found = client.search("alpha", user_ids=["u"], reader=reader, intention_limit=5, **more)
    return cast("dict[str, Any]", found)


@contextmanager
def opened(backend: str = "memory", **recall: object) -> Generator[Store]:
    config = {
        "vector_store": {"provider": "faulty"},
        "recall": {"local_rerank_enabled": True, **recall},
        "threads": 4,
    }
    with ExitStack() as stack:
        folder = stack.enter_context(quick_folder())
        # Only while the client opens: stores of several fixtures overlap, and end in any order.
        with faulty_parts(backend) as faults:
            client = stack.enter_context(open_client(backend, folder, FaultyEmbedding(faults), config))
        for user_id in ("u", "v"):
            client.add_extracted(["alpha", text("alpha", 2)], user_id=user_id)
            client.add_extracted(["alpha schema"], user_id=user_id, layer="l6_schema")
            client.add_extracted(["alpha plan"], user_id=user_id, layer="l7_intention")
        # so many that the keywords' third is on no list of the vectors, and its cosine is asked for
        client.add_extracted([text(f"filler {at}", 5) for at in range(70)], user_id="u")
        changed = client.add(text("zeta", 9), user_id="u")["memory_id"]
        client.update(changed, text("gamma alpha", 9))
        whole = Whole(*(buckets(_search(client, one, rerank=False)) for one in READERS))
        yield Store(backend, client, faults, whole)


@pytest.fixture(scope="module", params=BACKENDS)
def store(request: pytest.FixtureRequest) -> Generator[Store]:
    with opened(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def timed() -> Generator[Store]:
    with opened(timeout=_TIMEOUT) as made:
        yield made


@pytest.fixture(scope="module")
def raising() -> Generator[Store]:
    with opened(raise_on_failure=True) as made:
        yield made


def buckets(answer: dict[str, Any]) -> Buckets:
    """Return the texts of each bucket, and of which hits there are chains."""
    found = {key: sorted(one["content"] for one in items) for key, items in answer["memories"].items()}
    chains = sorted(one["content"] for one in answer["memories"]["normal"] if "evolution_chain" in one)
    return {**found, "chains": chains}


def parts(answer: dict[str, Any]) -> tuple[str, ...]:
    return tuple(one["part"] for one in answer.get("degraded", ()))


def check_laws(answer: dict[str, Any], *, failed: bool) -> None:
    """Whatever fails, what is answered keeps its shape, its range, its order and its owner (laws 1, 3, 6)."""
    plain = {key: list(items) for key, items in answer["memories"].items()}
    for key, items in plain.items():
        order = [(-one.get("rerank_score", one["score"]), one["memory_id"]) for one in items]
        assert order == sorted(order)
        assert len({one["memory_id"] for one in items}) == len(items)
        for one in items:
            assert one["user_id"] == "u"
            assert 0.0 <= one["score"] <= 1.0
        optional = ("evolution_chain", "rerank_score")
        plain[key] = [{at: one[at] for at in one if at not in optional} for one in items]
    check_answer_shape({**answer, "memories": plain}, failed=failed)


def check(store: Store, row: Row, reader: str, answer: dict[str, Any], asked: int) -> None:
    """Assert that of `answer` stands what `row` says, and that exactly its part is named."""
    expected = row.stands(reader, store.backend)(store.whole, reader)
    check_laws(answer, failed=expected is None)
    if row.place in not_asked(reader, store.backend):
        assert asked == 0
        assert "degraded" not in answer
    else:
        assert asked > 0
        assert parts(answer) == (("reader",) if expected is None else row.parts)
    empty: Buckets = {"normal": [], "schema": [], "proactive": [], "chains": []}
    assert buckets(answer) == (empty if expected is None else expected)


def test_the_store_shows_every_part(store: Store) -> None:
    """Or the table would prove nothing."""
    for reader in READERS:
        answer = store.search(reader)
        check_laws(answer, failed=False)
        assert "degraded" not in answer
        found = buckets(answer)
        assert found == store.whole.of(reader)
        assert (found["schema"], found["proactive"]) == (["alpha schema"], ["alpha plan"])
        assert found["chains"] == [text("gamma alpha", 9)]
        assert len(found["normal"]) == 10
        by_words_too = reader == "hybrid" and has_keywords(store.backend)
        assert (text("alpha", 2) in found["normal"]) == by_words_too
    reranked = store.search("legacy", rerank=True)
    check_laws(reranked, failed=False)
    assert all("rerank_score" in one for one in reranked["memories"]["normal"])


ERRORS = (
    ConnectionError("the server went away"),
    BackendError("the index is broken"),
    TypeError("unsupported operand"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_part_that_raises(store: Store, row: Row, reader: str, error: Exception) -> None:
    answer, asked = store.breaking(row, reader, raises(error))
    check(store, row, reader, answer, asked)
    for note in answer.get("degraded", ()):
        kind = (
            EmbeddingError if row.place == "embedder" and not isinstance(error, BackendError) else type(error)
        )
        assert note["error"].startswith(f"{kind.__name__}: ")
    after = store.search(reader)
    assert buckets(after) == store.whole.of(reader), "the next search is whole again"
    assert "degraded" not in after


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_part_that_hangs(timed: Store, row: Row, reader: str) -> None:
    """It is waited for within the deadline, then left out like one that raises."""
    started = time.monotonic()
    with hanging() as hang:
        answer, asked = timed.breaking(row, reader, hang)
    assert time.monotonic() - started < FOREVER / 2
    check(timed, row, reader, answer, asked)
    for note in answer.get("degraded", ()):
        assert note["error"].startswith("PartTimeoutError: ")
        assert note["retryable"]
    after = timed.search(reader)
    assert buckets(after) == timed.whole.of(reader)
    assert "degraded" not in after


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("row", TABLE, ids=str)
def test_an_interrupt_passes_through(
    timed: Store, store: Store, row: Row, interrupt: type[BaseException]
) -> None:
    for one in (timed, store):
        if row.place not in not_asked("hybrid", one.backend):
            with pytest.raises(interrupt):
                one.breaking(row, "hybrid", raises(interrupt()))
            assert buckets(one.search("hybrid")) == one.whole.hybrid


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_the_original_error_is_raised_where_that_is_wanted(raising: Store, row: Row) -> None:
    error = BackendError("the original")
    with pytest.raises(BackendError) as caught:
        raising.breaking(row, "hybrid", raises(error))
    assert caught.value is error


def test_a_late_part_raises_where_that_is_wanted() -> None:
    row = TABLE[0]
    with (
        opened(timeout=0.2, raise_on_failure=True) as store,
        hanging() as hang,
        pytest.raises(PartTimeoutError, match="were not enough"),
    ):
        store.breaking(row, "hybrid", hang)


@pytest.mark.parametrize("store", ["memory", "chroma"], indirect=True)  # what is said hides who says it
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("row", [one for one in TABLE if one.place in NONSENSE], ids=str)
def test_a_part_that_talks_nonsense(store: Store, row: Row, reader: str) -> None:
    """It is as good as one that raises: named, and left out."""
    if row.place in not_asked(reader, store.backend):
        pytest.skip("this reader does not ask it there")
    for name, act in NONSENSE[row.place].items():
        if row.place in ("schema", "intention") and name in (
            "too few scores",
            "not in order",
            "one id twice",
        ):
            continue  # of one item there is no order
        answer, asked = store.breaking(row, reader, act)
        assert "degraded" in answer, name
        check(store, row, reader, answer, asked)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("place", ["vectors.search", "keywords.search", "schema", "intention"])
def test_ids_that_are_not_the_users_are_nothing(store: Store, place: str, reader: str) -> None:
    """Unknown ids, and another user's whatever the index says of them, are as good as not listed (law 6)."""
    if place in not_asked(reader, store.backend):
        pytest.skip("this reader does not ask it there")
    (row,) = (one for one in TABLE if one.place == place)
    theirs = [one["memory_id"] for one in store.client.list_memories(user_id="v")["memories"]]
    assert len(theirs) == 4
    for ids in (("unknown", "", "'; --", "x" * 10_000), theirs):
        answer, asked = store.breaking(row, reader, listed(*ids))
        assert asked
        check_laws(answer, failed=False)
        assert buckets(answer) == store.whole.of(reader)
        assert "degraded" not in answer


@pytest.mark.parametrize("reader", READERS)
def test_records_that_are_not_the_users_are_nothing(store: Store, reader: str) -> None:
    """Even a ledger that gave another user's record for an id would show none of it (law 6)."""
    page = store.client.list_memories(user_id="v")["memories"]
    theirs = [one["memory_id"] for one in page]

    def swapped(real: dict[str, Any]) -> dict[str, Any]:
        others = {one.user_id: one for one in real.values()}
        return {one: others.get("v", record) for one, record in real.items()}

    (row,) = (one for one in TABLE if one.place == "ledger.records")
    with store.faults.acting("vectors.search", listed(*theirs)):
        answer, _ = store.breaking(row, reader, says(swapped))
    check_laws(answer, failed=False)


def test_all_workers_hang() -> None:
    """Then a search fails at once, and says why; when they are let go, all is well again."""
    (row,) = (one for one in TABLE if one.place == "ledger.freshness")
    with opened(timeout=0.3) as store:
        with hanging() as hang:
            while "hang in earlier calls" not in str(store.breaking(row, "hybrid", hang)[0].get("degraded")):
                pass
            started = time.monotonic()
            answer = _search(store.client, "legacy", rerank=False)
            assert time.monotonic() - started < 0.2
            check_laws(answer, failed=True)
        while parts(store.search("legacy")):
            pass
        assert buckets(store.search("hybrid")) == store.whole.hybrid


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_deadline_holds_for_twins_and_context_and_closing_waits_for_nobody(backend: str) -> None:
    before = set(threading.enumerate())
    with opened(backend, timeout=0.4) as store, hanging() as hang:
        started = time.monotonic()
        with store.faults.acting("vectors.search", hang):
            twin = asyncio.run(_twin(store.client))
            check_laws(cast("dict[str, Any]", twin), failed=True)
            block = store.client.context("alpha", user_ids=["u"])
            assert block["memory_ids"] == []
            store.client.close()
        assert time.monotonic() - started < FOREVER / 2
        assert all(one.daemon for one in set(threading.enumerate()) - before)


@pytest.mark.parametrize("place", ["ledger.moment", "embedder"])
def test_the_deadline_holds_for_an_earlier_moment(timed: Store, place: str) -> None:
    asked: dict[str, Any] = {"user_ids": ["u"], "reader": "legacy", "as_of": time.time()}
    with hanging() as hang, timed.faults.acting(place, hang):
        failed = cast("dict[str, Any]", timed.client.search("alpha", **asked))
    check_laws(failed, failed=True)
    assert failed["degraded"][0]["error"].startswith("PartTimeoutError: ")
    assert "degraded" not in timed.client.search("alpha", **asked)


async def _twin(client: HyMemoryClient) -> object:
    return await client.async_search("alpha", user_ids=["u"])


def _parts(recall: dict[str, object]) -> dict[str, bool]:
    with quick_folder() as folder:
        config = {"data_dir": str(folder), "recall": {"local_rerank_enabled": True, **recall}}
        opened_runtime = runtime.open_runtime(load_settings(config))
        ports = opened_runtime.reading
        opened_runtime.close()
        return {
            one.name: is_timed(part)
            for one in fields(ports)
            if not _is_value(part := getattr(ports, one.name))
        }


def _is_value(part: object) -> bool:
    """Whether a field of the ports is a mere value, or a part that is off."""
    return part is None or isinstance(part, bool | str | float | RankingWeights | UseWeights)


def test_every_part_has_a_deadline_and_none_where_none_was_set() -> None:
    """A port that is added and not timed could hang a search: `runtime.timed` names them all."""
    with faulty_parts():
        assert all(_parts({"timeout": 5}).values())
        assert not any(_parts({}).values())


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e9, "soon"])
def test_a_deadline_that_cannot_be_meant_is_named(seconds: object) -> None:
    with quick_folder() as folder, pytest.raises(ConfigurationError, match="timeout"):
        HyMemoryClient({"data_dir": str(folder), "recall": {"timeout": seconds}})


def test_the_deadline_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_SEARCH_TIMEOUT", "2.5")
    assert load_settings({}).recall.timeout == 2.5
