"""Sessions and commits of the same code: one history, with the user's words and the commits' ids."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory import HyMemoryClient
from tests.support.clocks import Hand
from tests.support.coding import CODE, ask, call, found, shown, store
from tests.support.repository import Git
from tests.support.stores import open_client, quick_folder

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
PATH = "src/rank.py"


def opened(folder: Path, **more: Any) -> HyMemoryClient:
    section = {
        "chain_block_enabled": True,
        "chain_max_tokens": 50_000,
        "chain_repo_root": str(folder / "repo"),
    }
    return open_client("faiss", folder / "store", config={"coding": section, **more})


def versions(block: str) -> list[tuple[int, str, bool]]:
    """Return the versions that a block shows, newest first: number, words, whether a commit is named."""
    found = re.findall(r"^(\d+)\. [\d-]+ (?:“(.*?)”|\(no words\))(.*)$", block, re.MULTILINE)
    return [(int(number), words, "commit" in rest) for number, words, rest in found]


STEPS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=7)


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_each_change_is_one_version(steps: list[tuple[bool, bool, bool]]) -> None:
    """Whether it was committed, told by a session, or both; whether that wrote all of the file or lines."""
    with quick_folder() as folder:
        git = Git.make(folder / "repo")
        git.commit("start", {PATH: CODE.format(0)})
        value, expected = 0, [("start", True)]
        hand = Hand(git.at + 10.0)
        with hand.opening(), opened(folder) as client:
            for at, (commits, tells, is_whole) in enumerate(steps):
                new = at + 1  # never the same change twice: which of two was committed nobody could tell
                if not (commits or tells):
                    continue
                hand.at += 10
                git.at = int(hand.at) - 5
                (folder / "repo" / PATH).write_text(CODE.format(new))
                words = f"words {at}" if tells else f"commit {at}"
                expected.append((words, commits))
                if commits:
                    git.commit(f"commit {at}")
                if tells:
                    edit = (
                        call("write", path=PATH, content=CODE.format(new))
                        if is_whole
                        else call(
                            "edit",
                            path=str(folder / "repo" / PATH),
                            old=f"return {value}",
                            new=f"return {new}",
                        )
                    )
                    store(client, ask(words), *edit, session_id=str(at))
                value = new
            if not any(words.startswith("words") for words, _ in expected):
                return
            block = shown(client)
        assert f"| def rank(rows):\n    |     return {value}\n" in block
        told = [(words, commit) for _, words, commit in reversed(versions(block))]
        assert told == expected


@pytest.fixture
def git(folder: Path) -> Git:
    return Git.make(folder / "repo")


def test_branches_of_a_repository_never_mix(folder: Path, git: Git) -> None:
    git.commit("start", {PATH: CODE.format(0)})
    git("checkout", "-q", "-b", "side")
    git.commit("on the side", {PATH: CODE.format(1)})
    with opened(folder) as client:
        for branch in ("main", "side", "nowhere"):
            edit = call("edit", path=PATH, old="return 0", new="return 5")
            store(client, ask(f"asked on {branch}"), *edit, branch=branch)
        assert "on the side" not in shown(client, workspace_id="github.com/example/service", branch="main")
        assert "on the side" in shown(client, workspace_id="github.com/example/service", branch="side")
        assert (
            "commit"
            not in shown(client, workspace_id="github.com/example/service", branch="nowhere").split("data;")[
                1
            ]
        )


def test_commits_show_under_no_source_filter_but_one_that_names_git(folder: Path, git: Git) -> None:
    git.commit("start", {PATH: CODE.format(0)})
    with opened(folder) as client:
        store(client, ask("words"), *call("edit", path=PATH, old="return 0", new="return 1"), source="ide")
        assert "“start”" in shown(client)
        filters: list[dict[str, Any]] = [{"include_sources": ["ide"]}, {"exclude_sources": ["cli"]}]
        for sources in filters:
            block = shown(client, **sources)
            assert "“words”" in block
            assert "“start”" not in block
        assert "“start”" in shown(client, include_sources=["ide", "git"])


def test_as_of_leaves_later_commits_out(folder: Path, git: Git) -> None:
    git.commit("start", {PATH: CODE.format(0)})
    with opened(folder) as client:
        store(client, ask("words"), *call("edit", path=PATH, old="return 0", new="return 1"))
        now = client._open().clock.now()  # pyright: ignore[reportPrivateUsage]
        git.at = int(now) + 1000
        git.commit("later", {PATH: CODE.format(2)})
        assert "“later”" not in shown(client, as_of=now)
        assert "“later”" in shown(client)


def test_a_file_that_was_only_read_shows_its_commits(folder: Path, git: Git) -> None:
    git.commit("start", {PATH: CODE.format(0)})
    with opened(folder) as client:
        store(client, ask("look at it"), *call("read", path=PATH))
        answer = found(client)
        assert "return 0" in answer["chain_block"]
        assert answer["chain_used"] == []


def test_a_repository_that_cannot_be_read_leaves_the_sessions(folder: Path) -> None:
    with opened(folder) as client:
        store(client, ask("words"), *call("edit", path=PATH, old="return 0", new="return 1"))
        answer = found(client)
    assert "“words”" in answer["chain_block"]
    (part,) = answer["degraded"]
    assert part["part"] == "chain"
    assert "MEMORY_CODING_CHAIN_REPO_ROOT" in part["error"]
