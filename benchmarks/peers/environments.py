"""Virtual environments of the peers, each with pinned versions, made when first needed.

    python -m benchmarks.peers.environments [NAME …]

They live in `.venv-peers/NAME` (or under $PEERS_VENVS); a changed requirements file makes its
environment anew. hy_memory itself runs in the environment that runs the benchmark.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = "here"
REQUIREMENTS = Path(__file__).parent / "requirements"
ROOT = Path(os.environ.get("PEERS_VENVS", ".venv-peers"))


def names() -> list[str]:
    """Return the environments there are to make."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, which is made now if it is missing or outdated."""
    if name == HERE:
        return Path(sys.executable)
    folder, wanted = (ROOT / name).absolute(), _mark(name)
    stamp, python = folder / ".requirements", folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print(f"making the environment {name} (some minutes) …", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", str(REQUIREMENTS / f"{name}.txt")], check=True, stdout=sys.stderr)
    stamp.write_text(wanted)
    return python


def _mark(name: str) -> str:
    return hashlib.sha256((REQUIREMENTS / f"{name}.txt").read_bytes()).hexdigest()


if __name__ == "__main__":
    for each in sys.argv[1:] or names():
        python_of(each)
