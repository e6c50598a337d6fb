"""Small cross-encoders of the Hugging Face layout, made here: a random one, and one that has learned."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch as _torch
import transformers as _transformers

from tests.rerank.corpus import Example, examples, words

# foreign objects without usable types
torch, transformers = cast("Any", _torch), cast("Any", _transformers)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_tokenizer(folder: Path, vocabulary: Sequence[str]) -> Any:
    """Write a word tokenizer to `folder` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join((*SPECIAL, *vocabulary)), "utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    return tokenizer


def save_random(folder: Path, kind: str = "BertForSequenceClassification", **config: object) -> Path:
    """Save a random BERT of two layers, with a head as `kind` says."""
    vocabulary = words()
    save_tokenizer(folder, vocabulary)
    torch.manual_seed(3)
    # a wide start: outputs of a random model hardly differ otherwise
    model = getattr(transformers, kind)(_config(len(vocabulary), **{"initializer_range": 0.5, **config}))
    model.save_pretrained(folder)
    return folder


def save_trained(folder: Path) -> Path:
    """Save a BERT of two layers that has learned the corpus, in about fifteen seconds of CPU."""
    vocabulary = words()
    tokenizer = save_tokenizer(folder, vocabulary)
    torch.manual_seed(3)
    # dropout would only slow down what cannot be learned by heart: there are far more pairs than weights see
    plain = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.1}
    model = transformers.BertForSequenceClassification(_config(len(vocabulary), **plain))
    with one_thread():
        _train(model, tokenizer, list(examples(6000, seed=1)))
    model.save_pretrained(folder)
    return folder


@contextmanager
def one_thread() -> Generator[None]:
    """Keep torch to one thread for each forward pass: matrices this small are slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _config(vocabulary: int, **more: object) -> Any:
    usual = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "max_position_embeddings": 40,
        "num_labels": 1,
    }
    return transformers.BertConfig(vocab_size=vocabulary + len(SPECIAL), **{**usual, **more})


def _train(
    model: Any, tokenizer: Any, pairs: Sequence[Example], steps: int = 700, rate: float = 3e-3
) -> None:
    inputs = tokenizer(
        [one.question for one in pairs], [one.memory for one in pairs], padding=True, return_tensors="pt"
    )
    wanted = torch.tensor([float(one.answers) for one in pairs])
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    loss, generator = torch.nn.BCEWithLogitsLoss(), torch.Generator().manual_seed(0)
    model.train()
    for _ in range(steps):
        chosen = torch.randint(0, len(pairs), (64,), generator=generator)
        logits = model(**{name: value[chosen] for name, value in inputs.items()}).logits[:, 0]
        optimizer.zero_grad()
        loss(logits, wanted[chosen]).backward()
        optimizer.step()
        schedule.step()
