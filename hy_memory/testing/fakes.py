"""The smallest real parts to test with: points held in memory, embedders whose vectors are chosen."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from hy_memory.errors import EmbeddingError
from hy_memory.values.point import Changes, FloatArray, Payload, Point, TermVector
from hy_memory.values.record import Layer


def unit(vector: Sequence[float] | npt.NDArray[np.floating]) -> FloatArray:
    """Return `vector` as float32 of length 1."""
    row = np.asarray(vector, dtype=np.float32)
    return row / np.float32(np.linalg.norm(row))


def term_vector(weights: Mapping[int, float]) -> TermVector:
    """Return the term vector that gives each term id its weight."""
    ids = sorted(weights)
    return TermVector(
        np.array(ids, dtype=np.uint32), np.array([weights[one] for one in ids], dtype=np.float32)
    )


def payload_for(user_id: str) -> Payload:
    """Return an ordinary payload of `user_id`; use `dataclasses.replace` to change a field."""
    return Payload(
        user_id=user_id,
        agent_id="default_agent",
        session_id="default_session",
        source="default",
        layer=Layer.L2_FACT,
        event_at=1_700_000_000.0,
        created_at=1_700_000_000.0,
    )


def make_point(
    point_id: str,
    payload: Payload,
    vector: Sequence[float] | npt.NDArray[np.floating],
    terms: Mapping[int, float] | None = None,
) -> Point:
    """Return a point with `vector` brought to unit length and `terms` as term id to weight."""
    return Point(point_id, unit(vector), term_vector(terms or {}), payload)


class ListSource:
    """A `PointSource` over points held in memory; what `put` and `remove` did is seen at once."""

    def __init__(self, points: Iterable[Point] = ()) -> None:
        self._lock = threading.Lock()
        self._seq = 0
        self._points: dict[str, Point] = {}
        self._log: dict[str, list[tuple[int, str]]] = {}
        self.put(tuple(points))

    def put(self, points: Sequence[Point]) -> None:
        """Store `points`, replacing those with the same ids."""
        with self._lock:
            for point in points:
                self._forget(point.id)
                self._points[point.id] = point
                self._note(point.payload.user_id, point.id)

    def remove(self, ids: Sequence[str]) -> None:
        """Forget `ids`; unknown ones are no error."""
        with self._lock:
            for point_id in ids:
                self._forget(point_id)

    def freshness(self) -> int:
        """Return the number of the last change."""
        return self._seq

    def points(self, user_id: str) -> Changes:
        """Return every point of `user_id`."""
        with self._lock:
            mine = tuple(one for one in self._points.values() if one.payload.user_id == user_id)
            return Changes(self._seq, mine, ())

    def batches(self, user_id: str) -> Iterator[Changes]:
        """Yield every point of `user_id`, in one part."""
        yield self.points(user_id)

    def changes(self, user_id: str, after: int) -> Changes:
        """Return what became of the points of `user_id` that changed after `after`."""
        with self._lock:
            log = self._log.get(user_id, [])
            first = bisect_right(log, after, key=itemgetter(0))
            changed = dict.fromkeys(point_id for _, point_id in log[first:])
            upserted: list[Point] = []
            removed: list[str] = []
            for point_id in changed:
                point = self._points.get(point_id)
                if point is not None and point.payload.user_id == user_id:
                    upserted.append(point)
                else:
                    removed.append(point_id)
            return Changes(self._seq, tuple(upserted), tuple(removed))

    def _forget(self, point_id: str) -> None:
        old = self._points.pop(point_id, None)
        if old is not None:
            self._note(old.payload.user_id, point_id)

    def _note(self, user_id: str, point_id: str) -> None:
        self._seq += 1
        self._log.setdefault(user_id, []).append((self._seq, point_id))


class ChosenEmbedding:
    """An embedding service (`embed_batch`, `get_embedding_dims`) whose vectors the test chooses.

    A text that was not chosen gets `default`, or, without one, is refused with an EmbeddingError.
    `calls` counts the texts embedded; `fail_next` makes that many of the next calls fail.
    """

    name = "chosen"

    def __init__(
        self, vectors: Mapping[str, Sequence[float]], default: Sequence[float] | None = None
    ) -> None:
        self._vectors = dict(vectors)
        self._default = default
        first = default if default is not None else next(iter(self._vectors.values()))
        self._dims = len(first)
        self.calls = 0
        self.fail_next = 0

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the chosen vector of each text, as it was given (not normalised)."""
        if self.fail_next > 0:
            self.fail_next -= 1
            raise EmbeddingError("this embedder was told to fail")
        self.calls += len(texts)
        return [list(self._vector(text)) for text in texts]

    def get_embedding_dims(self) -> int:
        """Return the length of the vectors."""
        return self._dims

    def _vector(self, text: str) -> Sequence[float]:
        found = self._vectors.get(text, self._default)
        if found is None:
            raise EmbeddingError(f"no vector was chosen for {text!r}")
        return found


def uninformed_embedding(dims: int = 8) -> ChosenEmbedding:
    """Return an embedding service that gives every text the same vector: only keywords differ."""
    return ChosenEmbedding({}, default=[1.0] + [0.0] * (dims - 1))
