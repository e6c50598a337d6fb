"""How memories change with use; off by default, so that an answer depends on nothing but what is stored."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from hy_memory.settings.connections import Section, env


class DynamicsSection(Section):
    """What memories learn from use. `enabled` switches all of it; merging repeats has its own switch."""

    enabled: bool = Field(
        default=False,
        description="let memories that are found gain salience, and salience count in the order of hits",
        json_schema_extra=env("MEMORY_DYNAMICS_ENABLED"),
    )
    salience_weight: float = Field(
        # in a simulated year of habits 0.2 gains little, 1 a quarter more first hits
        default=1.0,
        ge=0,
        le=4,
        description="what a memory that use made salient gains over one that nobody used; 0 switches it off",
        json_schema_extra=env("MEMORY_DYNAMICS_SALIENCE_WEIGHT"),
    )
    recency_weight: float = Field(
        default=0.0,
        ge=0,
        le=4,
        description="what a memory of now gains over one of long ago; 0 switches it off",
        json_schema_extra=env("MEMORY_DYNAMICS_RECENCY_WEIGHT"),
    )
    merge_repeats: bool = Field(
        default=True,
        description="keep words that are said again as they were once, and count the repetition",
        json_schema_extra=env("MEMORY_DYNAMICS_MERGE_REPEATS"),
    )
    merge_near: bool = Field(
        default=False,
        description="keep words that say nothing an earlier memory does not say as that memory",
        json_schema_extra=env("MEMORY_DYNAMICS_MERGE_NEAR"),
    )
    section_above_tokens: int = Field(
        default=8000,
        ge=200,
        description="tokens, as they are estimated, from which on a text is stored in sections too",
        json_schema_extra=env("MEMORY_DYNAMICS_SECTION_ABOVE_TOKENS"),
    )
    learn_seconds: float = Field(
        default=1.0,
        gt=0,
        le=3600,
        description="seconds for which what searches teach is gathered before it is stored",
        json_schema_extra=env("MEMORY_DYNAMICS_LEARN_SECONDS"),
    )

    @model_validator(mode="after")
    def _near_ones_are_repeats(self) -> Self:
        if self.merge_near and not self.merge_repeats:
            raise ValueError("merge_near needs merge_repeats: who keeps every repeat keeps near ones too")
        return self
