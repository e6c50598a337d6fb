"""Writing: what is stored, changed and removed."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hy_memory import answers, present
from hy_memory.aio import twin
from hy_memory.errors import ConfigurationError, InvalidArgumentError
from hy_memory.filters.scope import scoped
from hy_memory.maintenance.evolve import Evolution, evolve
from hy_memory.maintenance.finalize import finalize_session
from hy_memory.reading.request import parse_scope
from hy_memory.values import check
from hy_memory.values.lane import partitions
from hy_memory.values.point import FloatArray
from hy_memory.values.usage import Usage
from hy_memory.verbs.arguments import Messages, Metadata, Moment
from hy_memory.verbs.extracting import Extracting
from hy_memory.verbs.judging import Classified, Judging, noted
from hy_memory.work.request import parse_lane, parse_scene, refuse_mismatch
from hy_memory.work.scope import CHAT, parse_place
from hy_memory.work.write import add_session, parse_session
from hy_memory.writing import write
from hy_memory.writing.request import conversation, facts, parse_changes, parse_vectors

_log = logging.getLogger("hy_memory")


class Writing(Judging, Extracting):
    """The verbs that change what is stored."""

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
    ) -> answers.WriteAnswer:
        """Store a text or OpenAI-style messages, each message one memory, searchable on return.

        `request_id` makes the call idempotent: the same id and content give the first outcome.

        Raises:
            InvalidArgumentError: an argument cannot be meant; nothing was touched.
            ConflictError: the request id was used with other content.
            EmbeddingError, LedgerError: nothing is stored; safe to repeat.
        """
        started = time.perf_counter()
        wanted, place = parse_scene(scene), parse_place(workspace_id, branch)
        origin: dict[str, object] = {
            "metadata": metadata,
            "request_id": request_id,
            "user_id": user_id,
            "agent_id": agent_id,
            "session_id": session_id,
            "source": source,
            "tags": tags,
            "layer": layer,
            "memory_at": memory_at,
            "expires_at": expires_at,
            "evidence_ids": evidence_ids,
        }
        request = conversation(data, **origin) if wanted == CHAT else None
        goes_to = Classified(wanted)
        if request is not None and scene is None and layer is None:
            goes_to = self._session_scene(data, request.origin.user_id, request.request_id)
        if not goes_to.is_open:
            refuse_mismatch(goes_to.scene, place, None)
        is_pending = layer is None and self._open().extracting() is not None
        if request is not None and goes_to.scene == CHAT:
            stored = write.add(replace(request, is_pending=is_pending), self._open().writing)
        else:
            session = parse_session(data, parse_lane(goes_to.scene), place, **origin)
            stored = add_session(replace(session, is_pending=is_pending), self._open().writing)
        stored, read = self._extracted(stored) if is_pending else (stored, None)
        answer = present.write_answer(stored, started, goes_to.scene)
        usage, degraded = goes_to.usage, goes_to.degraded
        if read is not None:
            usage, degraded = read.usage.plus(usage or Usage()), (*degraded, *read.degraded, *read.notes)
        noted(answer, usage if usage and usage.calls else None, degraded)
        return answer

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
    ) -> answers.WriteAnswer:
        """Store ready facts, each a text or ``{"content", "name", "timestamp", "metadata"}``: all or none.

        A fact with ``"supersedes": memory_id`` takes that memory's place, or that of the newest one in
        its chain where it was superseded before; searches find the new one and show the old in its
        `evolution_chain`. `embeddings` (n, dims) saves embedding them.

        Raises as `add` does, and:
            MemoryNotFoundError: the user has no memory with an id to supersede; nothing is stored.
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
    ) -> answers.StoredItem:
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

    def delete(self, memory_id: str, *, user_id: str | None = None) -> answers.DeleteAnswer:
        """Remove a memory everywhere, its old versions too; deleting it again deletes 0.

        A memory that it had superseded is current again; where it stood between two, these are linked.
        """
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
    ) -> answers.DeleteAnswer:
        """Remove every kind of data of one user, of all scenes, or of some of their agents or sessions."""
        where = parse_scope(
            user_ids=[check.identifier("user_id", user_id)], agent_ids=agent_ids, session_ids=session_ids
        )
        where = scoped(partitions(user_id), where.tree)
        return present.delete_answer(write.delete_all(where, self._open().writing))

    def clone_user(self, src_user_id: str, dst_user_id: str) -> answers.CloneAnswer:
        """Copy everything one user has to another; the copies have ids of their own."""
        source = check.identifier("src_user_id", src_user_id)
        target = check.identifier("dst_user_id", dst_user_id)
        if source == target:
            raise InvalidArgumentError("dst_user_id", target, "name another user than the source")
        return {"success": True, "copied_count": write.clone_user(source, target, self._open().writing)}

    def finalize_session(
        self, *, user_id: str, session_id: str, agent_id: str = "default_agent"
    ) -> answers.FinalizeAnswer:
        """End a session's current episode: what is stored in it later begins a new one.

        Idempotent: while nothing new was stored, the answer stays the same. No summary is written.
        """
        session = (
            check.identifier("user_id", user_id),
            check.identifier("agent_id", agent_id),
            check.identifier("session_id", session_id),
        )
        runtime = self._open()
        return finalize_session(session, runtime.ledger, runtime.conversations)

    def evolve(self, user_id: str) -> Evolution:
        """Bring the user's schemas up to date: what keeps coming back, with the memories it rests on.

        Running it again on unchanged memories changes nothing. Exchanges that wait for a language model are
        read first.
        """
        whose = check.identifier("user_id", user_id)
        ports = self._open().extracting()
        if ports is not None:
            self._read_all(whose, ports)
        return evolve(whose, self._open().writing)

    def extract(self, *, user_id: str | None = None) -> answers.ExtractAnswer:
        """Read what still waits for the language model, of one user or of all, due or not.

        In the modes `pro` and `ultra` every write is read at once; what waits is what failed. It stops where
        the model fails, and goes on at the next call.

        Raises:
            ConfigurationError: no language model is configured.
        """
        whose = check.optional_identifier("user_id", user_id)
        ports = self._open().extracting(in_any_mode=True)
        if ports is None:
            raise ConfigurationError(
                "extract needs a language model: set MEMORY_LLM_BASE_URL, MEMORY_LLM_API_KEY or both"
            )
        reading = self._read_all(whose, ports)
        notes = [note for one in reading.reads.values() for note in one.degraded]
        answer: answers.ExtractAnswer = {
            "success": not notes,
            "read_count": reading.done,
            "waiting_count": len(self._waiting(whose)),
        }
        noted(answer, reading.usage if reading.usage.calls else None, notes)
        return answer

    async_finalize_session = twin(finalize_session)
    async_evolve = twin(evolve)
    async_extract = twin(extract)
    async_add = twin(add)
    async_add_extracted = twin(add_extracted)
    async_update = twin(update)
    async_delete = twin(delete)
    async_delete_all = twin(delete_all)
    async_clone_user = twin(clone_user)
