"""Browsing: looking at what is stored without a question."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from hy_memory import answers, present
from hy_memory.aio import twin
from hy_memory.lifecycle import Lifecycle
from hy_memory.maintenance.doctor import Diagnosis, examine
from hy_memory.reading import browse
from hy_memory.reading.profile import profile_of
from hy_memory.reading.request import (
    parse_scope,
    within,
)
from hy_memory.values import check
from hy_memory.verbs.arguments import Moment
from hy_memory.work.request import parse_scene, refuse_mismatch
from hy_memory.work.scope import in_scene, parse_place

_log = logging.getLogger("hy_memory")


class Browsing(Lifecycle):
    """The verbs that show what is stored, and whether it is sound."""

    def get(
        self, memory_id: str, *, versions: bool = False, user_id: str | None = None
    ) -> answers.StoredItem | None:
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
        scene: str | None = None,
        workspace_id: str | None = None,
        branch: str | None = None,
    ) -> browse.Listing:
        """Return a page of a user's memories by time of writing, newest first unless `order="asc"`.

        Everything that is kept is listed, expired memories too; raw turns only under
        ``layers=["l1_raw"]``. `total` counts all that match. `scene` is whose memory is listed: chat
        memory unless it says working, coding, or all; only these have workspaces.
        """
        wanted, place = parse_scene(scene), parse_place(workspace_id, branch)
        refuse_mismatch(wanted, place, None)
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
        where = within(in_scene(where, wanted), *place.filters())
        return browse.list_memories(within(where, browse.listed(layers, statuses)), page, self._open().ledger)

    def memory_stats(self, *, user_id: str) -> browse.Stats:
        """Return how many memories a user has, in all and by layer."""
        return browse.stats(check.identifier("user_id", user_id), self._open().ledger)

    def get_user_profile(self, *, user_id: str) -> answers.ProfileAnswer:
        """Return what a user's memories say of them: each field's value now, its evidence, its history.

        It rests on plain first-person statements in the user's own messages; the setting
        `profile.fields` says which fields are shown.
        """
        user_id, runtime = check.identifier("user_id", user_id), self._open()
        fields = runtime.settings.profile.fields
        return present.profile_answer(user_id, profile_of(user_id, fields, runtime.ledger))

    def history(self, memory_id: str, *, user_id: str | None = None) -> list[answers.Event]:
        """Return what happened to a memory, newest first; `content` is the text it then had."""
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        return browse.history(memory_id, user_id, self._open().ledger)

    def get_recent_history(self, user_id: str, *, limit: int = 50) -> list[answers.Event]:
        """Return the last changes to a user's memories, newest first."""
        user_id, limit = check.identifier("user_id", user_id), check.count("limit", limit)
        return browse.recent(user_id, limit, self._open().ledger)

    def get_write_outcome(self, request_id: str, *, user_id: str | None = None) -> answers.Outcome | None:
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
    async_get_user_profile = twin(get_user_profile)
    async_history = twin(history)
    async_get_recent_history = twin(get_recent_history)
    async_get_write_outcome = twin(get_write_outcome)
    async_doctor = twin(doctor)
