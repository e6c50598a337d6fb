"""What a repository's commits say of code: the same as git itself, version by version and byte for byte."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hy_memory.chain.git_history import Repositories
from hy_memory.chain.threads import Thread, folded
from hy_memory.errors import RepositoryError
from hy_memory.values.code import Ground
from tests.support.repository import Git
from tests.support.stores import quick_folder

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
HERE = Ground("u", "w", "main")
CODE = "def f():\n    return {}\n"


def threads(
    git: Git, path: str, branch: str = "main", until: float | None = None
) -> dict[tuple[str, str], Thread]:
    edits = Repositories(git.folder).edits(replace(HERE, branch=branch), path, until)
    return {one.place: one for one in folded(edits)}


def afters(thread: Thread) -> list[str | None]:
    return [one.after for one in thread.versions]


def words(thread: Thread) -> list[str]:
    return [one.words for one in thread.versions]


# generated histories


@dataclass
class Function:
    """A function through all its names, values and files; `versions` are (commit, code, what made it)."""

    number: int
    name: str
    path: str
    value: int = 0
    versions: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, "str | None"]])

    @property
    def code(self) -> str:
        """Its code: much of it is its own, whatever it is called and returns."""
        own = "".join(f"    step_{self.number}_{at} = load_{self.number * 7 + at}()\n" for at in range(6))
        return f"def {self.name}(x):\n{own}    return {self.value}\n"


@dataclass
class Model:
    """What one branch holds: functions by number, and each file's own first line."""

    functions: dict[int, Function] = field(default_factory=dict[int, Function])
    files: dict[str, str] = field(default_factory=dict[str, str])

    def copy(self) -> Model:
        functions = {key: replace(one, versions=list(one.versions)) for key, one in self.functions.items()}
        return Model(functions, dict(self.files))

    def text(self, path: str) -> str:
        mine = sorted((one.number, one.code) for one in self.functions.values() if one.path == path)
        return self.files[path] + "".join(f"\n\n{code}" for _, code in mine)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["set", "set", "set", "revert", "add", "rename", "call", "move", "branch", "back"]),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(["go on", "go on", "undo that", "再来一次"]),
    ),
    min_size=1,
    max_size=9,
)


class History:
    """Makes steps in a repository and in the model of each branch, side by side."""

    def __init__(self, git: Git) -> None:
        self.git, self.branch, self.made = git, "main", 0
        self.models = {"main": Model()}
        self.add("a0.py")
        self.add("a0.py")
        self.commit("start")

    @property
    def now(self) -> Model:
        return self.models[self.branch]

    def add(self, path: str) -> None:
        self.now.files.setdefault(path, f'NAME = "{path} {self.made}"\n')
        self.now.functions[self.made] = Function(self.made, f"f{self.made}", path)
        self.made += 1

    def commit(self, message: str) -> None:
        files: dict[str, str | None] = {path: self.now.text(path) for path in self.now.files}
        old = self.git("ls-files").split("\n")
        files |= {path: None for path in old if path and path not in self.now.files}
        sha = self.git.commit(message, files)
        for one in self.now.functions.values():
            moved = one.versions and one.versions[-1] == ("moved", one.code)
            if moved or not one.versions or one.versions[-1][1] != one.code:
                if moved:
                    one.versions.pop()
                one.versions.append((sha, one.code))

    def step(self, kind: str, which: int, value: int, message: str) -> None:
        model = self.now
        one = list(model.functions.values())[which % len(model.functions)]
        if kind == "set":
            one.value = value
        elif kind == "revert":
            old = [code for _, code in one.versions if code and code.startswith(f"def {one.name}(")]
            one.value = int(old[value % len(old)].rsplit(" ", 1)[1])
        elif kind == "add":
            self.add(one.path if value % 2 else f"a{self.made}.py")
        elif kind == "rename":
            self.made += 1
            new, old_path = f"r{self.made}.py", one.path
            model.files[new] = model.files.pop(old_path)
            for other in model.functions.values():
                other.path = new if other.path == old_path else other.path
        elif kind == "call":
            self.made += 1
            one.name = f"g{self.made}"
        elif kind == "move":
            target = list(model.files)[value % len(model.files)]
            if target != one.path:
                one.path = target
                one.versions.append(("moved", one.code))
        self.commit(message)

    def branched(self, kind: str, value: int) -> bool:
        """Go to another branch, a new one or not, where that is the step; return whether it was."""
        if kind == "branch" and len(self.models) < 3:
            self.branch, model = f"b{len(self.models)}", self.now.copy()
            self.models[self.branch] = model
            self.git("checkout", "-q", "-b", self.branch)
        elif kind == "back":
            self.branch = list(self.models)[value % len(self.models)]
            self.git("checkout", "-q", self.branch)
        return kind in ("branch", "back")


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_the_chain_is_what_git_says(steps: list[tuple[str, int, int, str]]) -> None:
    with quick_folder() as folder:
        git = Git.make(folder / "repo")
        history = History(git)
        for step in steps:
            if not history.branched(step[0], step[2]):
                history.step(*step)
        for branch, model in history.models.items():
            log = git("log", "--first-parent", "--reverse", "--format=%H", branch).split()
            for path in model.files:
                assert git("show", f"{branch}:{path}") == model.text(path)
                found = threads(git, path, branch)
                for one in (one for one in model.functions.values() if one.path == path):
                    thread = found[path, one.name]
                    told = [(version.edit[0], version.after) for version in thread.versions]
                    assert told == one.versions, (branch, path, one.name)
                    assert thread.current == one.code
                    assert [sha for sha in log if sha in {sha for sha, _ in told}] == [sha for sha, _ in told]
                    for version, back in zip(thread.versions, thread.returns, strict=True):
                        if back is not None:
                            assert version.after == (thread.versions[back].after if back >= 0 else None)
                    subjects = git("log", "--first-parent", "--reverse", "--format=%s", branch).split("\n")
                    assert words(thread) == [subjects[log.index(sha)] for sha, _ in told]


# single cases


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git.make(tmp_path / "repo")


def test_a_file_without_a_grammar_is_as_git_log_has_it(git: Git) -> None:
    texts = ["a\n", "a\nb\n", "a\n", "é\r\nb", ""]
    for at, text in enumerate(texts):
        git.commit(str(at), {"notes.lua": text})
    (thread,) = threads(git, "notes.lua").values()
    assert afters(thread) == texts
    assert thread.returns == (None, None, 0, None, None)
    log = git("log", "--follow", "--reverse", "--format=%H", "--", "notes.lua").split()
    assert [one.edit[0] for one in thread.versions] == log


def test_a_merge_counts_as_what_it_changed_here(git: Git) -> None:
    git.commit("one", {"a.py": CODE.format(1), "b.py": "x = 1\n"})
    git("checkout", "-q", "-b", "side")
    git.commit("two", {"a.py": CODE.format(2)})
    git.commit("three", {"a.py": CODE.format(3)})
    git("checkout", "-q", "main")
    git.commit("beside", {"b.py": "x = 2\n"})
    git("merge", "-q", "--no-ff", "-m", "merged", "side")
    assert words(threads(git, "a.py")["a.py", "f"]) == ["one", "merged"]
    assert words(threads(git, "a.py", "side")["a.py", "f"]) == ["one", "two", "three"]
    assert threads(git, "a.py", "nowhere") == {}


def test_a_deleted_file_may_come_back(git: Git) -> None:
    git.commit("one", {"a.py": CODE.format(1)})
    git.commit("away", {"a.py": None})
    git.commit("back", {"a.py": CODE.format(1)})
    thread = threads(git, "a.py")["a.py", "f"]
    assert afters(thread) == [CODE.format(1), None, CODE.format(1)]
    assert thread.returns == (None, None, 0)


def test_a_name_given_to_another_file_is_another_history(git: Git) -> None:
    git.commit("one", {"a.py": CODE.format(1)})
    git("mv", "a.py", "b.py")
    git.commit("renamed")
    git.commit("new", {"a.py": CODE.format(9)})
    git.commit("copied", {"c.py": CODE.format(9)})
    assert words(threads(git, "a.py")["a.py", "f"]) == ["new"]
    assert words(threads(git, "b.py")["b.py", "f"]) == ["one"]
    assert words(threads(git, "c.py")["c.py", "f"]) == ["copied"]


def test_a_file_is_followed_from_a_name_that_it_had(git: Git) -> None:
    """Whoever knows only an old name finds the code where it is now, through any number of renames."""
    git.commit("one", {"a.py": CODE.format(1)})
    git.commit("two", {"a.py": CODE.format(2)})
    for old, new in (("a.py", "b.py"), ("b.py", "lib/c.py")):
        (git.folder / new).parent.mkdir(exist_ok=True)
        git("mv", old, new)
        git.commit("renamed")
    git.commit("three", {"lib/c.py": CODE.format(3)})
    for name in ("a.py", "b.py", "lib/c.py"):
        thread = threads(git, name)["lib/c.py", "f"]
        assert words(thread) == ["one", "two", "three"]
        assert thread.current == CODE.format(3)
    git("mv", "lib/c.py", "a.py")
    git.commit("home again")
    assert words(threads(git, "b.py")["a.py", "f"]) == ["one", "two", "three"]


def test_only_what_was_committed_by_a_moment(git: Git) -> None:
    start = git.at
    for at in range(3):
        git.at = start + at
        git.commit(str(at), {"a.py": CODE.format(at)})
    assert words(threads(git, "a.py", until=start + 1)["a.py", "f"]) == ["0", "1"]


def test_odd_names_and_files(git: Git) -> None:
    names = ["*.py", "a b.py", "日本.py", '"q".py', "-x.py", "dir/:(top)y.py"]
    git.commit("odd", {name: CODE.format(at) for at, name in enumerate(names)} | {"big.bin": "\0x"})
    for at, name in enumerate(names):
        found = threads(git, name)
        if name.startswith("-"):
            assert found == {}
        else:
            assert found[name, "f"].current == CODE.format(at)
    assert threads(git, "big.bin") == {}


@pytest.mark.parametrize("path", ["../secret.py", "/etc/passwd", "a/../../x", "", "--output=x", "a\0b"])
def test_no_path_leads_out_of_the_repository(git: Git, path: str) -> None:
    git.commit("one", {"a.py": "x = 1\n"})
    assert threads(git, path) == {}


@pytest.mark.parametrize(
    "branch", ["--all", "main..side", "main:a.py", "HEAD^", "a b", "\x01", "refs/heads/main", "@{-1}"]
)
def test_what_is_no_branch_has_no_history(git: Git, branch: str) -> None:
    git.commit("one", {"a.py": "x = 1\n"})
    assert threads(git, "a.py", branch) == {}


def test_each_workspace_has_its_own_repository(tmp_path: Path) -> None:
    """A folder of repositories is looked up by workspace; a single one serves all but what is another's."""
    for name in ("a/b", "a-b"):
        Git.make(tmp_path / name).commit(name, {"x.py": "x = 1\n"})
    both = Repositories(tmp_path)
    for name in ("a/b", "a-b"):
        assert [one.words for one in both.edits(Ground("u", name), "x.py")] == [name]
    for other in ("a", "a/b/", "a/b/..", "c", "", ".."):
        told = [one.words for one in both.edits(Ground("u", other), "x.py")]
        assert told == (["a/b"] if other == "a/b/" else [])
    single = Repositories(tmp_path / "a-b")
    assert single.edits(Ground("u", "github.com/example/service"), "x.py")
    Git(tmp_path / "a-b")("remote", "add", "origin", "git@github.com:example/service.git")
    assert single.edits(Ground("u", "github.com/example/service"), "x.py")
    assert single.edits(Ground("u", "any-name"), "x.py")
    assert single.edits(Ground("u", "github.com/example/service2"), "x.py") == ()


def test_what_cannot_be_read_says_so(tmp_path: Path, git: Git) -> None:
    with pytest.raises(RepositoryError, match="MEMORY_CODING_CHAIN_REPO_ROOT"):
        Repositories(tmp_path / "nowhere").edits(HERE, "a.py")
    assert Repositories(tmp_path).edits(HERE, "a.py") == ()
    assert Repositories(git.folder).edits(HERE, "a.py") == ()  # a repository without a commit
    (git.folder / ".git" / "HEAD").unlink()
    with pytest.raises(RepositoryError, match="git cannot read"):
        Repositories(git.folder).edits(HERE, "a.py")
