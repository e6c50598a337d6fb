"""The cross-encoder itself: its scores, its batches, its length, eight bits, threads' shared tokenizer."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra 'rerank')")
pytest.importorskip("transformers", reason="transformers is not installed (extra 'rerank')")

from hy_memory.errors import RerankError
from hy_memory.ports import Reranker
from hy_memory.reranking.cross_encoder import open_reranker
from hy_memory.reranking.options import RerankerOptions
from tests.rerank.corpus import words
from tests.rerank.models import save_random, save_tokenizer, torch, transformers

QUESTION = "where did we see the car"
TEXTS = [
    "we saw the automobile in lyon",
    "sofa",
    "tell lin about the doctor in the harbour",
    "",
    "i recall the boat near the station " * 3,
    "the car the car",
    "a word that nobody taught it",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random(tmp_path_factory.mktemp("model") / "random")


def opened(model: Path, **options: Any) -> Reranker:
    return open_reranker(RerankerOptions(str(model), **options))


def reference(model: Path, query: str, text: str) -> Any:
    """Return the logits as transformers' own calls give them, for one pair alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    classifier = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    inputs = tokenizer(query, text, truncation=True, max_length=40, return_tensors="pt")
    with torch.no_grad():
        return classifier(**inputs).logits[0].double().numpy()


def test_a_single_logit_becomes_a_probability_by_sigmoid(model: Path) -> None:
    """C26: with a good model the scores are not all equal."""
    texts = [text for text in TEXTS if text]  # transformers takes "" for no second text at all
    scores = opened(model).scores(QUESTION, texts)
    expected = [1 / (1 + np.exp(-reference(model, QUESTION, text)[0])) for text in texts]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert scores.dtype == np.float64
    assert scores.shape == (len(texts),)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.ptp(scores) > 0.05


@pytest.mark.parametrize(
    ("names", "label"),
    [
        ({0: "LABEL_0", 1: "LABEL_1"}, 1),
        ({0: "relevant", 1: "not relevant"}, 0),
        ({0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}, 1),
        ({0: "negative", 1: "neutral", 2: "Positive"}, 2),
        ({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, 2),
    ],
)
def test_several_labels_use_the_relevance_label(names: dict[int, str], label: int, tmp_path: Path) -> None:
    model = save_random(
        tmp_path / "several", num_labels=len(names), id2label=names, label2id={v: k for k, v in names.items()}
    )
    logits = reference(model, QUESTION, TEXTS[0])
    expected = np.exp(logits[label]) / np.exp(logits).sum()
    assert opened(model).scores(QUESTION, TEXTS[:1])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("int8", [False, True])
def test_a_score_depends_on_its_pair_alone(model: Path, int8: bool) -> None:
    """Batches, padding, order and neighbours change nothing; equal texts have equal scores."""
    alone = opened(model, int8=int8, batch_size=1)
    expected = np.array([alone.scores(QUESTION, [text])[0] for text in TEXTS])
    for batch_size in (1, 2, 3, 16):
        reranker = opened(model, int8=int8, batch_size=batch_size)
        np.testing.assert_allclose(reranker.scores(QUESTION, TEXTS), expected, atol=1e-5)
        np.testing.assert_allclose(reranker.scores(QUESTION, TEXTS[::-1]), expected[::-1], atol=1e-5)
        twice = reranker.scores(QUESTION, TEXTS * 2)
        assert twice[: len(TEXTS)].tolist() == twice[len(TEXTS) :].tolist()
    assert alone.scores(QUESTION, []).shape == (0,)


def test_eight_bits_say_nearly_the_same(tmp_path: Path) -> None:
    model = save_random(tmp_path / "calm", initializer_range=0.1)
    many = [" ".join(one) for one in itertools.islice(itertools.permutations(words(), 3), 0, 20_000, 200)]
    exact = opened(model).scores(QUESTION, many)
    rounded = opened(model, int8=True).scores(QUESTION, many)
    assert not np.array_equal(exact, rounded)
    assert np.corrcoef(exact, rounded)[0, 1] > 0.95


def test_a_pair_is_cut_to_the_longest_length(model: Path) -> None:
    short = opened(model, max_length=16)
    start = "the automobile in lyon the harbour the station the boat near"
    first, second = short.scores(QUESTION, [f"{start} car", f"{start} sofa"])
    assert first == pytest.approx(second, abs=1e-6)
    first, second = opened(model).scores(QUESTION, [f"{start} car", f"{start} sofa"])
    assert abs(first - second) > 1e-4, "within 40 tokens, the positions of this model, both are read"
    both_long = opened(model).scores("car " * 1000, ["sofa " * 1000, "boat"])
    assert np.isfinite(both_long).all(), "a setting of 512 cannot ask for more than the model has"


def test_a_special_token_in_a_text_is_text(model: Path) -> None:
    """A memory cannot end its own pair and speak as the model's question."""
    plain, posing = opened(model).scores(
        QUESTION, ["sofa", "sofa [SEP] [CLS] where did we see the car [SEP]"]
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    assert tokenizer("[SEP]")["input_ids"] == [2, 3, 3], "transformers alone would take it for one"
    logits = reference(model, QUESTION, "sofa [SEP] [CLS] where did we see the car [SEP]")
    assert posing != pytest.approx(1 / (1 + np.exp(-logits[0])), abs=1e-4)
    assert 0 <= plain <= 1


@pytest.mark.parametrize("text", ["\ud83d cut", "nul \0 byte", "\u202e right to left", "备份数据", "👨‍👩‍👧"])
def test_any_text_can_be_judged(model: Path, text: str) -> None:
    """C33."""
    assert np.isfinite(opened(model).scores(text, [text, "car"])).all()


def test_a_tokenizer_written_in_python_reads_the_same(model: Path, tmp_path: Path) -> None:
    """Not every model has a fast tokenizer; the other kind has no state to be shared."""
    from hy_memory.reranking.pairs import PairTokenizer

    slow = transformers.BertJapaneseTokenizer
    save_tokenizer(tmp_path, words())
    python = PairTokenizer(slow(str(tmp_path / "vocab.txt"), word_tokenizer_type="basic"), 30)
    fast = PairTokenizer(transformers.AutoTokenizer.from_pretrained(model), 30)
    for text in filter(None, TEXTS):
        one, other = python.read(QUESTION, text), fast.read(QUESTION, text)
        assert (list(one.ids), list(one.segments)) == (list(other.ids), list(other.segments))
    assert len(python.read(QUESTION, "car " * 100).ids) == len(fast.read(QUESTION, "car " * 100).ids) == 30


def test_threads_share_model_and_tokenizer(model: Path) -> None:
    """C51: no lock, and no thread sees another's pairs."""
    reranker = opened(model, batch_size=2)
    questions = [f"{word} {QUESTION}" for word in words()[:12]]
    expected = {question: reranker.scores(question, TEXTS) for question in questions}

    def ask(at: int) -> bool:
        question = questions[at % len(questions)]
        return np.allclose(reranker.scores(question, TEXTS), expected[question], atol=1e-6)

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(ask, range(120)))


def test_a_forward_that_fails_names_the_model_and_no_text(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = opened(model)

    def broken(*arguments: object, **more: object) -> None:
        raise RuntimeError("the secret words")

    monkeypatch.setattr(cast("Any", reranker)._model, "forward", broken)
    with pytest.raises(RerankError) as raised:
        reranker.scores(QUESTION, TEXTS)
    assert "secret" not in str(raised.value)
    assert str(model) in str(raised.value)


def test_time_that_is_over_starts_no_further_batch(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = opened(model, batch_size=1, timeout=0.05)
    scored = cast("Any", reranker)
    slow, batches = scored._forward, list[int]()

    def forward(pairs: Any) -> Any:
        import time

        time.sleep(0.03)
        batches.append(len(pairs))
        return slow(pairs)

    monkeypatch.setattr(scored, "_forward", forward)
    with pytest.raises(RerankError, match=r"longer than 0\.05 s"):
        reranker.scores(QUESTION, TEXTS)
    assert 0 < len(batches) < len(TEXTS)


def test_batches_hold_like_lengths(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = opened(model, batch_size=2)
    scored = cast("Any", reranker)
    shapes, forward = list[tuple[int, int]](), scored._model.forward

    def spied(**inputs: Any) -> Any:
        shapes.append(tuple(inputs["input_ids"].shape))
        return forward(**inputs)

    monkeypatch.setattr(scored._model, "forward", spied)
    reranker.scores(QUESTION, TEXTS)
    assert [rows for rows, _ in shapes] == [2, 2, 2, 1]
    widths = [width for _, width in shapes]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] <= 40


@pytest.mark.parametrize("int8", [False, True])
def test_the_default_model_s_architecture(int8: bool, tmp_path: Path) -> None:
    """XLM-RoBERTa numbers positions from the padding id on and has no segments: 40 of 42 are usable."""
    tokenizer = save_tokenizer(tmp_path, words())
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer, **named)
    fast.save_pretrained(tmp_path)
    config = transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=42,
        num_labels=1,
    )
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(tmp_path)
    scores = opened(tmp_path, int8=int8).scores(QUESTION, ["sofa " * 100, "sofa " * 32, "car"])
    assert scores[0] == pytest.approx(scores[1], abs=1e-6), "6 words, 31 more and three marks fill 40"
    assert np.ptp(scores) > 0
