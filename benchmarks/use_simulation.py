"""What learning from use gains: a simulated year of people with habits, with and without it.

    python -m benchmarks.use_simulation [--users 8] [--days 365] [--seed 7]

Each person knows several places for each thing they do, and has a habit: mostly the same place, which may
change once in the year. They ask which one it is in words that fit all of them, and then use one. The memory
that was used counts as found if it is among the first. Figures are of the second half of the year, over all
users; the texts are made of invented words, so that nothing but use tells the places apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from unittest import mock

import numpy as np

from hy_memory import HyMemoryClient, lifecycle
from hy_memory.clock import Clock
from hy_memory.runtime import open_runtime

DAY = 86_400.0
THINGS = ("coffee", "haircut", "groceries", "bicycle repair", "lunch", "dentist")
PLACES = 6
ASKED_A_DAY = 3
HABIT = 0.8
"""How often somebody goes where they mostly go."""


@dataclass
class Calendar:
    """The moment that clients go by (UTC epoch seconds)."""

    at: float = 1_700_000_000.0

    @contextmanager
    def opening(self) -> Generator[None]:
        """Make clients that are opened meanwhile go by this calendar."""
        clock = Clock(now=lambda: self.at)
        with mock.patch.object(lifecycle, "open_runtime", partial(open_runtime, clock=clock)):
            yield


def word(chance: random.Random) -> str:
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(3))


def simulate(*, learns: bool, weight: float, users: int, days: int, seed: int) -> list[int]:
    """Return the rank (from 1, 0 for not found) of what was used, for each question of the second half."""
    chance = random.Random(seed)
    calendar = Calendar()
    ranks: list[int] = []
    with tempfile.TemporaryDirectory() as folder, calendar.opening():
        config = {
            "data_dir": folder,
            "embedder": {"provider": "hashed"},
            "dynamics": {"enabled": learns, "learn_seconds": 3600.0, "salience_weight": weight},
            "ledger": {"synchronous": "NORMAL"},
        }
        with HyMemoryClient(config) as client:
            known: dict[tuple[str, str], list[str]] = {}
            for number in range(users):
                user = f"user-{number}"
                for thing in THINGS:
                    facts = [f"For {thing} I go to {word(chance)} {word(chance)}" for _ in range(PLACES)]
                    made = client.add_extracted(facts, user_id=user)
                    known[user, thing] = made["memory_ids"]
            habits = {key: chance.randrange(PLACES) for key in known}
            for day in range(days):
                calendar.at += DAY
                for key, ids in known.items():
                    if day == days // 4 and chance.random() < 0.5:
                        habits[key] = chance.randrange(PLACES)
                    if chance.random() >= ASKED_A_DAY / len(THINGS):
                        continue
                    place = habits[key] if chance.random() < HABIT else chance.randrange(PLACES)
                    answer = client.search(f"Where do I go for {key[1]}?", user_ids=[key[0]], limit=PLACES)
                    found = [one["memory_id"] for one in answer["memories"]["normal"]]
                    if day >= days // 2:
                        ranks.append(found.index(ids[place]) + 1 if ids[place] in found else 0)
                    client.reinforce([ids[place]], user_id=key[0])
    return ranks


def figures(ranks: list[int]) -> tuple[float, float, float]:
    """Return the share found first, among the first three, and the mean reciprocal rank."""
    found = np.array(ranks)
    reciprocal = np.where(found > 0, 1 / np.maximum(found, 1), 0.0)
    return float((found == 1).mean()), float(((found > 0) & (found <= 3)).mean()), float(reciprocal.mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--weights", type=float, nargs="*", default=[0.2, 0.5, 1.0, 2.0])
    options = parser.parse_args()
    print(f"{'':18}{'first':>8}{'in three':>10}{'MRR':>8}{'questions':>11}")
    for weight in (0.0, *options.weights):
        ranks = simulate(
            learns=weight > 0, weight=weight, users=options.users, days=options.days, seed=options.seed
        )
        first, three, mean = figures(ranks)
        name = f"salience × {weight:g}" if weight else "static store"
        print(f"{name:18}{first:>8.3f}{three:>10.3f}{mean:>8.3f}{len(ranks):>11}", flush=True)


if __name__ == "__main__":
    main()
