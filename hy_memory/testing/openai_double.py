"""A small OpenAI-compatible service on loopback: real HTTP, deterministic answers, faults on demand.

with OpenAIDouble() as service:
    service.script(Reply(status=429, headers={"Retry-After": "0"}))
    service.say({"scene": "chat"}, "prose")  # what the next two chats answer
    ... base_url=service.url ...
    assert service.requests[0].body["model"] == "m"
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, cast

import numpy as np

Body = dict[str, object]
Route = Callable[[Body], object]


@dataclass(frozen=True, slots=True)
class Reply:
    """A scripted answer: `body` as JSON, or as the very bytes given.

    It is sent after `delay` seconds, in pieces with `drip` seconds between them where that is
    positive; `hang_up` closes the connection instead of answering.
    """

    status: int = 200
    body: object = field(default_factory=dict[str, object])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    drip: float = 0.0
    hang_up: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body


def embedding_of(text: str, dims: int) -> list[float]:
    """Return the vector that the double gives `text`: random, but always the same."""
    seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")
    return [float(value) for value in np.random.default_rng(seed).standard_normal(dims)]


class OpenAIDouble:
    """The service. Scripted replies go first, in order; afterwards each path's route answers.

    `routes` maps a path to what makes its answer, and may be added to. `dims` is the width of
    vectors where a request does not name one.
    """

    def __init__(self, dims: int = 8) -> None:
        self.dims = dims
        self.requests: list[Received] = []
        self.routes: dict[str, Route] = {
            "/v1/embeddings": self.embeddings,
            "/v1/chat/completions": self.completion,
        }
        self._said: deque[object] = deque()
        self._script: deque[Reply] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base address, as a client is configured with it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Reply) -> None:
        """Answer the next requests, whatever their path, by `replies`."""
        self._script.extend(replies)

    def forget(self) -> None:
        """Answer by the routes from now on, whatever `script` was told."""
        self._script.clear()

    def embeddings(self, body: Body) -> object:
        """Return the answer of the embeddings endpoint, last text first: clients must heed `index`."""
        texts = cast("list[str]", body["input"])
        dims = cast("int", body.get("dimensions", self.dims))
        data = [
            {"object": "embedding", "index": at, "embedding": embedding_of(text, dims)}
            for at, text in enumerate(texts)
        ]
        return {"object": "list", "model": body["model"], "data": data[::-1]}

    def say(self, *contents: object) -> None:
        """Answer the next chats with `contents`: a text as it is, anything else as JSON."""
        self._said.extend(contents)

    @property
    def chats(self) -> list[Received]:
        """The requests for chat completions."""
        return [one for one in self.requests if one.path == "/v1/chat/completions"]

    def completion(self, body: Body) -> object:
        """Return a chat completion with what `say` was told, in order; an empty object when it is through."""
        content = self._said.popleft() if self._said else {}
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        messages = cast("list[dict[str, str]]", body["messages"])
        size = sum(len(one["content"]) for one in messages)
        return {
            "object": "chat.completion",
            "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": size // 4, "completion_tokens": len(text) // 4},
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, received: Received) -> Reply:
        """Note a request and return its reply."""
        self.requests.append(received)
        try:
            return self._script.popleft()
        except IndexError:
            route = self.routes.get(received.path)
        if route is None:
            return Reply(404, {"error": {"message": f"no such path {received.path}", "code": "not_found"}})
        return Reply(body=route(received.body))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        double = self

        class Handler(BaseHTTPRequestHandler):
            """One connection to the double."""

            protocol_version = "HTTP/1.1"
            # Headers and body leave as two packets; without this the second waits 40 ms for an ACK.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                """Answer a POST."""
                size = int(self.headers.get("Content-Length", 0))
                body = cast("Body", json.loads(self.rfile.read(size) or b"{}"))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = double.answer(Received(self.path, headers, body))
                time.sleep(reply.delay)
                if reply.hang_up:
                    self.close_connection = True
                    return
                try:
                    self._send(reply)
                except ConnectionError:  # the client lost its patience, which tests provoke
                    self.close_connection = True

            def _send(self, reply: Reply) -> None:
                raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                if not reply.drip:
                    self.wfile.write(raw)
                    return
                for at in range(len(raw)):
                    self.wfile.write(raw[at : at + 1])
                    self.wfile.flush()
                    time.sleep(reply.drip)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: tests keep the console clean."""

        return Handler
