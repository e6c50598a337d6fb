"""What a git repository says of a file: its commits on one branch, oldest first, as edits of its symbols."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from hy_memory.chain.moves import with_moves
from hy_memory.chain.replay import compared
from hy_memory.errors import RepositoryError
from hy_memory.values.code import CodeEdit, Ground, Piece

_SECONDS = 20.0  # for one command of git
_COMMITS = 200  # the newest of a file's
_LARGEST = 400_000  # bytes of a file: a larger one is data, not code
_FOLLOWED = 8  # files that symbols came from or went to
_TOGETHER = 20  # files that one commit changed; in a larger one nobody can follow what moved where
_ORDERED = 50_000  # commits of a branch
_SUBJECT = 300
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NAME = re.compile(r"(?!-)[^\x00-\x20\x7f~^:?*\[\\]+")
_REMOTE = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]*@)?(?P<host>[^:/]+)(?::\d+)?[:/](?P<path>.+?)(?:\.git)?/?$")


@dataclass(frozen=True, slots=True)
class Repositories:
    """The repositories under `root`: one that is there itself, or several in folders named as workspaces."""

    root: Path

    def edits(self, ground: Ground, path: str, until: float | None = None) -> tuple[CodeEdit, ...]:
        """Return a file's commits on the branch of a ground, up to a moment (epoch seconds, inclusive).

        The branch that is checked out where none is named. Merges count as what they changed on this branch.
        Nothing for a file or a branch that the repository does not have, or a workspace that is another
        repository's. Raises RepositoryError where git cannot tell.
        """
        folder = self._folder(ground.workspace)
        if folder is None or not _is_inside(path):
            return ()
        revision = _revision(folder, ground.branch)
        if revision is None:
            return ()
        found = _followed(folder, revision, path)
        return tuple(
            CodeEdit(
                one.sha, ground, one.path, 0, one.words, one.pieces, one.at, old_path=one.old_path, seq=seq
            )
            for seq, one in found
            if until is None or one.at <= until
        )

    def _folder(self, workspace: str) -> Path | None:
        """Return the repository of a workspace, None where there is none."""
        root = self.root.expanduser().resolve()
        if not root.is_dir():
            raise RepositoryError(f"{root} is no folder; set MEMORY_CODING_CHAIN_REPO_ROOT to a repository")
        if workspace and _is_inside(workspace):
            own = (root / workspace).resolve()
            if own.is_relative_to(root) and own != root and (own / ".git").exists():
                return own
        if not (root / ".git").exists():
            return None
        origin = _origin(root)
        return None if origin and "/" in workspace and origin != workspace.lower() else root


@dataclass(frozen=True, slots=True)
class _Commit:
    """One commit of a file: the names it had afterwards and before, and what it did to each symbol."""

    sha: str
    at: float
    words: str
    path: str
    old_path: str
    pieces: tuple[Piece, ...]


def _is_inside(path: str) -> bool:
    """Return whether a path is one of a repository's own, without a way out of it."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith(("/", "-")) and ".." not in parts and "\0" not in path


def _origin(folder: Path) -> str:
    """Return what a repository's remote is called as a workspace, "" where it has none."""
    url = (
        _git(folder, "config", "--get", "remote.origin.url", allowed=(0, 1)).decode(errors="replace").strip()
    )
    found = _REMOTE.match(url)
    return f"{found['host']}/{found['path']}".lower() if found else ""


def _revision(folder: Path, branch: str) -> str | None:
    """Return the commit that a branch is at, None where there is no such branch."""
    if branch and not _NAME.fullmatch(branch):
        return None
    names = (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}") if branch else ("HEAD",)
    for name in names:
        said = _git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", allowed=(0, 1))
        if said.strip():
            return said.decode().strip()
    return None


def _followed(folder: Path, revision: str, path: str) -> list[tuple[int, _Commit]]:
    """Return a file's commits with those of files that its symbols came from or went to, in their order."""
    order = _order(str(folder), revision)
    found: dict[tuple[str, str], _Commit] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [(revision, _name_now(folder, revision, path))]
    while waiting and len(asked) < _FOLLOWED:
        start, name = waiting.pop(0)
        if (start, name) in asked:
            continue
        asked.add((start, name))
        for one in _history(str(folder), start, name):
            found.setdefault((one.sha, one.path), one)
            for piece in one.pieces:
                if piece.origin is not None and piece.origin[0] not in (one.path, one.old_path):
                    waiting.append((one.sha, piece.origin[0]))
                if piece.target is not None and piece.target[0] != one.path:
                    waiting.append((revision, piece.target[0]))
    numbered = ((order.get(sha, 0), one) for (sha, _), one in found.items())
    return sorted(numbered, key=lambda one: one[0])


def _name_now(folder: Path, revision: str, path: str) -> str:
    """Return what a file is called at a commit, by the renames since it last had the name `path`."""
    seen = {path}
    while True:
        said = _git(
            folder,
            *("log", "-1", "--first-parent", "--diff-merges=first-parent", "--no-renames", "-z"),
            *("--name-status", "--format=%H", "--no-ext-diff", revision, "--", path),
        )
        sha, *changed = said.decode(errors="surrogateescape").split("\0")
        if not changed or changed[0].lstrip("\n") != "D":
            return path
        renamed = [new for kind, new, old in _changed(folder, sha) if kind[:1] == "R" and old == path]
        if not renamed or renamed[0] in seen:
            return path
        path = renamed[0]
        seen.add(path)


@lru_cache(maxsize=8)
def _order(folder: str, revision: str) -> dict[str, int]:
    """Return the number of each commit of a branch, from the first on: many are made in one second."""
    said = _git(Path(folder), "rev-list", "--first-parent", f"--max-count={_ORDERED}", revision).decode()
    return {sha: number for number, sha in enumerate(reversed(said.split()), start=1)}


@lru_cache(maxsize=256)
def _history(folder: str, revision: str, path: str) -> tuple[_Commit, ...]:
    """Return a file's commits up to one, oldest first; a commit never changes, so they are kept."""
    root = Path(folder)
    listed = list(_listed(root, revision, path))[::-1]
    blobs = _objects(root, [f"{sha}:{name}" for sha, _, name, _ in listed])
    heads = _objects(root, [sha for sha, *_ in listed])
    found: list[_Commit] = []
    before: str | None = None
    if listed and listed[0][1][0] not in "AC":  # the list was cut: what the file was is in the commit before
        (known,) = _objects(root, [f"{listed[0][0]}^:{listed[0][3] or listed[0][2]}"])
        before = _text(known)
    for (sha, kind, name, old), blob, head in zip(listed, blobs, heads, strict=True):
        after = None if kind[0] == "D" else _text(blob)
        at, words = _told(head)
        if after is not None or before is not None:
            pieces = compared(before, after or "", name, old_path=old or name, is_gone=after is None)
            found.append(_Commit(sha, at, words, name, old, _with_moves(root, sha, name, pieces)))
        before = after
    return tuple(found)


def _with_moves(folder: Path, sha: str, path: str, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return what a commit did to the symbols of a file, those told that it moved from or to another file."""
    if not any(one.symbol and (one.before is None) != (one.after is None) for one in pieces):
        return pieces
    changed = [one for one in _changed(folder, sha) if path not in one[1:]]
    if len(changed) > _TOGETHER:
        changed = []
    names = [name for _, new, old in changed for name in (f"{sha}^:{old or new}", f"{sha}:{new}")]
    texts = [_text(one) for one in _objects(folder, names)]
    others = [
        (new, compared(was, now or "", new, old_path=old or new, is_gone=now is None))
        for (_, new, old), was, now in zip(changed, texts[::2], texts[1::2], strict=True)
        if was is not None or now is not None
    ]
    return with_moves([(path, pieces), *others])[0]


def _changed(folder: Path, sha: str) -> list[tuple[str, str, str]]:
    """Return the files that a commit changed on its branch: kind of change, name, another name before."""
    said = _git(
        folder,
        *("diff-tree", "-r", "-M", "-z", "--root", "--no-commit-id", "--name-status", "--no-ext-diff"),
        *("--diff-merges=first-parent", sha),
    )
    words = said.decode(errors="surrogateescape").split("\0")
    found: list[tuple[str, str, str]] = []
    at = 0
    while at + 1 < len(words):
        if words[at][:1] in ("R", "C"):
            found.append((words[at], words[at + 2], words[at + 1]))
            at += 3
        else:
            found.append((words[at], words[at + 1], ""))
            at += 2
    return found


def _listed(folder: Path, revision: str, path: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the commits that changed a file, newest first: id, kind of change, name, the other name before.

    A file that was copied begins there: the other one's history is not its own. So does one whose name was
    another file's before, which was given another name.
    """
    said = _git(
        folder,
        *("log", "--follow", "--first-parent", "--diff-merges=first-parent", "-M", "-z", "--name-status"),
        *("--format=%H", "--no-ext-diff", "--no-textconv", f"--max-count={_COMMITS}", revision, "--", path),
    )
    words = said.decode(errors="surrogateescape").split("\0")
    sha, at = "", 0
    while at < len(words):
        word = words[at].lstrip("\n")
        at += 1
        if _SHA.fullmatch(word):
            sha = word
        elif word[:1] in ("R", "C") and at + 1 < len(words):
            old, new, at = words[at], words[at + 1], at + 2
            yield sha, word, new, old if word[0] == "R" else ""
            if word[0] == "C":
                return
        elif word and at < len(words):
            name, at = words[at], at + 1
            if word == "D" and any(old == name for _, _, old in _changed(folder, sha)):
                return
            yield sha, word, name, ""


def _objects(folder: Path, names: Sequence[str]) -> list[bytes | None]:
    """Return objects by their names, in the same order; None for one that is not there or too large."""
    if not names:
        return []
    asked = "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")
    if asked.count(b"\n") != len(names):  # a name with a line end cannot be asked for
        return [None] * len(names)
    said = _git(folder, "cat-file", "--batch", given=asked)
    found: list[bytes | None] = []
    at = 0
    for _ in names:
        end = said.index(b"\n", at)
        header = said[at:end].rsplit(b" ", 2)
        at = end + 1
        if not header[-1].isdigit():
            found.append(None)
            continue
        size = int(header[-1])
        found.append(said[at : at + size] if size <= _LARGEST else None)
        at += size + 1
    return found


def _told(commit: bytes | None) -> tuple[float, str]:
    """Return when a commit was made (epoch seconds) and the first line of its message."""
    head, _, message = (commit or b"").decode(errors="replace").partition("\n\n")
    made = re.search(r"^committer .*> (\d+) [+-]\d+$", head, re.MULTILINE)
    return float(made[1]) if made else 0.0, message.strip().partition("\n")[0][:_SUBJECT]


def _text(blob: bytes | None) -> str | None:
    """Return a file as a text, None for what is none."""
    return None if blob is None or b"\0" in blob else blob.decode(errors="replace")


def _git(folder: Path, *arguments: str, given: bytes = b"", allowed: Iterable[int] = (0,)) -> bytes:
    """Return what git says: always of this folder's repository, without a shell, pager or prompt."""
    command = ["git", f"--git-dir={folder / '.git'}", "--literal-pathspecs", "--no-pager", *arguments]
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, cwd=folder, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise RepositoryError(
            "git is not installed; install it, or unset MEMORY_CODING_CHAIN_REPO_ROOT"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise RepositoryError(f"git took longer than {_SECONDS:.0f} s in {folder}") from error
    if done.returncode not in allowed:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise RepositoryError(f"git cannot read {folder}: {said or f'it ended with {done.returncode}'}")
    return done.stdout
