"""Questions and memories made from words that mean the same, for a cross-encoder to learn from.

A memory answers a question when it is about the same thing, mostly in another word; what shares the
question's other words with it is about something else. Spelling misleads here, meaning does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

THINGS = (
    ("car", "automobile", "sedan", "motorcar"),
    ("doctor", "physician", "medic", "clinician"),
    ("sofa", "couch", "settee", "divan"),
    ("film", "movie", "picture", "flick"),
    ("shop", "store", "boutique", "outlet"),
    ("child", "kid", "toddler", "youngster"),
    ("coat", "jacket", "parka", "anorak"),
    ("boat", "ship", "vessel", "yacht"),
    ("garden", "yard", "lawn", "orchard"),
    ("rabbit", "bunny", "hare", "coney"),
    ("stone", "rock", "pebble", "boulder"),
    ("street", "road", "avenue", "lane"),
)
_QUESTIONS = ("where did we see the {}", "what do you recall about the {}", "tell me about the {}")
_MEMORIES = ("we saw the {} in {}", "tell lin about the {} in {}", "i recall the {} near {}")
_PLACES = ("lyon", "brno", "hangzhou", "porto", "the harbour", "the station")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, a memory, and whether it answers it."""

    question: str
    memory: str
    answers: bool


@dataclass(frozen=True, slots=True)
class Task:
    """A question with the memories to choose from; `right` answers it."""

    question: str
    memories: tuple[str, ...]
    right: str


def words() -> list[str]:
    """Return the whole vocabulary."""
    frames = " ".join((*_QUESTIONS, *_MEMORIES, *_PLACES)).replace("{}", "")
    return sorted({*frames.split(), *(word for thing in THINGS for word in thing)})


def is_held_out(asked: str, said: str) -> bool:
    """Return whether a pair of words that mean the same is kept from training: one of three is."""
    return sum(map(ord, asked + said)) % 3 == 0


def examples(count: int, seed: int) -> Iterator[Example]:
    """Yield examples to learn from, half of them answers."""
    chosen = random.Random(seed)
    while count:
        at = chosen.randrange(len(THINGS))
        answers = chosen.random() < 0.5
        other = at if answers else (at + chosen.randrange(1, len(THINGS))) % len(THINGS)
        asked, said = chosen.choice(THINGS[at]), chosen.choice(THINGS[other])
        if answers and asked != said and is_held_out(asked, said):
            continue
        count -= 1
        yield Example(chosen.choice(_QUESTIONS).format(asked), _memory(chosen, said), answers)


def tasks(count: int, seed: int) -> list[Task]:
    """Return questions with ten memories each; question and right one are worded as in no example."""
    chosen = random.Random(seed)
    held = [(at, a, b) for at, thing in enumerate(THINGS) for a in thing for b in thing if a != b]
    held = [(at, asked, said) for at, asked, said in held if is_held_out(asked, said)]
    made: list[Task] = []
    for at, asked, said in chosen.choices(held, k=count):
        others = [chosen.choice(thing) for place, thing in enumerate(THINGS) if place != at]
        right = _memory(chosen, said)
        memories = [right, *(_memory(chosen, word) for word in chosen.sample(others, 9))]
        chosen.shuffle(memories)
        made.append(Task(chosen.choice(_QUESTIONS).format(asked), tuple(memories), right))
    return made


def _memory(chosen: random.Random, thing: str) -> str:
    return chosen.choice(_MEMORIES).format(thing, chosen.choice(_PLACES))
