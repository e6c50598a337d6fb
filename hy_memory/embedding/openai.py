"""Vectors from any endpoint that speaks OpenAI's `/embeddings`, by plain HTTP.

The `openai` package costs most of a second to import and adds nothing to one POST. Neither the
key nor anything the endpoint says (it may quote the key or the text) enters a message; only short
error codes do.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.lazy import Lazy
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError, EmbeddingError
from hy_memory.ranking.calibration import IDENTITY, Calibration

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
_KNOWN_DIMS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Native widths of OpenAI's own models, so that they need no question to the endpoint."""
_TRANSIENT = (408, 409, 425, 429)
"""Statuses besides 5xx that the same request may not meet again."""
_JITTER = wait_random_exponential(multiplier=0.25, max=8)  # seconds; spreads clients that failed together
_LONGEST_ANSWER = 256 << 20  # bytes; 2048 vectors of 4096 numbers as text are half of it
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,48}")


class _TransientError(EmbeddingError):
    """A failure worth another try; `after` is the pause the endpoint asked for, in seconds."""

    def __init__(self, message: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(message)


class _DimensionsRefusedError(EmbeddingError):
    """The endpoint refused a request that named `dimensions`."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class _OpenAI:
    """One model of one endpoint. Connections are kept between calls and shared by threads."""

    fingerprint = ""
    calibration: Calibration = IDENTITY

    def __init__(self, options: EmbedderOptions) -> None:
        self._model = options.model or DEFAULT_MODEL
        self.name = f"openai:{self._model}"
        self._url = _endpoint(options.base_url)
        self._batch_size = max(1, options.batch_size)
        self._timeout = options.timeout
        self._asked_dims = options.dims
        self._send_dims = options.dims is not None
        self._dims = Lazy(self._find_dims)
        headers = _headers(options.api_key)
        # At the first text, because reading the certificates takes 50 ms.
        self._client = Lazy(lambda: httpx.Client(headers=headers))

    @property
    def dims(self) -> int:
        """The width: as configured, as known of OpenAI's models, else as the endpoint answers once."""
        return self._dims.get()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one row per text, in calls of at most `batch_size`."""
        rows: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            rows += self._embed(texts[start : start + self._batch_size])
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return one row; the protocol knows no form of its own for questions."""
        return self._embed([text])[0]

    def close(self) -> None:
        """Close the kept connections."""
        client = self._client.loaded
        if client is not None:
            client.close()

    def _find_dims(self) -> int:
        known = self._asked_dims or _KNOWN_DIMS.get(self._model)
        return known or len(self._embed(["width"])[0])

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the rows of one call, tried again until `timeout` has passed."""
        try:
            return self._persist(texts)
        except _DimensionsRefusedError:
            # Servers of models with one width refuse the parameter, even if it names that width.
            self._send_dims = False
            return self._persist(texts)

    def _persist(self, texts: Sequence[str]) -> list[list[float]]:
        deadline = time.monotonic() + self._timeout

        def is_over(state: RetryCallState) -> bool:
            return time.monotonic() + state.upcoming_sleep >= deadline

        attempts = Retrying(
            retry=retry_if_exception_type(_TransientError), wait=_pause, stop=is_over, reraise=True
        )
        return attempts(self._try, texts, deadline)

    def _try(self, texts: Sequence[str], deadline: float) -> list[list[float]]:
        request: dict[str, object] = {"model": self._model, "input": list(texts)}
        if self._send_dims:
            request["dimensions"] = self._asked_dims
        answer = self._post(request, deadline)
        if answer.status != 200:
            raise self._refusal(answer)
        return _rows(answer.body, len(texts), self.name)

    def _post(self, request: Mapping[str, object], deadline: float) -> _Answer:
        left = max(0.001, deadline - time.monotonic())
        body = bytearray()
        try:
            with self._client.get().stream("POST", self._url, json=request, timeout=left) as response:
                for piece in response.iter_bytes():
                    body += piece
                    # httpx bounds each read, not their sum: a dripping answer would never end.
                    if time.monotonic() > deadline or len(body) > _LONGEST_ANSWER:
                        raise EmbeddingError(
                            f"the embedder {self.name!r} answered too slowly or too much; raise "
                            f"MEMORY_EMBEDDER_TIMEOUT or lower MEMORY_EMBED_BATCH_SIZE"
                        )
                return _Answer(response.status_code, response.headers, bytes(body))
        except httpx.TimeoutException as error:
            raise _TransientError(
                f"the embedder {self.name!r} gave no answer in time; see MEMORY_EMBEDDER_TIMEOUT"
            ) from error
        except httpx.TransportError as error:
            raise _TransientError(
                f"the embedder {self.name!r} cannot be reached ({type(error).__name__}); check "
                f"MEMORY_EMBEDDER_BASE_URL"
            ) from error

    def _refusal(self, answer: _Answer) -> EmbeddingError:
        status = answer.status
        said = f"the embedder {self.name!r} was refused with HTTP {status}{_code(answer.body)}"
        if status in _TRANSIENT or status >= 500:
            return _TransientError(f"{said} until its time was over", _retry_after(answer.headers))
        if status in (400, 422) and self._send_dims:
            return _DimensionsRefusedError(f"{said}; check MEMORY_EMBEDDING_DIMS")
        return EmbeddingError(f"{said}; {_ADVICE.get(status, _ADVICE_OTHERWISE)}")


_ADVICE = {
    400: "check MEMORY_EMBEDDER_MODEL, and whether a text is longer than the model takes",
    401: "check MEMORY_EMBEDDER_API_KEY",
    403: "check what MEMORY_EMBEDDER_API_KEY may use",
    404: "check MEMORY_EMBEDDER_BASE_URL (it usually ends in /v1) and MEMORY_EMBEDDER_MODEL",
    413: "lower MEMORY_EMBED_BATCH_SIZE",
}
_ADVICE_OTHERWISE = "check MEMORY_EMBEDDER_BASE_URL and MEMORY_EMBEDDER_MODEL"


def open_embedder(options: EmbedderOptions) -> CheckedEmbedder:
    """Return the embedder (entry point `openai`); it connects at the first text.

    Without `dims`, the width of a model that is not OpenAI's own is asked of the endpoint once.

    Raises ConfigurationError for an address or a key that no request could carry.
    """
    return CheckedEmbedder(_OpenAI(options))


def _endpoint(base_url: str | None) -> str:
    url = (base_url or DEFAULT_URL).strip().rstrip("/")
    if not re.match(r"https?://[^/\s]+", url):
        raise ConfigurationError(
            "MEMORY_EMBEDDER_BASE_URL is no web address; give one such as http://localhost:8000/v1"
        )
    return url if url.endswith("/embeddings") else f"{url}/embeddings"


def _headers(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()
    if not key:
        return {}
    # Checked here because the HTTP library would quote the whole header in its error.
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError("MEMORY_EMBEDDER_API_KEY holds a blank or a character no header can carry")
    return {"Authorization": f"Bearer {key}"}


def _pause(state: RetryCallState) -> float:
    """Return how long to wait: what the endpoint asked for, else a growing random pause."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.after if isinstance(error, _TransientError) else None
    return _JITTER(state) if asked is None else asked


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header; its date form is rare, and the jitter serves for it."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _code(body: bytes) -> str:
    """Return the endpoint's error code in brackets, if it is a bare word that can quote nothing."""
    try:
        error = cast("object", json.loads(body)["error"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    code = cast("dict[str, object]", error).get("code") if isinstance(error, dict) else None
    return f" ({code})" if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _rows(body: bytes, count: int, name: str) -> list[list[float]]:
    """Return the vectors of an answer in the order of its `index` fields."""
    try:
        data = cast("list[dict[str, object]]", json.loads(body)["data"])
        ordered = {cast("int", one.get("index", at)): one["embedding"] for at, one in enumerate(data)}
        if len(data) == count:
            return [cast("list[float]", ordered[at]) for at in range(count)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise EmbeddingError(
            f"the embedder {name!r} did not answer as an embeddings endpoint does; check "
            f"MEMORY_EMBEDDER_BASE_URL"
        ) from error
    raise EmbeddingError(f"the embedder {name!r} answered {len(data)} where {count} vectors were due")
