"""A real git repository in a folder, with an identity and a clock of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Git:
    """Runs git in `folder`. Every commit is made at `at` (epoch seconds), which tests move on, or do not."""

    folder: Path
    at: int = 1_700_000_000

    @classmethod
    def make(cls, folder: Path) -> Git:
        """Return a new repository whose first branch is `main`."""
        folder.mkdir(parents=True, exist_ok=True)
        made = cls(folder)
        made("init", "-q", "-b", "main")
        return made

    def __call__(self, *arguments: str) -> str:
        """Return what git says."""
        date = f"{self.at} +0000"
        own = {
            **{f"GIT_{who}_NAME": "Ann" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ann@example.org" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": date for who in ("AUTHOR", "COMMITTER")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        command = ["git", "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env={**os.environ, **own}, capture_output=True, check=True
        )
        return done.stdout.decode()

    def commit(self, message: str, files: Mapping[str, str | None] | None = None) -> str:
        """Write files (None removes one), commit everything, and return the commit's id."""
        for name, content in (files or {}).items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return self("rev-parse", "HEAD").strip()
