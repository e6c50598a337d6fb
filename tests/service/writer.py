"""A process that writes until it is killed, and tells on stdout what was acknowledged.

It is started once (imports take longer than a life) and forks a life for each line on stdin; a life
opens the store, acknowledges each write on a line of its own, and ends by SIGKILL alone.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from hy_memory import HyMemoryClient
from hy_memory.plugins import BACKENDS, load
from tests.support.stores import config_for, quick_folder

USERS = ("ann", "ben")


def config(backend: str, folder: Path) -> dict[str, object]:
    """Return the settings of writer and reader: the built-in embedder, at a size that keeps lives short."""
    return config_for(backend, folder, embedder={"provider": "hashed", "embedding_dims": 64})


def live(backend: str, folder: Path, seed: int) -> None:
    """Write for ever; every line says what a caller has been promised."""
    chance = random.Random(seed)
    with HyMemoryClient(config(backend, folder)) as client:
        known: dict[str, str] = {}
        number = 0
        while True:
            number += 1
            name = f"life{seed}x{number}"
            act(client, chance.random(), name, known, chance)


def act(client: HyMemoryClient, dice: float, name: str, known: dict[str, str], chance: random.Random) -> None:
    """Do one thing; `known` are the memories of this life, with their texts."""
    user_id = chance.choice(USERS)
    if dice < 0.35 or not known:
        _told(
            client.add(f"note {name} alone", user_id=user_id)["memory_ids"],
            [f"note {name} alone"],
            user_id,
            known,
        )
    elif dice < 0.5:
        texts = [f"note {name} turn{at}" for at in range(3)]
        messages = [{"role": "user", "content": one} for one in texts]
        _told(client.add(messages, user_id=user_id)["memory_ids"], texts, user_id, known)
    elif dice < 0.65:
        texts = [f"note {name} fact{at}" for at in range(8)]
        _told(client.add_extracted(texts, user_id=user_id)["memory_ids"], texts, user_id, known)
    else:
        memory_id = chance.choice(sorted(known))
        say({"trying": memory_id})
        if dice < 0.85:
            known[memory_id] = f"note {name} changed"
            client.update(memory_id, known[memory_id])
            say({"id": memory_id, "text": known[memory_id]})
        else:
            del known[memory_id]
            client.delete(memory_id)
            say({"id": memory_id, "text": None})


def _told(made: list[str], texts: list[str], user_id: str, known: dict[str, str]) -> None:
    known.update(zip(made, texts, strict=True))
    for memory_id, text in zip(made, texts, strict=True):
        say({"id": memory_id, "text": text, "user": user_id})


def say(told: dict[str, Any]) -> None:
    """Write a line that survives this process."""
    os.write(1, (json.dumps(told) + "\n").encode())


def main() -> None:
    """Fork a life for each line `backend folder seed`; tell its process id and when it has begun."""
    with quick_folder() as other, HyMemoryClient(config("faiss", other)) as client:
        client.add("everything is loaded after this", user_id="u")
    for line in sys.stdin:
        backend, folder, seed = line.split("\t")
        load(BACKENDS[backend])
        child = os.fork()
        if child == 0:
            live(backend, Path(folder), int(seed))
        say({"pid": child, "at": time.time()})
        os.waitpid(child, 0)
        say({"ended": child})


if __name__ == "__main__":
    main()
