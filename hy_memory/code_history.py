"""What the history of code is read from, put together from the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from hy_memory.deadline import Workers
from hy_memory.edit_source import Commits, EditSource
from hy_memory.plugins import REPOSITORIES, load
from hy_memory.settings.root import CodingSection
from hy_memory.work.search import ChainPorts


def open_history(section: CodingSection, source: EditSource, workers: Workers | None) -> ChainPorts:
    """Return what the history is read from, within the deadline of searches where they have one.

    A repository that is set is not looked at yet: it may come later, and what is wrong with it is told then.
    """
    root = section.chain_repo_root
    folder = "" if root is None else str(root.expanduser().resolve())
    commits = cast("Callable[[Path], Commits]", load(REPOSITORIES))(Path(folder)) if folder else None
    if workers is not None:
        source = workers.timed(source)
        commits = workers.timed(commits) if commits else None
    return ChainPorts(source, section.chain_max_tokens, commits, folder)
