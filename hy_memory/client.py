"""The client: the contract's verbs. Each one checks its arguments, delegates, and presents the answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from hy_memory import present
from hy_memory.aio import twin
from hy_memory.errors import InvalidArgumentError
from hy_memory.lifecycle import Lifecycle
from hy_memory.maintenance.doctor import Diagnosis, examine
from hy_memory.maintenance.evolve import Evolution, evolve
from hy_memory.pipeline import Guarded, guard
from hy_memory.reading import browse
from hy_memory.reading.read import read
from hy_memory.reading.request import (
    bucket,
    parse_embedding,
    parse_explain,
    parse_query,
    parse_scope,
    refuse_other_scenes,
    searchable_layers,
    within,
)
from hy_memory.runtime import Runtime
from hy_memory.values import check
from hy_memory.values.instant import to_epoch
from hy_memory.values.point import FloatArray
from hy_memory.values.record import Json, Layer
from hy_memory.values.request import SearchRequest
from hy_memory.writing import write
from hy_memory.writing.request import conversation, facts, parse_changes, parse_vectors

Moment: TypeAlias = float | int | datetime | str
"""Epoch seconds, a datetime, or ISO 8601 text; naive ones are read as UTC."""
Metadata: TypeAlias = Mapping[str, Json]
Messages: TypeAlias = str | Mapping[str, object] | Sequence[Mapping[str, object]]

_log = logging.getLogger("hy_memory")


class HyMemoryClient(Lifecycle):
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

    # -- searching -------------------------------------------------------------------------------

    def search(
        self,
        query: str | None = None,
        *,
        queries: Sequence[str] | None = None,
        user_ids: Sequence[str],
        agent_ids: Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
        include_sources: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        limit: int = 10,
        min_score: float = 0.4,
        schema_limit: int = 10,
        schema_min_score: float = 0.4,
        intention_limit: int = 0,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        layers: Sequence[str] | None = None,
        reader: str = "",
        scene: str | None = None,
        search_mode: str = "default",
        workspace_id: str | None = None,
        branch: str | None = None,
        query_embedding: Sequence[float] | FloatArray | None = None,
        rerank: bool = True,
        request_id: str | None = None,
        filters: Mapping[str, object] | None = None,
        explain: bool | Literal["dropped"] = False,
    ) -> present.SearchAnswer:
        """Return the memories that answer a question, best first.

        `score` is in [0, 1], comparable across questions, and what `min_score` gates. All filters
        act before the best are chosen. A reader that fails answers with empty buckets and
        `degraded`, unless MEMORY_SEARCH_RAISE is set. docs/reference/search.md has every argument.

        Raises:
            InvalidArgumentError: an argument cannot be meant; nothing was touched.
        """
        started = time.perf_counter()
        runtime = self._open()
        refuse_other_scenes(scene, search_mode, workspace_id, branch)
        now = runtime.clock.now()
        least = check.score("min_score", min_score)
        least_schema = check.score("schema_min_score", schema_min_score)
        where = parse_scope(
            user_ids=user_ids,
            agent_ids=agent_ids,
            session_ids=session_ids,
            include_sources=include_sources,
            exclude_sources=exclude_sources,
            created_after=created_after,
            created_before=created_before,
            filters=filters,
        )
        reranked = check.flag("rerank", rerank) and runtime.reading.reranker is not None
        top_k = check.count("limit", limit)
        request = SearchRequest(
            request_id=runtime.clock.new_id()
            if request_id is None
            else check.identifier("request_id", request_id),
            query=parse_query(query, queries),
            where=within(where, searchable_layers(layers, now)),
            top_k=top_k,
            pool=runtime.pool(top_k, rerank=reranked),
            min_score=least,
            schemas=bucket(where, layers, Layer.L6_SCHEMA, schema_limit, min_score=least_schema, now=now),
            intentions=bucket(where, layers, Layer.L7_INTENTION, intention_limit, min_score=least, now=now),
            created_after=None if created_after is None else to_epoch("created_after", created_after),
            query_embedding=parse_embedding(query_embedding, runtime.embedder),
            rerank=reranked,
            explain=parse_explain(explain),
        )
        answer = self._read(runtime, check.string("reader", reader), request)
        answer["elapsed_ms"] = (time.perf_counter() - started) * 1000
        return answer

    def _read(self, runtime: Runtime, reader: str, request: SearchRequest) -> present.SearchAnswer:
        stages = runtime.reader(reader)
        outcome = guard("reader", lambda: read(stages, request, runtime.reading))
        failed = isinstance(outcome, Guarded)
        degraded = (outcome.degradation,) if failed else outcome.degraded
        for one in degraded:
            _log.warning("search %s: %s failed: %s", request.request_id, one.part, one.error)
        if degraded and runtime.settings.recall.raise_on_failure:
            raise outcome.error if failed else outcome.errors[0]
        if failed:
            return present.failed_answer(request.request_id, degraded)
        return present.search_answer(outcome, request)

    async_search = twin(search)

    # -- writing ---------------------------------------------------------------------------------

    def add(
        self,
        data: Messages,
        *,
        user_id: str,
        agent_id: str = "default_agent",
        session_id: str = "default_session",
        source: str = "default",
        metadata: Metadata | None = None,
        memory_at: Moment | None = None,
        scene: str | None = None,
        workspace_id: str | None = None,
        branch: str | None = None,
        request_id: str | None = None,
        tags: Sequence[str] | None = None,
        layer: str | None = None,
        evidence_ids: Sequence[str] | None = None,
        expires_at: Moment | None = None,
    ) -> present.WriteAnswer:
        """Store a text or OpenAI-style messages, each message one memory, searchable on return.

        `request_id` makes the call idempotent: the same id and content give the first outcome.

        Raises:
            InvalidArgumentError: an argument cannot be meant; nothing was touched.
            ConflictError: the request id was used with other content.
            EmbeddingError, LedgerError: nothing is stored; safe to repeat.
        """
        started = time.perf_counter()
        refuse_other_scenes(scene, "default", workspace_id, branch)
        request = conversation(
            data,
            metadata=metadata,
            request_id=request_id,
            user_id=user_id,
            agent_id=agent_id,
            session_id=session_id,
            source=source,
            tags=tags,
            layer=layer,
            memory_at=memory_at,
            expires_at=expires_at,
            evidence_ids=evidence_ids,
        )
        return present.write_answer(write.add(request, self._open().writing), started)

    def add_extracted(
        self,
        contents: Sequence[str | Mapping[str, object]],
        *,
        user_id: str,
        agent_id: str = "default_agent",
        session_id: str = "default_session",
        source: str = "default",
        metadata: Metadata | None = None,
        memory_at: Moment | None = None,
        request_id: str | None = None,
        tags: Sequence[str] | None = None,
        layer: str | None = None,
        evidence_ids: Sequence[str] | None = None,
        expires_at: Moment | None = None,
        embeddings: Sequence[Sequence[float]] | FloatArray | None = None,
    ) -> present.WriteAnswer:
        """Store ready facts, each a text or ``{"content", "name", "timestamp", "metadata"}``: all or none.

        `embeddings` (n, dims) saves embedding them. Raises as `add` does.
        """
        started = time.perf_counter()
        runtime = self._open()
        request = facts(
            contents,
            metadata=metadata,
            request_id=request_id,
            user_id=user_id,
            agent_id=agent_id,
            session_id=session_id,
            source=source,
            tags=tags,
            layer=layer,
            memory_at=memory_at,
            expires_at=expires_at,
            evidence_ids=evidence_ids,
        )
        vectors = parse_vectors("embeddings", embeddings, len(request.drafts), runtime.embedder)
        return present.write_answer(write.add(request, runtime.writing, vectors), started)

    def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        metadata: Metadata | None = None,
        memory_at: Moment | None = None,
        expires_at: Moment | None = None,
        user_id: str | None = None,
    ) -> present.StoredItem:
        """Change a memory and return it as it is now; `history` keeps the old text.

        Raises:
            MemoryNotFoundError: no such memory (or not `user_id`'s, where given).
            EmbeddingError, LedgerError: the old state stands untouched.
        """
        changed = parse_changes(content, tags, metadata, memory_at, expires_at)
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        return present.item(write.update(memory_id, changed, self._open().writing, user_id))

    def delete(self, memory_id: str, *, user_id: str | None = None) -> present.DeleteAnswer:
        """Remove a memory everywhere, its old versions too; deleting it again deletes 0."""
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        return present.delete_answer(write.delete([memory_id], self._open().writing, user_id))

    def delete_all(
        self,
        *,
        user_id: str,
        agent_ids: Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
    ) -> present.DeleteAnswer:
        """Remove every kind of data of one user, or of some of their agents or sessions."""
        where = parse_scope(
            user_ids=[check.identifier("user_id", user_id)], agent_ids=agent_ids, session_ids=session_ids
        )
        return present.delete_answer(write.delete_all(where, self._open().writing))

    def clone_user(self, source_user_id: str, target_user_id: str) -> present.CloneAnswer:
        """Copy everything one user has to another; the copies have ids of their own."""
        source = check.identifier("source_user_id", source_user_id)
        target = check.identifier("target_user_id", target_user_id)
        if source == target:
            raise InvalidArgumentError("target_user_id", target, "name another user than the source")
        return {"success": True, "copied_count": write.clone_user(source, target, self._open().writing)}

    def evolve(self, user_id: str) -> Evolution:
        """Bring the user's schemas up to date: what keeps coming back, with the memories it rests on.

        Running it again on unchanged memories changes nothing.
        """
        return evolve(check.identifier("user_id", user_id), self._open().writing)

    async_evolve = twin(evolve)
    async_add = twin(add)
    async_add_extracted = twin(add_extracted)
    async_update = twin(update)
    async_delete = twin(delete)
    async_delete_all = twin(delete_all)
    async_clone_user = twin(clone_user)

    # -- looking at what is stored ---------------------------------------------------------------

    def get(
        self, memory_id: str, *, versions: bool = False, user_id: str | None = None
    ) -> present.StoredItem | None:
        """Return a memory with its status, and its old texts if `versions`; None if unknown."""
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        return browse.get(memory_id, user_id, check.flag("versions", versions), self._open().ledger)

    def list_memories(
        self,
        *,
        user_id: str,
        limit: int = 100,
        offset: int = 0,
        order: str = "desc",
        agent_ids: Sequence[str] | None = None,
        session_ids: Sequence[str] | None = None,
        include_sources: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        layers: Sequence[str] | None = None,
        filters: Mapping[str, object] | None = None,
        statuses: Sequence[str] | None = None,
    ) -> browse.Listing:
        """Return a page of a user's memories by time of writing, newest first unless `order="asc"`.

        Everything that is kept is listed, expired memories too; raw turns only under
        ``layers=["l1_raw"]``. `total` counts all that match.
        """
        where = parse_scope(
            user_ids=[check.identifier("user_id", user_id)],
            agent_ids=agent_ids,
            session_ids=session_ids,
            include_sources=include_sources,
            exclude_sources=exclude_sources,
            created_after=created_after,
            created_before=created_before,
            filters=filters,
        )
        page = browse.parse_page(limit, offset, order)
        return browse.list_memories(within(where, browse.listed(layers, statuses)), page, self._open().ledger)

    def memory_stats(self, *, user_id: str) -> browse.Stats:
        """Return how many memories a user has, in all and by layer."""
        return browse.stats(check.identifier("user_id", user_id), self._open().ledger)

    def history(self, memory_id: str, *, user_id: str | None = None) -> list[present.Event]:
        """Return what happened to a memory, newest first; `content` is the text it then had."""
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        return browse.history(memory_id, user_id, self._open().ledger)

    def get_recent_history(self, *, user_id: str, limit: int = 20) -> list[present.Event]:
        """Return the last changes to a user's memories, newest first."""
        user_id, limit = check.identifier("user_id", user_id), check.count("limit", limit)
        return browse.recent(user_id, limit, self._open().ledger)

    def get_write_outcome(self, request_id: str, *, user_id: str | None = None) -> present.Outcome | None:
        """Return what a write led to and its memory ids; None if it was never acknowledged."""
        request_id = check.identifier("request_id", request_id)
        return browse.outcome(request_id, check.optional_identifier("user_id", user_id), self._open().ledger)

    def doctor(self, *, repair: bool = False) -> Diagnosis:
        """Check the ledger and compare the projections with it; `repair` mends the projections from it."""
        runtime = self._open()
        return examine(runtime.ledger, runtime.embedder, runtime.feeder, repair=check.flag("repair", repair))

    async_get = twin(get)
    async_list_memories = twin(list_memories)
    async_memory_stats = twin(memory_stats)
    async_history = twin(history)
    async_get_recent_history = twin(get_recent_history)
    async_get_write_outcome = twin(get_write_outcome)
    async_doctor = twin(doctor)
