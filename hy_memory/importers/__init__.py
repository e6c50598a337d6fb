"""Files of chats and memories, read as streams and stored so that repeating an import adds nothing twice."""

from __future__ import annotations

from hy_memory.importers.run import Import, Report, import_file

__all__ = ["Import", "Report", "import_file"]
