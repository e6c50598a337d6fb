"""Pairs of question and text as token ids, and batches of them with little padding.

A fast tokenizer of Hugging Face keeps its truncation and padding as state that every call may change,
and two threads that do so at once fail. Here truncation is set once and padding is done outside, so
that threads only ever read the tokenizer and no lock is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pair:
    """The tokens of a question with a text, special ones included, and which of the two each is of."""

    ids: Sequence[int]
    segments: Sequence[int]


class PairTokenizer:
    """Reads pairs with a tokenizer of transformers (`Any`: a foreign object without usable types)."""

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._tokenizer = tokenizer
        self._max_length = max_length
        self._padding = tokenizer.pad_token_id or 0  # the mask hides it, so that any valid id will do
        self._inputs = frozenset(tokenizer.model_input_names)
        self._fast = tokenizer.backend_tokenizer if tokenizer.is_fast else None
        if self._fast is not None:
            self._fast.no_padding()
            self._fast.enable_truncation(max_length)  # of the longer one of a pair
            self._fast.encode_special_tokens = True  # "[SEP]" in a memory is text

    def read(self, query: str, text: str) -> Pair:
        """Return the pair, cut to the longest length."""
        if self._fast is not None:
            read = self._fast.encode(query, text)
            return Pair(read.ids, read.type_ids)
        # tokenizers written in Python keep no such state: every call says what it wants
        read = self._tokenizer(
            query,
            text,
            truncation=True,
            max_length=self._max_length,
            split_special_tokens=True,
            return_token_type_ids=True,
        )
        return Pair(read["input_ids"], read["token_type_ids"])

    def table(self, pairs: Sequence[Pair]) -> dict[str, Ids]:
        """Return the model's inputs, each (n, longest of `pairs`), short rows filled at their end."""
        width = max(len(pair.ids) for pair in pairs)
        filled = np.full((3, len(pairs), width), 0, dtype=np.int64)
        filled[0] = self._padding
        for row, pair in enumerate(pairs):
            length = len(pair.ids)
            filled[0, row, :length] = pair.ids
            filled[1, row, :length] = 1
            filled[2, row, :length] = pair.segments
        named = {"input_ids": filled[0], "attention_mask": filled[1], "token_type_ids": filled[2]}
        return {name: value for name, value in named.items() if name in self._inputs}


def by_length(pairs: Sequence[Pair], batch_size: int) -> Iterator[list[int]]:
    """Yield positions in batches of like lengths: padding costs as much as words do."""
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
