"""The settings object: sections, defaults, and the environment variable of each field."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from hy_memory.settings.connections import (
    LONGEST,
    EmbedderSection,
    LedgerSection,
    LLMSection,
    Name,
    Section,
    VectorStore,
    env,
)
from hy_memory.settings.dynamics import DynamicsSection

RerankKind: TypeAlias = Literal["cross_encoder", "late_interaction", "second_hop"]
ProfileField: TypeAlias = Literal["name", "age", "location", "occupation", "employer"]


class CodingSection(Section):
    """Whether agents' work is told from chat by a language model, and how the history of code is shown."""

    enabled: bool = Field(
        default=False,
        description="ask which scene `queries`, or a session with tool calls, belong to",
        json_schema_extra=env("MEMORY_CODING_ENABLED"),
    )
    chain_block_enabled: bool = Field(
        default=False,
        description="answer coding searches with the history of the code; the variable is read at each call",
        json_schema_extra=env("MEMORY_CODING_CHAIN_BLOCK_ENABLED"),
    )
    chain_block_off: bool = Field(
        default=False,
        description="leave the history out whatever else is set; the variable is read at each call",
        json_schema_extra=env("HCM_BLOCK_OFF"),
    )
    chain_max_tokens: int = Field(
        default=1500,
        ge=0,
        description="most tokens, as they are estimated, of the history in one answer",
        json_schema_extra=env("MEMORY_CODING_CHAIN_MAX_TOKENS"),
    )
    chain_repo_root: Path | None = Field(
        default=None,
        description="folder of a git repository, or of several by workspace, whose commits join the history",
        json_schema_extra=env("MEMORY_CODING_CHAIN_REPO_ROOT"),
    )


class RecallSection(Section):
    """How a search behaves. Local rerank is a model that reorders the best hits."""

    raise_on_failure: bool = Field(
        default=False,
        description="raise instead of answering with `degraded`",
        json_schema_extra=env("MEMORY_SEARCH_RAISE"),
    )
    query_rewrite: bool = Field(
        default=True,
        description="with a language model: say the last of `queries` in full, and the time it speaks of",
        json_schema_extra=env("MEMORY_ENABLE_QUERY_REWRITE"),
    )
    query_rewrite_max_chars: int = Field(
        default=1000,
        ge=0,
        description="characters of `queries` in all from which on they are searched for as they are",
        json_schema_extra=env("MEMORY_QUERY_REWRITE_MAX_CHARS"),
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST,
        description="seconds for one search; a part that is late is left out and noted in `degraded`",
        json_schema_extra=env("MEMORY_SEARCH_TIMEOUT"),
    )
    local_rerank_enabled: bool = Field(
        default=False,
        description="load a reranker when the client is made, and let it order hits",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_ENABLED"),
    )
    local_rerank_kind: RerankKind = Field(
        default="cross_encoder",
        description="cross_encoder (extra `rerank`), late_interaction (extra `local`), second_hop (no model)",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_KIND"),
    )
    local_rerank_blend: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="share of the reranker in the order, the rest is the hits' own score "
        "(default: 1 for a cross-encoder, 0.5 for late interaction)",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_BLEND"),
    )
    local_rerank_second_hop: float = Field(
        default=0.8,
        ge=0,
        le=4,
        description="weight of what the best hits' other words say for a hit; nothing where `blend` is 1",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_SECOND_HOP"),
    )
    local_rerank_model: Name = Field(
        default="nreimers/mmarco-mMiniLMv2-L6-H384-v1",
        description="hub name or local folder of the cross-encoder",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_MODEL"),
    )
    local_rerank_device: Name = Field(
        default="auto",
        description="auto (cuda where there is one, else cpu), cpu, cuda … (cross-encoder)",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_DEVICE"),
    )
    local_rerank_batch_size: int = Field(
        default=16,
        ge=1,
        description="memories in one forward pass; no limit of concurrent searches",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_BATCH_SIZE"),
    )
    local_rerank_max_length: int | None = Field(
        default=None,
        ge=8,  # special tokens and a word of each
        description="most tokens read of a pair (default: 512), or of a text in late interaction (128)",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_MAX_LENGTH"),
    )
    local_rerank_pool_factor: int = Field(
        default=3,
        ge=1,
        description="how many times `limit` hits the model chooses from",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_POOL_FACTOR"),
    )
    local_rerank_int8: bool = Field(
        default=False,
        description="eight bits for the cross-encoder on a CPU: about twice as fast, nearly the same order",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_INT8"),
    )
    local_rerank_timeout: float | None = Field(
        default=None,
        gt=0,
        description="seconds after which a search starts no further batch and keeps its order",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_TIMEOUT"),
    )
    local_rerank_cache_mb: int = Field(
        default=64,
        ge=0,
        description="most memory for token vectors that late interaction keeps of texts it read, in MiB",
        json_schema_extra=env("MEMORY_LOCAL_RERANK_CACHE_MB"),
    )

    def blend(self) -> float:
        """Return the reranker's share in the order, in (0, 1]."""
        if self.local_rerank_blend is not None:
            return self.local_rerank_blend
        return 1.0 if self.local_rerank_kind == "cross_encoder" else 0.5

    def max_length(self) -> int:
        """Return how many tokens the reranker reads at most, of a pair or of a text."""
        if self.local_rerank_max_length is not None:
            return self.local_rerank_max_length
        return 512 if self.local_rerank_kind == "cross_encoder" else 128


class RankingSection(Section):
    """What speaks for a memory beside meaning and words, and how much; 0 switches a stage off."""

    neighbours: float = Field(
        default=1.0,
        ge=0,
        le=4,
        description="what turns of a conversation lend each other, as a multiple (hybrid)",
        json_schema_extra=env("MEMORY_RANKING_NEIGHBOURS"),
    )
    named_speaker: float = Field(
        default=0.2,
        ge=0,
        le=4,
        description="preference for the turns of a speaker whom the question names (hybrid)",
        json_schema_extra=env("MEMORY_RANKING_NAMED_SPEAKER"),
    )
    own_words: float = Field(
        default=1.0,
        ge=0,
        le=4,
        description="preference for the user's turns, but in questions of what the assistant said (hybrid)",
        json_schema_extra=env("MEMORY_RANKING_OWN_WORDS"),
    )
    time: float = Field(
        default=0.2,
        ge=0,
        le=4,
        description="preference for memories of a time that the question speaks of (hybrid)",
        json_schema_extra=env("MEMORY_RANKING_TIME"),
    )

    entities: float = Field(
        default=0.0,
        ge=0,
        le=4,
        description="an entity channel: what memories that name all that the question names gain",
        json_schema_extra=env("MEMORY_RANKING_ENTITIES"),
    )
    fold_duplicates: bool = Field(
        default=False,
        description="show hits of one text once, the others listed under it",
        json_schema_extra=env("MEMORY_FOLD_DUPLICATES"),
    )
    fold_near: bool = Field(
        default=False,
        description="fold hits too that say nothing the one before them does not say",
        json_schema_extra=env("MEMORY_FOLD_NEAR"),
    )


class EpisodesSection(Section):
    """Where a conversation is cut, and what of it is shown with a hit."""

    gap_hours: float = Field(
        # longer than a pause within a day (a meeting, an afternoon out), shorter than a night
        default=6.0,
        gt=0,
        description="hours of event time without a memory after which a session's next episode begins",
        json_schema_extra=env("MEMORY_EPISODE_GAP_HOURS"),
    )
    neighbours: int = Field(
        default=1,
        ge=0,
        le=9,  # as many as a timeline of 20 has on its shorter side
        description="memories before and after a hit, of its episode, shown with it; 0 shows no episodes",
        json_schema_extra=env("MEMORY_EPISODE_NEIGHBOURS"),
    )


class ProfileSection(Section):
    """What `get_user_profile` shows."""

    fields: tuple[ProfileField, ...] = Field(
        default=("name", "age", "location", "occupation", "employer"),
        description="which fields a profile shows; in a variable separated by commas",
        json_schema_extra=env("MEMORY_PROFILE_FIELDS"),
    )

    @field_validator("fields", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Read the text of a variable as a list."""
        if not isinstance(value, str):
            return value
        return tuple(name for part in value.split(",") if (name := part.strip()))


class Settings(Section):
    """Everything; argument > environment > .env > default. Read once, then only passed on."""

    data_dir: Path = Field(
        default=Path("~/.hy_memory"),
        description="folder of the ledger and of embedded backends",
        json_schema_extra=env("MEMORY_DATA_DIR"),
    )
    mode: Literal["lite", "pro", "ultra"] = Field(
        default="lite",
        description="`lite` keeps each message as it is; a language model reads facts out of them in `pro`, "
        "and schemas follow them in `ultra`",
        json_schema_extra=env("MEMORY_MODE"),
    )
    reader: str = Field(
        default="legacy",
        description="legacy (vector), hybrid (vector + BM25), or a plug-in's name",
        json_schema_extra=env("HY_MEMORY_READER"),
    )
    timezone: Name = Field(
        default="UTC",
        description="IANA name of the zone in which “yesterday” begins and ends",
        json_schema_extra=env("MEMORY_TIMEZONE"),
    )
    threads: int = Field(
        default=8,
        ge=1,
        le=256,
        description="threads behind the async verbs, and as many for searches with a deadline",
        json_schema_extra=env("MEMORY_THREAD_POOL_SIZE"),
    )
    vector_store: VectorStore = VectorStore()
    ledger: LedgerSection = LedgerSection()
    embedder: EmbedderSection = EmbedderSection()
    llm: LLMSection = LLMSection()
    recall: RecallSection = RecallSection()
    ranking: RankingSection = RankingSection()
    episodes: EpisodesSection = EpisodesSection()
    profile: ProfileSection = ProfileSection()
    coding: CodingSection = CodingSection()
    dynamics: DynamicsSection = DynamicsSection()

    @model_validator(mode="after")
    def _needs_a_model(self) -> Self:
        if self.mode != "lite" and not self.llm.is_configured:
            raise ValueError(
                f"{self.mode!r} needs a language model: set MEMORY_LLM_BASE_URL, MEMORY_LLM_API_KEY or both, "
                "or use 'lite'"
            )
        return self

    def folder(self) -> Path:
        """Return the data folder with `~` resolved."""
        return self.data_dir.expanduser()
