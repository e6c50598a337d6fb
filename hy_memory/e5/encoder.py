"""Every token's vector, where an embedder gives one for the whole text.

The forward pass of a BERT encoder in plain numpy: with the weights unpacked once (85 MB) its products run
on whatever numpy multiplies with, at 0.6 to 0.8 ms a token on one core, which is no slower than the engine
that reads the packed weights. Texts of a batch lie end to end, so that nothing is padded; only attention
looks at each text by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hy_memory.e5.frame import centre
from hy_memory.e5.pieces import Pieces
from hy_memory.e5.weights import Floats, Weights, unpacked

QUERY = "query: "
PASSAGE = "passage: "
Inside = TypeVar("Inside", Sequence[int], Floats)
_ROWS = 256  # tokens whose wide states (6 KB each) stay in the processor's cache


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer: matrices (inputs, outputs) with their biases, and the scale and shift of two norms."""

    attend: tuple[Floats, Floats]
    gather: tuple[Floats, Floats]
    attended: tuple[Floats, Floats]
    widen: tuple[Floats, Floats]
    narrow: tuple[Floats, Floats]
    done: tuple[Floats, Floats]


class TokenEncoder:
    """The model in its two forms, for questions and for texts to be found. Threads share it."""

    def __init__(self, weights: Weights) -> None:
        self._shape = weights.shape
        self._pieces = Pieces(weights.vocabulary)
        self._forms = [len(self._pieces.ids(form.strip())) for form in (PASSAGE, QUERY)]
        self._words = weights.packed("emb.word", weights.shape.width)
        self._places = weights.plain("emb.pos").reshape(-1, weights.shape.width)
        self._kind = weights.plain("emb.type")[: weights.shape.width]
        self._first = weights.plain("emb.ln.w"), weights.plain("emb.ln.b")
        self._layers = [_layer(weights, at) for at in range(weights.shape.layers)]

    @property
    def longest(self) -> int:
        """The most tokens of a text that the model can read."""
        return self._shape.longest

    def read(self, text: str, *, is_query: bool, most: int) -> list[int]:
        """Return the token ids of a text in its form, at most `most` (and `longest`), marks included."""
        return self._pieces.read((QUERY if is_query else PASSAGE) + text, min(most, self.longest))

    def tokens(self, read: Sequence[Sequence[int]], *, is_query: bool) -> list[Floats]:
        """Return for each text its tokens' vectors, float32 (tokens, width) of unit length, centred.

        The marks and the word that tells the form are left out, unless there is nothing else.
        """
        inside = [self._inside(rows, is_query=is_query) for rows in self.states(read)]
        return [centre(rows, is_query=is_query) for rows in map(_unit, inside)]

    def rarity(self, read: Sequence[int], *, is_query: bool) -> Floats:
        """Return -log p, 3 to 20, of each piece of one text whose vector `tokens` gives, (tokens,)."""
        return self._pieces.rarity(self._inside(read, is_query=is_query))

    def _inside(self, rows: Inside, *, is_query: bool) -> Inside:
        """Return what belongs to the text itself: without the marks, and the word that tells the form."""
        outside = 1 + self._forms[is_query]
        return rows[outside:-1] if len(rows) > outside + 1 else rows[:1]

    def states(self, read: Sequence[Sequence[int]]) -> list[Floats]:
        """Return for each text the model's last states, float32 (tokens, width), of all its tokens."""
        ends = np.cumsum([0, *map(len, read)])
        ids = np.fromiter((one for text in read for one in text), dtype=np.int64, count=int(ends[-1]))
        places = np.concatenate([np.arange(len(text)) for text in read])
        states = unpacked(self._words[ids]) + self._places[places] + self._kind
        states = self._normed(states, self._first)
        for layer in self._layers:
            gathered = self._attended(_product(states, layer.attend), ends)
            states = self._normed(states + _product(gathered, layer.gather), layer.attended)
            states = self._normed(states + _thought(states, layer), layer.done)
        return [states[begin:end] for begin, end in pairwise(ends.tolist())]

    def _normed(self, rows: Floats, norm: tuple[Floats, Floats]) -> Floats:
        scale, shift = norm
        rows -= rows.mean(axis=1, keepdims=True)
        spread = np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + np.float32(self._shape.epsilon)
        rows *= (1 / np.sqrt(spread))[:, None]
        rows *= scale
        rows += shift
        return rows

    def _attended(self, rows: Floats, ends: npt.NDArray[np.int64]) -> Floats:
        """Return (tokens, width): what each token gathers from those of its own text, all heads."""
        heads, width = self._shape.heads, self._shape.width
        gathered = np.empty((len(rows), width), dtype=np.float32)
        for begin, end in pairwise(ends.tolist()):
            asked, keys, values = (
                rows[begin:end].reshape(end - begin, 3, heads, width // heads).transpose(1, 2, 0, 3)
            )
            share = asked @ keys.transpose(0, 2, 1)
            share *= np.float32((width // heads) ** -0.5)
            share -= share.max(axis=2, keepdims=True)
            np.exp(share, out=share)
            share /= share.sum(axis=2, keepdims=True)
            gathered[begin:end] = (share @ values).transpose(1, 0, 2).reshape(end - begin, width)
        return gathered


def gelu(rows: Floats) -> Floats:
    """Return x Φ(x), Φ the normal distribution's, to 2e-7 (Abramowitz & Stegun, 7.1.26)."""
    size = np.abs(rows)
    size *= np.float32(0.5**0.5)
    step = 1 / (1 + np.float32(0.3275911) * size)
    tail = np.full_like(step, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail *= step
        tail += np.float32(factor)
    tail *= step
    size *= size
    tail *= np.exp(-size)
    error = np.copysign(1 - tail, rows)
    error += 1
    error *= rows
    error *= np.float32(0.5)
    return error


def _thought(states: Floats, layer: _Layer) -> Floats:
    """Return what the middle of a layer makes of `states`; four times as wide, and so in parts."""
    made = np.empty_like(states)
    for start in range(0, len(states), _ROWS):
        rows = slice(start, start + _ROWS)
        made[rows] = _product(gelu(_product(states[rows], layer.widen)), layer.narrow)
    return made


def _product(rows: Floats, part: tuple[Floats, Floats]) -> Floats:
    matrix, bias = part
    made = rows @ matrix
    made += bias
    return made


def _unit(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _layer(weights: Weights, number: int) -> _Layer:
    width, inner = weights.shape.width, weights.shape.inner

    def matrix(name: str, inputs: int) -> tuple[Floats, Floats]:
        rows = unpacked(weights.packed(f"l{number}.{name}.w", inputs))
        return np.ascontiguousarray(rows.T), weights.plain(f"l{number}.{name}.b")

    def norm(name: str) -> tuple[Floats, Floats]:
        return weights.plain(f"l{number}.{name}.w"), weights.plain(f"l{number}.{name}.b")

    asked, keys, values = (matrix(name, width) for name in ("q", "k", "v"))
    attend = np.concatenate([asked[0], keys[0], values[0]], axis=1)
    bias = np.concatenate([asked[1], keys[1], values[1]])
    return _Layer(
        attend=(attend, bias),
        gather=matrix("ao", width),
        attended=norm("aln"),
        widen=matrix("fi", width),
        narrow=matrix("fo", inner),
        done=norm("oln"),
    )
