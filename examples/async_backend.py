"""Many users at once in an event loop: every verb has an `async_` twin that never blocks it.

python examples/async_backend.py
"""

from __future__ import annotations

import asyncio
import tempfile

from hy_memory import HyMemoryClient

CITIES = {"maya": "Lyon", "lin": "Hangzhou", "tomas": "Brno"}


async def main() -> None:
    """Store and search for all users at the same time, and print what each one's search found."""
    with tempfile.TemporaryDirectory() as folder:
        async with HyMemoryClient({"data_dir": folder}) as memory:
            await asyncio.gather(
                *(memory.async_add(f"I live in {city}.", user_id=user) for user, city in CITIES.items())
            )
            answers = await asyncio.gather(
                *(memory.async_search("live in", user_ids=[user], reader="hybrid") for user in CITIES)
            )
    for user, answer in zip(CITIES, answers, strict=True):
        print(f"{user:6} {[item['content'] for item in answer['memories']['normal']]}")


if __name__ == "__main__":
    asyncio.run(main())
