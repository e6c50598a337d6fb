"""The caller's own embedder (`embedding_service=`), seen through the port."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import cast

import numpy.typing as npt

from hy_memory.embedding.checked import CheckedEmbedder, translated
from hy_memory.errors import InvalidArgumentError
from hy_memory.ports import EmbeddingService
from hy_memory.ranking.calibration import IDENTITY, Calibration

_ARGUMENT = "embedding_service"
_REQUIRED = ("embed_batch", "get_embedding_dims")
_QUERY_FORMS = ("embed_query", "embed")


def adapt_service(service: object) -> CheckedEmbedder:
    """Return the embedder that `service` is.

    `name` defaults to its class' qualified name, `fingerprint` to "", `calibration` to the identity.
    Questions go to `embed_query`, else `embed`, else `embed_batch`.

    Raises InvalidArgumentError where a method is missing or asynchronous, or the width is not
    positive; EmbeddingError where the service fails to tell its width.
    """
    for method in _REQUIRED:
        _check_method(service, method)
    calibration = getattr(service, "calibration", IDENTITY)
    if not isinstance(calibration, Calibration):
        raise InvalidArgumentError(
            f"{_ARGUMENT}.calibration", type(calibration).__name__, "give a Calibration, or leave it out"
        )
    return CheckedEmbedder(_Service(cast("EmbeddingService", service), calibration))


class _Service:
    """A service as a raw embedder; its width is asked once."""

    def __init__(self, service: EmbeddingService, calibration: Calibration) -> None:
        self._service = service
        self.name = _text(service, "name") or f"{type(service).__module__}.{type(service).__qualname__}"
        self.fingerprint = _text(service, "fingerprint")
        self.calibration = calibration
        self.dims = _width(service, self.name)
        self._embed_one = _query_form(service)

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return the service's answer to a batch."""
        return self._service.embed_batch(list(texts))

    def embed_query(self, text: str) -> npt.ArrayLike:
        """Return the service's answer to a question."""
        return self._service.embed_batch([text]) if self._embed_one is None else self._embed_one(text)

    def close(self) -> None:
        """Do nothing: who made the service closes it."""


def _check_method(service: object, method: str) -> None:
    found = getattr(service, method, None)
    if not callable(found):
        raise InvalidArgumentError(
            _ARGUMENT,
            type(service).__name__,
            f"an embedding service needs {method}(); it is any object with embed_batch(texts) and "
            f"get_embedding_dims()",
        )
    if inspect.iscoroutinefunction(found):
        raise InvalidArgumentError(
            _ARGUMENT, type(service).__name__, f"{method}() is asynchronous; give a synchronous one"
        )


def _query_form(service: EmbeddingService) -> Callable[[str], npt.ArrayLike] | None:
    for method in _QUERY_FORMS:
        if callable(getattr(service, method, None)):
            _check_method(service, method)
            return cast("Callable[[str], npt.ArrayLike]", getattr(service, method))
    return None


def _width(service: EmbeddingService, name: str) -> int:
    with translated(name):
        dims = cast("object", service.get_embedding_dims())
    if isinstance(dims, bool) or not isinstance(dims, int) or dims < 1:
        raise InvalidArgumentError(
            f"{_ARGUMENT}.get_embedding_dims()", dims, "must return the length of a vector, 1 or more"
        )
    return dims


def _text(service: object, attribute: str) -> str:
    """Return an optional text attribute; some services make it a method."""
    value = getattr(service, attribute, "")
    if callable(value):
        value = value()
    return value if isinstance(value, str) else ""
