"""An agent that codes, and remembers how the code got to where it is.

python examples/coding_agent.py

A scripted agent edits a file in a git repository, session by session, as a real one would with its tools;
nothing leaves this machine. Asked in the end which version was kept, it finds what was done and why.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hy_memory import HyMemoryClient

WORKSPACE = "github.com/example/service"
FILE = "src/search.py"
START = """\
def search(rows, query):
    return [row for row in rows if query in row]
"""
SESSIONS: Sequence[tuple[str, str, str, str]] = (  # what the user asks, what is replaced by what, the answer
    (
        "Search is slow on large tables. Make it faster.",
        "[row for row in rows if query in row]",
        "INDEX.find(query)",
        "Search uses the index now.",
    ),
    (
        "Capital letters should not matter.",
        "INDEX.find(query)",
        "INDEX.find(query.casefold())",
        "Search folds the case of the query.",
    ),
    (
        "That broke exact matches of codes. Take it back.",
        "INDEX.find(query.casefold())",
        "INDEX.find(query)",
        "The case of the query counts again.",
    ),
)


class Agent:
    """Works in a repository: what it does with its tools is what its messages say."""

    def __init__(self, repository: Path, memory: HyMemoryClient) -> None:
        self.repository = repository
        self.memory = memory

    def work(self, number: int, ask: str, old: str, new: str, answer: str) -> None:
        """Edit the file as asked, commit that, and store the session."""
        path = self.repository / FILE
        path.write_text(path.read_text().replace(old, new))
        self.git("commit", "--quiet", "--all", "--message", answer)
        arguments = json.dumps({"path": FILE, "old": old, "new": new})
        call = {"id": f"call_{number}", "function": {"name": "str_replace", "arguments": arguments}}
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": ask},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "ok"},
            {"role": "assistant", "content": answer},
        ]
        self.memory.add(
            messages,
            user_id="maya",
            scene="coding",
            workspace_id=WORKSPACE,
            branch="main",
            session_id=f"session-{number}",
        )

    def git(self, *arguments: str) -> None:
        """Run git in the repository."""
        identity = ("-c", "user.name=Agent", "-c", "user.email=agent@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=self.repository, check=True)


def main() -> None:
    """Let the agent work for three sessions, then ask what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "service"
        (repository / "src").mkdir(parents=True)
        (repository / FILE).write_text(START)
        settings = {
            "data_dir": str(Path(folder) / "memory"),
            "coding": {"chain_block_enabled": True, "chain_repo_root": str(repository)},
        }
        with HyMemoryClient(settings) as memory:
            agent = Agent(repository, memory)
            agent.git("init", "--quiet", "--initial-branch", "main")
            agent.git("add", "--all")
            agent.git("commit", "--quiet", "--message", "The first search")
            for number, session in enumerate(SESSIONS, start=1):
                agent.work(number, *session)
            found: Any = memory.search(
                "which version of search did we keep?",
                user_ids=["maya"],
                scene="coding",
                workspace_id=WORKSPACE,
                branch="main",
                reader="hybrid",
                working_fact_min_score=0.0,
            )
        print(found["chain_block"])
        beside = [fact for at, fact in enumerate(found["facts"]) if at not in found["chain_used"]]
        print(f"\n{len(found['facts'])} facts, {len(beside)} of which the block does not show")
        code = (repository / FILE).read_text()
        print(
            "The code on disk is the code of the block:",
            all(line in found["chain_block"] for line in code.split("\n")),
        )


if __name__ == "__main__":
    main()
