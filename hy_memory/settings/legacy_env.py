"""Variables that users of Hy-Memory 2.0 have set and that mean nothing here, so that they raise no alarm.

Each family is ignored on purpose: it tunes an inner part of that SDK which this one does not have
(its graph store, its prompts, its caches) or a service around it (its HTTP server, MySQL history).
"""

from __future__ import annotations

_FAMILIES = (
    "HCM_", "HY_MEMORY_READER_", "HY_MEMORY_SERVER_", "HY_MEMORY_TAG_INDEX_", "HY_MEMORY_THINKING_",
    "MEMORY_AGENT_", "MEMORY_API_", "MEMORY_AUTO_", "MEMORY_BM25_", "MEMORY_CACHE_", "MEMORY_CODING_",
    "MEMORY_CROSS_DOMAIN_", "MEMORY_DERIVED_", "MEMORY_DIALOGUE_", "MEMORY_DYNAMIC_", "MEMORY_ENABLE_",
    "MEMORY_ENTITY_", "MEMORY_EPISODE_", "MEMORY_EVENT_LOOP_", "MEMORY_EVOLING_", "MEMORY_EXISTING_",
    "MEMORY_EXTRACT_", "MEMORY_FEW_SHOT_", "MEMORY_GRAPH_", "MEMORY_HIERARCHY_", "MEMORY_HISTORY_",
    "MEMORY_HYBRID_V2_", "MEMORY_KNOWLEDGE_", "MEMORY_KUZU_", "MEMORY_LLM_",
    "MEMORY_LOG_", "MEMORY_MEMORY_", "MEMORY_METRICS", "MEMORY_MMR_", "MEMORY_MULTI_SEED_", "MEMORY_MYSQL_",
    "MEMORY_PIPELINE_", "MEMORY_POST_BGE_", "MEMORY_PROFILE_", "MEMORY_QDRANT_", "MEMORY_QUERY_REWRITE_",
    "MEMORY_RAW_", "MEMORY_RECALL_", "MEMORY_RECONCILE_", "MEMORY_RERANK_", "MEMORY_RETRIEVAL_",
    "MEMORY_ROLLING_", "MEMORY_S2_", "MEMORY_SAME_SERIES_", "MEMORY_SERIES_", "MEMORY_SESSION_",
    "MEMORY_STRUCTURE_", "MEMORY_SUMMARY_", "MEMORY_SUPPLEMENTAL_", "MEMORY_TAG_INDEX_", "MEMORY_TOPIC_",
    "MEMORY_TRACE_", "MEMORY_USER_PROFILE_", "MEMORY_WORKLOAD_", "MEMORY_WRITE_APPLY_",
)  # fmt: skip
_NAMES = frozenset({
    "MEMORY_DEBUG", "MEMORY_DEDUP_THRESHOLD", "MEMORY_EMBEDDER_EXTRA_BODY", "MEMORY_EMBEDDER_EXTRA_HEADERS",
    "MEMORY_EMBEDDER_MAX_RETRIES", "MEMORY_EMBEDDER_RETRY_DELAY", "MEMORY_EMBEDDING_GLOBAL_CONCURRENCY",
    "MEMORY_EMBED_BATCH_WINDOW_MS", "MEMORY_MIN_CONTENT_LENGTH", "MEMORY_PERSIST_DIR",
    "MEMORY_SEARCH_DEDUP_ENABLED", "MEMORY_VECTOR_HOST", "MEMORY_VECTOR_PORT",
})  # fmt: skip


_READ_HERE = (
    "MEMORY_PROFILE_F", "MEMORY_EPISODE_GAP", "MEMORY_EPISODE_NEIGH", "MEMORY_LLM_MOD", "MEMORY_LLM_BAS",
    "MEMORY_LLM_API", "MEMORY_LLM_TIMEO", "MEMORY_ENABLE_QUERY", "MEMORY_QUERY_REWRITE_MAX",
    "MEMORY_CODING_EN", "MEMORY_CODING_CHAIN_BLOCK_EN", "MEMORY_CODING_CHAIN_REPO",
    "MEMORY_CODING_CHAIN_MAX_T", "HCM_BLOCK_O",
)  # fmt: skip
"""Beginnings, inside those families, of names that are read here: a misspelt one is a mistake."""


def is_known_elsewhere(name: str) -> bool:
    """Return whether `name` is a variable of Hy-Memory 2.0 that is deliberately ignored here."""
    return name in _NAMES or (name.startswith(_FAMILIES) and not name.startswith(_READ_HERE))
