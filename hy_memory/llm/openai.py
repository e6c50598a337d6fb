"""Any service that speaks OpenAI's chat completions, through the `openai` package.

Neither the key nor anything that was sent or answered enters a message: services quote both.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import TypeVar, cast

import httpx
import openai
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel, ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from hy_memory.errors import ConfigurationError, LLMAnswerError, LLMError, LLMRefusedError
from hy_memory.llm.options import LLMOptions
from hy_memory.llm.port import ChatModel, Prompt, Reply
from hy_memory.values.usage import Usage

S = TypeVar("S", bound=BaseModel)

_JITTER = wait_random_exponential(multiplier=0.25, max=8)  # seconds; spreads clients that failed together
_TRANSIENT = (408, 409, 425, 429)
"""Statuses besides 5xx that the same request may not meet again."""
_WEB_ADDRESS = re.compile(r"https?://[\w.\[\]:-]+(/[!-~]*)?", re.ASCII)
_LEAST = 0.001  # seconds of a request; 0 would mean none at all
_LONGEST_ANSWER = 8 << 20  # bytes
_FAULTS = 5  # of one answer that are told to the model; more would be the same one again and again
_REPAIR = (
    "That is not the JSON object that was asked for:\n{faults}\n"
    "Answer again, with the corrected JSON object and nothing else."
)
_ADVICE = {
    401: "check MEMORY_LLM_API_KEY",
    403: "check what MEMORY_LLM_API_KEY may use",
    404: "check MEMORY_LLM_BASE_URL (it usually ends in /v1) and MEMORY_LLM_MODEL",
}
_ADVICE_OTHERWISE = "check MEMORY_LLM_MODEL, and whether the service takes messages of this size"


class _OpenAI:
    """One model of one service."""

    def __init__(self, options: LLMOptions) -> None:
        self.name = f"openai:{options.model}"
        self._model = options.model
        self._timeout = options.timeout
        # retried here, with the time that is left; a service without a key takes any
        self._client = openai.OpenAI(
            api_key=_key(options.api_key), base_url=_address(options.base_url), max_retries=0
        )

    def ask(self, prompt: Prompt, shape: type[S]) -> Reply[S]:
        """See `ChatModel`."""
        ends = time.monotonic() + self._timeout
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": prompt.instructions},
            {"role": "user", "content": prompt.material},
        ]
        text, usage = self._complete(messages, ends)
        try:
            return Reply(shape.model_validate_json(_json_of(text)), usage)
        except ValidationError as error:
            faults = _faults(error)
        told = _REPAIR.format(faults=faults)
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": told})
        text, more = self._complete(messages, ends)
        try:
            return Reply(shape.model_validate_json(_json_of(text)), usage.plus(more))
        except ValidationError as error:
            raise LLMAnswerError(
                f"the language model {self.name!r} twice gave no JSON of the shape asked for; try another "
                f"MEMORY_LLM_MODEL, or later"
            ) from error

    def close(self) -> None:
        """See `ChatModel`."""
        self._client.close()

    def _complete(self, messages: list[ChatCompletionMessageParam], ends: float) -> tuple[str, Usage]:
        """Return the text of an answer, asked for again until time is over."""

        def is_over(state: RetryCallState) -> bool:
            return time.monotonic() + state.upcoming_sleep >= ends

        attempts = Retrying(retry=retry_if_exception(_is_transient), wait=_pause, stop=is_over, reraise=True)
        calls = 0

        def once() -> bytes:
            nonlocal calls
            calls += 1
            return self._post(messages, ends)

        try:
            text, *counted = _read(attempts(once))
        except (openai.OpenAIError, httpx.HTTPError) as error:
            raise self._explained(error) from error
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise LLMAnswerError(
                f"the language model {self.name!r} did not answer as a chat service does; check "
                f"MEMORY_LLM_BASE_URL"
            ) from error
        return text, Usage(calls, *counted)

    def _post(self, messages: list[ChatCompletionMessageParam], ends: float) -> bytes:
        left = max(_LEAST, ends - time.monotonic())
        body = bytearray()
        with self._client.chat.completions.with_streaming_response.create(
            model=self._model, messages=messages, temperature=0, timeout=left
        ) as response:
            for piece in response.iter_bytes():
                body += piece
                # each read is bounded, not their sum: a dripping answer would never end
                if time.monotonic() > ends or len(body) > _LONGEST_ANSWER:
                    raise LLMError(f"the language model {self.name!r} answered too slowly or too much")
        return bytes(body)

    def _explained(self, error: Exception) -> LLMError:
        """Return what went wrong in our own words."""
        said = f"the language model {self.name!r}"
        if isinstance(error, openai.APITimeoutError | httpx.TimeoutException):
            return LLMError(f"{said} gave no answer in time; see MEMORY_LLM_TIMEOUT")
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            if _is_transient(error):
                return LLMError(f"{said} was refused with HTTP {status} until its time was over")
            return LLMRefusedError(
                f"{said} was refused with HTTP {status}; {_ADVICE.get(status, _ADVICE_OTHERWISE)}"
            )
        return LLMError(f"{said} cannot be reached; check MEMORY_LLM_BASE_URL")


def open_chat_model(options: LLMOptions) -> ChatModel:
    """Return the model of an OpenAI-compatible service; it connects at the first question.

    Raises ConfigurationError for an address or a key that no request could carry.
    """
    return _OpenAI(options)


def _address(base_url: str | None) -> str | None:
    if base_url is not None and not re.fullmatch(
        r"https?://[\w.\[\]:-]+(/[!-~]*)?", base_url.strip(), re.ASCII
    ):
        raise ConfigurationError(
            "MEMORY_LLM_BASE_URL is no web address; give one such as http://localhost:8000/v1"
        )
    return base_url and base_url.strip()


def _key(api_key: str | None) -> str:
    key = (api_key or "").strip()
    # checked here because the HTTP library would quote the whole header in its error
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError("MEMORY_LLM_API_KEY holds a blank or a character no header can carry")
    return key or "none"


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _TRANSIENT or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError | httpx.TransportError)


def _pause(state: RetryCallState) -> float:
    """Return how long to wait: what the service asked for, else a growing random pause."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, openai.APIStatusError):
        try:
            asked = float(error.response.headers.get("retry-after", ""))
        except ValueError:  # absent, or a date, which is rare
            return _JITTER(state)
        if 0 <= asked < float("inf"):
            return asked
    return _JITTER(state)


def _read(body: bytes) -> tuple[str, int, int]:
    """Return an answer's text and its tokens: of the prompt, and of itself."""
    whole = cast("dict[str, object]", json.loads(body))
    choices = cast("list[dict[str, dict[str, object]]]", whole["choices"])
    text, spent = choices[0]["message"]["content"], whole.get("usage")
    counted = cast("Mapping[str, object]", spent) if isinstance(spent, dict) else {}
    tokens = [counted.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (one if isinstance(one, int) else 0 for one in tokens)
    return text if isinstance(text, str) else "", prompt, completion


def _json_of(text: str) -> str:
    """Return the JSON object in an answer: models like to put a fence, or a word, around it."""
    begin, end = text.find("{"), text.rfind("}")
    return text[begin : end + 1] if 0 <= begin < end else text


def _faults(error: ValidationError) -> str:
    """Return what is wrong with an answer, a line each."""
    lines = [
        f"- {'.'.join(str(part) for part in one['loc']) or 'the whole'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)[:_FAULTS]
    ]
    return "\n".join(lines)
