"""Settings of what a client is connected to: its store, its ledger, its embedder, its language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

Name = Annotated[str, Field(min_length=1)]
LONGEST = 86_400.0  # a day: whoever would wait longer for one search means no limit


def env(name: str) -> dict[str, JsonValue]:
    """Return the mark that ties a field to its environment variable; the table in the docs reads it."""
    return {"env": name}


class Section(BaseModel):
    """A frozen group of settings in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, protected_namespaces=())


class VectorStore(Section):
    """Which backend recalls candidates, and where it lives."""

    provider: Name = Field(
        default="faiss",
        description="faiss, qdrant, chroma, memory, or a plug-in's name",
        json_schema_extra=env("MEMORY_VECTOR_STORE"),
    )
    persist_directory: Path | None = Field(
        default=None,
        description="folder of an embedded backend (default: in the data folder)",
        json_schema_extra=env("MEMORY_VECTOR_STORE_PATH"),
    )
    url: str | None = Field(
        default=None,
        description="address of a Qdrant or Chroma server",
        json_schema_extra=env("MEMORY_VECTOR_STORE_URL"),
    )
    api_key: SecretStr | None = Field(
        default=None, description="key for that server", json_schema_extra=env("MEMORY_VECTOR_API_KEY")
    )
    collection_name: Name = Field(
        default="hy_memory",
        description="collection on that server",
        json_schema_extra=env("MEMORY_COLLECTION_NAME"),
    )
    keyword_index: Literal["backend", "local"] = Field(
        default="backend",
        description="`local` gives any backend, Chroma too, the in-process BM25 index",
        json_schema_extra=env("MEMORY_KEYWORD_INDEX"),
    )
    timeout: float = Field(
        default=10.0,
        gt=0,
        description="seconds for one call to a server",
        json_schema_extra=env("MEMORY_VECTOR_STORE_TIMEOUT"),
    )
    memory_budget_mb: int = Field(
        default=2048,
        ge=16,
        description="most memory for the working sets of active users, in MiB",
        json_schema_extra=env("MEMORY_WORKING_SET_MB"),
    )


class LedgerSection(Section):
    """Where the truth is kept."""

    url: SecretStr | None = Field(
        default=None,
        description="postgresql://… for many machines (default: SQLite in the data folder)",
        json_schema_extra=env("MEMORY_LEDGER_URL"),
    )
    synchronous: Literal["FULL", "NORMAL"] = Field(
        default="FULL",
        description="SQLite: FULL survives power loss, NORMAL only the process's death",
        json_schema_extra=env("MEMORY_LEDGER_SYNCHRONOUS"),
    )


class EmbedderSection(Section):
    """What turns text into vectors."""

    provider: Name = Field(
        default="auto",
        description="auto, e5, minilm, hashed, onnx, huggingface, openai, or a plug-in's name",
        json_schema_extra=env("MEMORY_EMBEDDER_PROVIDER"),
    )
    model: str | None = Field(
        default=None, description="model name or local folder", json_schema_extra=env("MEMORY_EMBEDDER_MODEL")
    )
    base_url: str | None = Field(
        default=None,
        description="an OpenAI-compatible endpoint",
        json_schema_extra=env("MEMORY_EMBEDDER_BASE_URL"),
    )
    api_key: SecretStr | None = Field(
        default=None, description="key for that endpoint", json_schema_extra=env("MEMORY_EMBEDDER_API_KEY")
    )
    embedding_dims: int | None = Field(
        default=None,
        ge=1,
        description="length of a vector, where it can be chosen",
        json_schema_extra=env("MEMORY_EMBEDDING_DIMS"),
    )
    batch_size: int = Field(
        default=64,
        ge=1,
        description="texts in one call of the model",
        json_schema_extra=env("MEMORY_EMBED_BATCH_SIZE"),
    )
    timeout: float = Field(
        default=30.0,
        gt=0,
        description="seconds for one call to an endpoint, retries included",
        json_schema_extra=env("MEMORY_EMBEDDER_TIMEOUT"),
    )
    device: str = Field(
        default="auto",
        description="auto, cpu, cuda … (huggingface)",
        json_schema_extra=env("MEMORY_EMBEDDER_DEVICE"),
    )
    cache_size: int = Field(
        default=4096,
        ge=0,
        description="vectors kept in memory by text; 0 keeps none",
        json_schema_extra=env("MEMORY_EMBEDDER_CACHE_SIZE"),
    )


class LLMSection(Section):
    """A language model, for what needs one; without address and key there is none, and nothing asks."""

    model: Name = Field(
        default="gpt-4.1-mini",
        description="name of a model of that service",
        json_schema_extra=env("MEMORY_LLM_MODEL"),
    )
    base_url: str | None = Field(
        default=None,
        description="an OpenAI-compatible service (default, with a key: OpenAI's own)",
        json_schema_extra=env("MEMORY_LLM_BASE_URL"),
    )
    api_key: SecretStr | None = Field(
        default=None, description="key for that service", json_schema_extra=env("MEMORY_LLM_API_KEY")
    )
    timeout: float = Field(
        default=30.0,
        gt=0,
        le=LONGEST,
        description="seconds for one question, retries included",
        json_schema_extra=env("MEMORY_LLM_TIMEOUT"),
    )
    experience_min_value: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="what an experience must be worth, as the model sees it, to be kept (modes pro, ultra)",
        json_schema_extra=env("MEMORY_EXPERIENCE_MIN_VALUE"),
    )

    @property
    def is_configured(self) -> bool:
        """Whether there is a language model."""
        return self.base_url is not None or self.api_key is not None
