"""The wall and the cache around embedders: nothing bad passes, nothing is embedded twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hy_memory.embedding.cached import CachedEmbedder
from hy_memory.embedding.checked import CheckedEmbedder
from hy_memory.embedding.lazy import Lazy
from hy_memory.embedding.options import EmbedderOptions
from hy_memory.errors import ConfigurationError, EmbeddingError
from hy_memory.ranking.calibration import IDENTITY

SECRET = "my bank PIN is 4711"


class Provider:
    """A provider whose next answers are chosen; otherwise a vector that depends on the text."""

    name = "stub"
    fingerprint = "7"
    dims = 4
    calibration = IDENTITY

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.calls = 0
        self.answers: list[Callable[[Sequence[str]], npt.ArrayLike]] = []
        self.closed = 0

    def embed_documents(self, texts: Sequence[str]) -> npt.ArrayLike:
        self.calls += 1
        self.seen.extend(texts)
        if self.answers:
            return self.answers.pop(0)(texts)
        return [[len(text) + 1.0, 2.0, float(ord(text[0]) if text else 0), -1.0] for text in texts]

    def embed_query(self, text: str) -> npt.ArrayLike:
        return np.asarray(self.embed_documents([text]))[0]

    def close(self) -> None:
        self.closed += 1


def fail(error: Exception) -> Callable[[Sequence[str]], npt.ArrayLike]:
    def raise_it(texts: Sequence[str]) -> npt.ArrayLike:
        raise error

    return raise_it


def table(rows: object) -> Callable[[Sequence[str]], npt.ArrayLike]:
    return lambda texts: rows  # type: ignore[return-value]


GOOD = [1.0, 0.0, 0.0, 0.0]
NONSENSE = [
    ([GOOD], "answered 1 where 2 vectors"),
    ([GOOD, GOOD, GOOD], "answered 3 where 2 vectors"),
    ([GOOD, [0.0] * 4], "all zeros for text 1 of 2"),
    ([[float("nan"), 1, 1, 1], GOOD], "NaN or infinite for text 0 of 2"),
    ([GOOD, [float("inf"), 1, 1, 1]], "NaN or infinite for text 1 of 2"),
    ([[1.0, 2.0, 3.0]] * 2, "MEMORY_EMBEDDING_DIMS=3"),
    ([GOOD, [1.0, 2.0]], "no table of numbers"),
    ([GOOD, None], "no table of numbers"),
    ("garbage", "no table of numbers"),
    (None, "stub"),
    (GOOD, "array of shape"),
]


@pytest.mark.parametrize(("rows", "words"), NONSENSE)
def test_nonsense_is_refused_by_provider_and_position_without_the_text(rows: object, words: str) -> None:
    """C61: a failed embedding is an error, never a vector."""
    provider = Provider()
    provider.answers = [table(rows)]
    with pytest.raises(EmbeddingError, match=r"stub") as caught:
        CheckedEmbedder(provider).embed_documents([SECRET, "x"])
    assert words in str(caught.value)
    assert "4711" not in str(caught.value)


def test_a_provider_s_exception_becomes_ours_and_keeps_its_cause() -> None:
    provider = Provider()
    provider.answers = [fail(RuntimeError(f"cannot embed {SECRET}"))]
    with pytest.raises(EmbeddingError) as caught:
        CheckedEmbedder(provider).embed_query(SECRET)
    assert "RuntimeError" in str(caught.value)
    assert "4711" not in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_our_own_errors_pass_unchanged() -> None:
    provider = Provider()
    provider.answers = [fail(ConfigurationError("no such model"))]
    with pytest.raises(ConfigurationError, match="no such model"):
        CheckedEmbedder(provider).embed_query("x")


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=4, max_size=4).filter(
            lambda row: max(map(abs, row)) > 1e-9
        ),
        min_size=1,
        max_size=5,
    )
)
def test_every_row_leaves_with_unit_length_whatever_its_scale(rows: list[list[float]]) -> None:
    provider = Provider()
    provider.answers = [table(rows)]
    vectors = CheckedEmbedder(provider).embed_documents(["x"] * len(rows))
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(rows), 4)
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1.0, atol=1e-6)


def test_a_table_of_one_row_answers_a_question() -> None:
    provider = Provider()
    provider.embed_query = lambda text: [[3.0, 4.0, 0.0, 0.0]]
    np.testing.assert_allclose(CheckedEmbedder(provider).embed_query("q"), [0.6, 0.8, 0, 0], atol=1e-6)


def test_no_texts_need_no_call() -> None:
    provider = Provider()
    assert CheckedEmbedder(provider).embed_documents([]).shape == (0, 4)
    assert provider.calls == 0


def test_a_provider_never_meets_nul_or_a_lone_surrogate() -> None:
    """C33: what a C string or UTF-8 cannot hold is replaced, pairs are joined."""
    provider = Provider()
    CheckedEmbedder(provider).embed_documents(["a\0b", "cut \ud83d", "\ud83d\ude00"])
    assert provider.seen == ["a\ufffdb", "cut \ufffd", "\U0001f600"]


def test_a_failure_is_never_cached() -> None:
    """C61: zeros once, then recovery: the retry succeeds and the cache is clean."""
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider))
    provider.answers = [table([[0.0] * 4]), fail(OSError("down")), table([[0.0] * 4])]
    with pytest.raises(EmbeddingError, match="all zeros"):
        cached.embed_documents(["tea"])
    with pytest.raises(EmbeddingError, match="OSError"):
        cached.embed_documents(["tea"])
    with pytest.raises(EmbeddingError, match="all zeros"):
        cached.embed_query("tea")
    assert np.linalg.norm(cached.embed_documents(["tea"])) == pytest.approx(1.0)
    assert np.linalg.norm(cached.embed_query("tea")) == pytest.approx(1.0)


def test_only_what_is_missing_is_embedded_once_and_in_batches() -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider), batch_size=2)
    first = cached.embed_documents(["a", "b", "a", "c", "a"])
    assert provider.seen == ["a", "b", "c"]
    assert provider.calls == 2
    np.testing.assert_array_equal(first[0], first[2])
    again = cached.embed_documents(["c", "d", "a"])
    assert provider.seen == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(again[0], first[3])
    np.testing.assert_array_equal(again[2], first[0])


def test_batches_that_succeeded_are_kept_when_a_later_one_fails() -> None:
    """C50: what was paid for is not lost."""
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider), batch_size=2)
    provider.answers = [table([GOOD, GOOD]), fail(OSError("down"))]
    with pytest.raises(EmbeddingError):
        cached.embed_documents(["a", "b", "c"])
    provider.seen.clear()
    cached.embed_documents(["a", "b", "c"])
    assert provider.seen == ["c"]


def test_a_question_and_a_document_of_one_text_are_two_entries() -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider))
    cached.embed_query("a")
    cached.embed_documents(["a"])
    cached.embed_query("a")
    cached.embed_documents(["a"])
    assert provider.calls == 2


def test_the_least_recently_used_leaves_first_and_the_size_is_bounded() -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider), capacity=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed_query(text)
    assert provider.seen == ["a", "b", "c", "b"]


def test_a_capacity_of_zero_keeps_nothing() -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider), capacity=0)
    cached.embed_query("a")
    cached.embed_query("a")
    assert provider.calls == 2


@given(st.text(min_size=300, max_size=400), st.text(min_size=300, max_size=400))
def test_long_texts_are_told_apart(left: str, right: str) -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider))
    cached.embed_query(left)
    cached.embed_query(right)
    assert provider.calls == len({left, right})


def test_a_cached_vector_cannot_be_changed_by_its_caller() -> None:
    cached = CachedEmbedder(CheckedEmbedder(Provider()))
    with pytest.raises(ValueError, match="read-only"):
        cached.embed_query("a")[0] = 5.0
    rows = cached.embed_documents(["a"])
    rows[0] = 5.0
    assert cached.embed_documents(["a"])[0, 0] != 5.0


def test_threads_share_a_cache() -> None:
    """C51: many threads, one cache, right vectors."""
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider), capacity=8)
    expected = {str(n): cached.embed_query(str(n)).copy() for n in range(20)}
    wrong: list[str] = []

    def ask(seed: int) -> None:
        for step in range(200):
            text = str((seed * 7 + step) % 20)
            if not np.array_equal(cached.embed_query(text), expected[text]):
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_wrapper_shows_the_identity_of_what_it_wraps_and_closes_it() -> None:
    provider = Provider()
    cached = CachedEmbedder(CheckedEmbedder(provider))
    assert (cached.name, cached.fingerprint, cached.dims, cached.calibration) == ("stub", "7", 4, IDENTITY)
    cached.close()
    assert provider.closed == 1


def test_a_lazy_value_is_loaded_once_by_many_threads() -> None:
    loads: list[int] = []

    def load() -> int:
        time.sleep(0.02)
        loads.append(1)
        return 5

    lazy = Lazy(load)
    threads = [threading.Thread(target=lazy.get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (lazy.get(), loads) == (5, [1])


def test_a_load_that_failed_is_tried_again() -> None:
    answers: list[object] = [OSError("disk"), 3]

    def load() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    lazy = Lazy(load)
    with pytest.raises(OSError, match="disk"):
        lazy.get()
    assert lazy.get() == 3


def test_options_never_show_the_key() -> None:
    assert "sk-secret" not in repr(EmbedderOptions(api_key="sk-secret"))
