"""What the numbers were measured on: processor, cores, memory, system; nothing that names the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

_CPUINFO = Path("/proc/cpuinfo")


def describe() -> dict[str, str | int]:
    """Return processor model, cores, GiB of memory, operating system and Python version."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count() or 0,
        "memory GiB": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    if _CPUINFO.is_file():
        for line in _CPUINFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
