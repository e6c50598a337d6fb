"""The HTTP embedder against a real service on loopback: order, retries, faults, and what is never said."""

from __future__ import annotations

import time
import traceback
from collections.abc import Generator
from contextlib import ExitStack

import numpy as np
import pytest

from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.openai import open_embedder
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError, EmbeddingError
from hy_memory.testing.fakes import unit
from hy_memory.testing.openai_double import Body, OpenAIDouble, Reply, embedding_of

KEY = "sk-very-secret"
SECRET = "my bank PIN is 4711"


@pytest.fixture
def service() -> Generator[OpenAIDouble]:
    with OpenAIDouble() as double:
        yield double


class Opening:
    """Opens embedders and closes them after the test."""

    def __init__(self, service: OpenAIDouble, stack: ExitStack) -> None:
        self._service = service
        self._stack = stack

    def __call__(self, dims: int | None = 8, timeout: float = 5.0, batch_size: int = 64) -> CheckedEmbedder:
        return self.with_options(
            EmbedderOptions("m", self._service.url, KEY, dims=dims, timeout=timeout, batch_size=batch_size)
        )

    def with_options(self, options: EmbedderOptions) -> CheckedEmbedder:
        embedder = open_embedder(options)
        self._stack.callback(embedder.close)
        return embedder


@pytest.fixture
def opened(service: OpenAIDouble) -> Generator[Opening]:
    with ExitStack() as stack:
        yield Opening(service, stack)


def test_rows_come_in_the_order_of_the_texts(opened: Opening) -> None:
    """The service answers the last text first; `index` says which is which."""
    rows = opened().embed_documents(["a", "b", "c"])
    for row, text in zip(rows, "abc", strict=True):
        np.testing.assert_allclose(row, unit(embedding_of(text, 8)), atol=1e-6)


def test_what_is_sent(service: OpenAIDouble, opened: Opening) -> None:
    opened(dims=None).embed_query("hello \ud83d")
    asked = service.requests[-1]
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "m", "input": ["hello \ufffd"]}


def test_dimensions_are_sent_only_when_configured(service: OpenAIDouble, opened: Opening) -> None:
    assert opened(dims=6).embed_query("a").shape == (6,)
    assert service.requests[-1].body["dimensions"] == 6


def test_without_dims_the_endpoint_is_asked_once(service: OpenAIDouble, opened: Opening) -> None:
    embedder = opened(dims=None)
    assert not service.requests
    assert (embedder.dims, embedder.dims) == (8, 8)
    assert len(service.requests) == 1


def test_openai_s_own_models_need_no_question(service: OpenAIDouble, opened: Opening) -> None:
    embedder = opened.with_options(EmbedderOptions(base_url=service.url))
    assert (embedder.name, embedder.dims) == ("openai:text-embedding-3-small", 1536)
    assert not service.requests


def test_a_server_that_refuses_the_parameter_is_asked_without_it(
    service: OpenAIDouble, opened: Opening
) -> None:
    """Servers of models with one width answer 400 to `dimensions`, even if it names that width."""
    service.script(Reply(400, {"error": {"message": "no matryoshka", "code": "bad"}}))
    embedder = opened(dims=8)
    assert embedder.embed_query("a").shape == (8,)
    assert [("dimensions" in one.body) for one in service.requests] == [True, False]
    embedder.embed_query("b")
    assert "dimensions" not in service.requests[-1].body


def test_another_width_than_configured_is_refused(service: OpenAIDouble, opened: Opening) -> None:
    """C59: the message says what to set."""
    service.routes["/v1/embeddings"] = lambda body: service.embeddings({**body, "dimensions": 5})
    with pytest.raises(EmbeddingError, match="MEMORY_EMBEDDING_DIMS=5"):
        opened(dims=8).embed_query("a")


def test_batches_are_bounded(service: OpenAIDouble, opened: Opening) -> None:
    rows = opened(batch_size=2).embed_documents(["a", "b", "c", "d", "e"])
    assert [len(_texts(one.body)) for one in service.requests] == [2, 2, 1]
    np.testing.assert_allclose(rows[4], unit(embedding_of("e", 8)), atol=1e-6)


def _texts(body: Body) -> list[str]:
    texts = body["input"]
    assert isinstance(texts, list)
    return texts


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again(service: OpenAIDouble, opened: Opening, status: int) -> None:
    service.script(Reply(status), Reply(status, b"<html>"))
    assert opened().embed_query("a").shape == (8,)
    assert len(service.requests) == 3


def test_a_broken_connection_is_tried_again(service: OpenAIDouble, opened: Opening) -> None:
    service.script(Reply(hang_up=True))
    assert opened().embed_query("a").shape == (8,)


def test_the_pause_asked_for_is_kept(service: OpenAIDouble, opened: Opening) -> None:
    service.script(Reply(429, headers={"Retry-After": "0.3"}))
    start = time.monotonic()
    opened().embed_query("a")
    assert time.monotonic() - start >= 0.3


def test_a_pause_beyond_the_time_limit_is_not_waited_for(service: OpenAIDouble, opened: Opening) -> None:
    service.script(Reply(429, headers={"Retry-After": "3600"}))
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match="429"):
        opened(timeout=2.0).embed_query("a")
    assert time.monotonic() - start < 1.5


def test_tries_end_when_the_time_is_over(service: OpenAIDouble, opened: Opening) -> None:
    service.script(*[Reply(503)] * 100)
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"503|too slowly"):
        opened(timeout=0.6).embed_query("a")
    assert time.monotonic() - start < 2.0
    assert len(service.requests) >= 2


@pytest.mark.parametrize("slow", [Reply(delay=1.5), Reply(body=b" " * 1000, drip=0.05)])
def test_a_service_that_does_not_finish_is_given_up(
    service: OpenAIDouble, opened: Opening, slow: Reply
) -> None:
    """C54: no call hangs, neither on silence nor on an answer that drips in byte by byte."""
    service.script(slow, slow, slow)
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match="MEMORY_EMBEDDER_TIMEOUT"):
        opened(timeout=0.4).embed_query("a")
    assert time.monotonic() - start < 1.4


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "MEMORY_EMBEDDER_API_KEY"),
        (403, "MEMORY_EMBEDDER_API_KEY"),
        (404, "MEMORY_EMBEDDER_BASE_URL"),
        (404, "MEMORY_EMBEDDER_MODEL"),
        (413, "MEMORY_EMBED_BATCH_SIZE"),
        (400, "MEMORY_EMBEDDER_MODEL"),
        (302, "MEMORY_EMBEDDER_BASE_URL"),
    ],
)
def test_a_lasting_fault_is_not_tried_again_and_names_the_variable(
    service: OpenAIDouble, opened: Opening, status: int, words: str
) -> None:
    message = f"key {KEY} cannot embed {SECRET}"
    service.script(Reply(status, {"error": {"message": message, "code": "some_code"}}))
    with pytest.raises(EmbeddingError, match=rf"{status} \(some_code\)") as caught:
        opened(dims=None).embed_query(SECRET)
    assert words in str(caught.value)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>sign in</html>",
        b"\xff\xfe",
        b"",
        b"null",
        [],
        {},
        {"data": None},
        {"data": []},
        {"data": [3]},
        {"data": [{"index": 0}]},
        {"data": [{"index": 7, "embedding": [1.0] * 8}]},
        {"data": [{"index": 0, "embedding": [1.0] * 8}] * 2},
        {"data": [{"index": 0, "embedding": "aGVsbG8="}]},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": [], "embedding": [1.0] * 8}]},
        {"data": [{"index": 0, "embedding": [0.0] * 8}]},
        {"data": [{"index": 0, "embedding": [float("nan")] * 8}]},
        {"data": [{"index": 0, "embedding": [1e999] * 8}]},
    ],
)
def test_garbage_is_an_error(service: OpenAIDouble, opened: Opening, body: object) -> None:
    """C61: whatever a broken endpoint answers, no vector comes of it."""
    service.script(Reply(body=body))
    with pytest.raises(EmbeddingError, match="openai:m"):
        opened().embed_query("a")


def test_neither_key_nor_text_is_ever_said(service: OpenAIDouble, opened: Opening) -> None:
    leaky = {"error": {"message": f"{KEY} {SECRET}", "code": f"{KEY} {SECRET}"}}
    embedder = opened(timeout=0.3)
    for reply in (Reply(401, leaky), Reply(400, leaky), Reply(503, leaky), Reply(body=leaky)):
        service.script(*[reply] * 4)
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed_query(SECRET)
        said = "".join(traceback.format_exception(caught.value))
        assert KEY not in said
        assert "4711" not in said


@pytest.mark.parametrize("key", ["sk-a b", "sk-ключ", "sk-a\nb", "sk-a\0"])
def test_a_key_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_API_KEY") as caught:
        open_embedder(EmbedderOptions(api_key=key))
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "   x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_EMBEDDER_BASE_URL"):
        open_embedder(EmbedderOptions(base_url=url))


def test_the_base_address_may_be_given_in_its_usual_forms(service: OpenAIDouble, opened: Opening) -> None:
    for url in (service.url, f"{service.url}/", f"{service.url}/embeddings", f" {service.url} "):
        opened.with_options(EmbedderOptions("m", url, dims=8)).embed_query("a")
    assert {one.path for one in service.requests} == {"/v1/embeddings"}
    assert "authorization" not in service.requests[0].headers


def test_nobody_there_is_an_error_that_says_so(opened: Opening) -> None:
    embedder = opened.with_options(EmbedderOptions("m", "http://127.0.0.1:9/v1", dims=8, timeout=0.3))
    with pytest.raises(EmbeddingError, match=r"cannot be reached.*MEMORY_EMBEDDER_BASE_URL"):
        embedder.embed_query("a")
