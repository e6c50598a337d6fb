"""The error tree. Branches answer "whose fault is it, and what can they do".

HyMemoryError
├── InvalidArgumentError (ValueError)      the caller passed something that cannot be meant
├── ConfigurationError (ValueError)        the settings cannot be used
│   ├── MissingExtraError (ImportError)    an optional package is not installed
│   ├── EmbedderMismatchError              the store was made with another embedder
│   ├── StoreLockedError                   another process holds the folder
│   └── RerankerLoadError (RuntimeError)    the model of local rerank cannot be used
├── MemoryNotFoundError (LookupError)      no such memory
├── ConflictError                          the same request id with other content
├── ClosedError (RuntimeError)             the client is closed
├── ForkedError (RuntimeError)             the client was made before a fork
├── EmbeddingError                         the embedder failed or answered nonsense
├── RerankError                            the reranker failed or answered nonsense
├── LLMError                               the language model could not be reached, or was late
│   ├── LLMRefusedError (ConfigurationError)  it refused: key, address or model are wrong
│   └── LLMAnswerError                     it answered something else than was asked for
├── LedgerError                            the ledger cannot be read or written
├── BackendError                           a vector backend failed or answered nonsense
├── RepositoryError                        a git repository cannot be read
└── PartTimeoutError (TimeoutError)        a part of a search was late
"""

from __future__ import annotations


class HyMemoryError(Exception):
    """The root of every error this package raises on purpose."""


class InvalidArgumentError(HyMemoryError, ValueError):
    """A caller's mistake, found before anything was touched; names argument, value and fix."""

    def __init__(self, argument: str, value: object, fix: str) -> None:
        self.argument = argument
        self.value = value
        self.fix = fix
        super().__init__(f"{argument}={_shown(value)}: {fix}")


class ConfigurationError(HyMemoryError, ValueError):
    """The settings name something that does not exist or cannot work together."""


class MissingExtraError(ConfigurationError, ImportError):
    """An optional package is missing; the message holds the install line."""

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra
        super().__init__(
            f"{package} is not installed; install the extra from the checkout: pip install '.[{extra}]'"
        )


class EmbedderMismatchError(ConfigurationError):
    """The ledger's vectors were made by another embedder than the configured one."""


class StoreLockedError(ConfigurationError):
    """A folder that one process at a time may open is held by another."""


class RerankerLoadError(ConfigurationError, RuntimeError):
    """The cross-encoder of local rerank cannot be loaded; names the model and the cause."""

    def __init__(self, model: str, cause: str) -> None:
        self.model = model
        super().__init__(f"local rerank cannot use the model {model!r}: {cause}")


class MemoryNotFoundError(HyMemoryError, LookupError):
    """No memory has this id."""

    def __init__(self, memory_id: str) -> None:
        self.memory_id = memory_id
        super().__init__(f"no memory has the id {memory_id!r}; list_memories(user_id=…) shows what is stored")


class ConflictError(HyMemoryError):
    """A request id was used again with other content, or a memory changed under an update."""


class RepeatedError(ConflictError):
    """Somebody stored the same words a moment ago; whoever adds looks again."""

    def __init__(self) -> None:
        super().__init__("the same words were stored a moment ago; read again and repeat")


class ClosedError(HyMemoryError, RuntimeError):
    """The client was closed; make a new one."""

    def __init__(self) -> None:
        super().__init__("this client is closed; make a new HyMemoryClient")


class ForkedError(HyMemoryError, RuntimeError):
    """The client belongs to the process that made it; a forked child makes its own."""

    def __init__(self) -> None:
        super().__init__("this client was made before a fork; make a new HyMemoryClient in each process")


class EmbeddingError(HyMemoryError):
    """The embedder raised, or gave NaN, infinite, zero, too few or wrongly sized vectors."""


class RerankError(HyMemoryError):
    """The reranker raised, or gave NaN, infinite, or too few scores; the order before it stands."""


class LLMError(HyMemoryError):
    """The language model could not be reached, failed, or was late; what needs none goes on."""


class LLMRefusedError(LLMError, ConfigurationError):
    """The service refused a request that will be refused again: its key, address or model are wrong."""


class LLMAnswerError(LLMError):
    """The language model answered prose, or JSON of another shape, also when it was told what is wrong."""


class LedgerError(HyMemoryError):
    """The ledger could not be read or written; nothing of the failed write is stored."""


class BackendError(HyMemoryError):
    """A vector backend failed, or answered nonsense; the ledger still holds everything."""


class RepositoryError(HyMemoryError):
    """The repository in MEMORY_CODING_CHAIN_REPO_ROOT cannot be read; what sessions did is still shown."""


class PartTimeoutError(HyMemoryError, TimeoutError):
    """A part of a search was not done within MEMORY_SEARCH_TIMEOUT; the search goes on without it."""


def _shown(value: object, most: int = 80) -> str:
    """A short, printable form of `value`: messages must stay readable in a log line."""
    text = ascii(value)
    return text if len(text) <= most else text[: most - 1] + "…"
