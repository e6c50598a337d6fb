"""hy_memory: a memory that chat backends and agents can search."""

from __future__ import annotations

from hy_memory.client import HyMemoryClient
from hy_memory.errors import HyMemoryError

__all__ = ["HyMemoryClient", "HyMemoryError", "__version__"]

__version__ = "0.1.0"
