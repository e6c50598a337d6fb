"""The client: the contract's verbs over one runtime."""

from __future__ import annotations

from hy_memory.verbs.browsing import Browsing
from hy_memory.verbs.documents import Documents
from hy_memory.verbs.facts import Facts
from hy_memory.verbs.learning import Learning
from hy_memory.verbs.searching import Searching


class HyMemoryClient(Searching, Documents, Browsing, Learning):
    """A memory that can be searched.

    Thread-safe; one client serves a whole process. Every verb has an `async_` twin of the same
    signature. Use it as a context manager, sync or async, or call `close()`.

    Args:
        config: Settings by section, or a Settings object; what it leaves open comes from the
            environment, then from `.env`, then from defaults (see docs/reference/settings.md).
        mode: How messages are written; "lite" stores each as it is.
        embedding_service: Your own embedder (see `hy_memory.ports.EmbeddingService`).

    Raises:
        ConfigurationError: the settings cannot be used; the message says what to change.
    """

    @property
    def facts(self) -> Facts:
        """The verbs of temporal facts."""
        return Facts(self)
