"""How memories are used: what is learned of it, by searches or by callers who know better."""

from __future__ import annotations

from collections.abc import Sequence

from hy_memory import answers, present
from hy_memory.aio import twin
from hy_memory.dynamics.learned import begun_of
from hy_memory.lifecycle import Lifecycle
from hy_memory.values import check
from hy_memory.values.use import Lesson
from hy_memory.writing.write import existing


class Learning(Lifecycle):
    """The verbs of use. They work whether or not searches teach (`dynamics.enabled`)."""

    def pin(self, memory_id: str, *, user_id: str | None = None) -> answers.UseAnswer:
        """Let a memory fade no more; pinning it again changes nothing.

        Raises:
            MemoryNotFoundError: no such memory (or not `user_id`'s, where given).
        """
        return self._pinned(memory_id, user_id, is_pinned=True)

    def unpin(self, memory_id: str, *, user_id: str | None = None) -> answers.UseAnswer:
        """Let a memory fade again, from now on.

        Raises:
            MemoryNotFoundError: no such memory (or not `user_id`'s, where given).
        """
        return self._pinned(memory_id, user_id, is_pinned=False)

    def reinforce(self, memory_ids: Sequence[str], *, user_id: str) -> answers.ReinforceAnswer:
        """Let memories gain salience because they were of use: each once, however often it is named.

        Raises:
            MemoryNotFoundError: the user has no memory with one of the ids; nothing was changed.
        """
        whose = check.identifier("user_id", user_id)
        ids = list(dict.fromkeys(check.identifiers("memory_ids", memory_ids)))
        runtime = self._open()
        for one in ids:
            existing(one, runtime.ledger, whose)
        now = runtime.clock.now()
        count = runtime.ledger.learn([Lesson(one, now) for one in ids])
        self._learned()
        return {"success": True, "reinforced_count": count}

    def use_of(self, memory_id: str, *, user_id: str | None = None) -> answers.UseAnswer:
        """Return how a memory was used, and how much it matters now.

        Raises:
            MemoryNotFoundError: no such memory (or not `user_id`'s, where given).
        """
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        runtime = self._open()
        record = existing(memory_id, runtime.ledger, user_id)
        use = runtime.ledger.uses([memory_id]).get(memory_id)
        begun = begun_of(record.content, record.attributes)
        return present.use_answer(record, use, begun, runtime.clock.now())

    def drain(self) -> answers.DrainAnswer:
        """Store what searches taught so far, without waiting for the thread that does it.

        Raises:
            LedgerError: the store takes nothing; what was learned is kept, and tried again.
        """
        learner = self._open().learner
        count = 0 if learner is None else learner.drain()
        self._learned()
        return {"success": True, "learned_count": count}

    def _pinned(self, memory_id: str, user_id: str | None, *, is_pinned: bool) -> answers.UseAnswer:
        memory_id, user_id = (
            check.identifier("memory_id", memory_id),
            check.optional_identifier("user_id", user_id),
        )
        ledger = self._open().ledger
        existing(memory_id, ledger, user_id)
        ledger.pin(memory_id, is_pinned)
        self._learned()
        return self.use_of(memory_id, user_id=user_id)

    def _learned(self) -> None:
        """Let the next search see what was just learned."""
        uses = self._open().uses
        if uses is not None:
            uses.forget()

    async_pin = twin(pin)
    async_unpin = twin(unpin)
    async_reinforce = twin(reinforce)
    async_use_of = twin(use_of)
    async_drain = twin(drain)
