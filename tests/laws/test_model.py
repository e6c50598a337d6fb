"""A long life of a store: any sequence of verbs, on every backend at once, against a plain dictionary."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hy_memory import HyMemoryClient
from hy_memory.errors import MemoryNotFoundError
from hy_memory.maintenance.reindex import reindex
from hy_memory.settings.load import load_settings
from tests.support.oracle import Asked, Memory, Oracle, check_answer
from tests.support.spelled import (
    SESSIONS,
    TAGS,
    WORDS,
    Arguments,
    admits,
    admitted_sources,
    drafts,
    memory_of,
    scopes,
    texts,
)
from tests.support.stores import (
    EVERYWHERE,
    NO_SUPPORT,
    READERS,
    config_for,
    has_keywords,
    normal,
    open_client,
    quick_folder,
)

_NAMES = ("", "Melanie", "李雷")
_STEPS = 25


def _beside(hit: Memory, scope: Arguments, now: float) -> Callable[[Memory], bool]:
    """Return which memories' texts a hit's chain may show: what the search may find, but superseded."""
    is_admitted = admits(scope)
    return lambda one: (
        one.id == hit.id or (is_admitted(one) and (one.expires_at is None or one.expires_at > now))
    )


class World:
    """Every backend's client over one ledger, each of which may be closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients = {one: open_client(one, folder, config=NO_SUPPORT) for one in EVERYWHERE}

    def reopen(self, backend: str) -> None:
        """Open a backend's client again, after what the caller did to its store meanwhile."""
        self.clients[backend] = open_client(backend, self.folder, config=NO_SUPPORT)


class Model(RuleBasedStateMachine):
    """What a user of the SDK may do in any order. Each write goes through any backend's client."""

    made = Bundle("made")
    backend = st.sampled_from(EVERYWHERE)
    owner = st.integers(0, 1)

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.oracle = Oracle()
        self.exchanges: list[tuple[str, str, set[str]]] = []
        self.users: tuple[str, ...] = ()
        self.openings = 2  # that are left: each takes as long as twenty other steps

    @initialize()
    def name_users(self) -> None:
        self.users = tuple(f"{name}-{time.monotonic_ns()}" for name in ("ann", "o'brien"))

    def teardown(self) -> None:
        for user_id in self.users:
            self._client("faiss").delete_all(user_id=user_id)

    def _client(self, backend: str) -> HyMemoryClient:
        return self.world.clients[backend]

    # -- writing -----------------------------------------------------------------------------------

    @rule(target=made, backend=backend, owner=owner, draft=drafts())
    def add(self, backend: str, owner: int, draft: Arguments) -> str:
        client, user_id = self._client(backend), self.users[owner]
        answer = client.add(user_id=user_id, **draft)
        assert answer["searchable"]
        assert answer["memory_ids"] == [answer["memory_id"]]
        self.oracle.learn(client, memory_of(draft, answer["memory_id"], user_id))
        self.exchanges.append((user_id, draft["session_id"], {answer["memory_id"]}))
        return answer["memory_id"]

    @rule(
        target=made,
        backend=backend,
        owner=owner,
        contents=st.lists(texts(), min_size=1, max_size=3),
        names=st.lists(st.sampled_from(_NAMES), min_size=3, max_size=3),
        draft=drafts(),
        said_at=st.sampled_from((None, 1_704_844_800.0)),
    )
    def add_messages(
        self,
        backend: str,
        owner: int,
        contents: list[str],
        names: list[str],
        draft: Arguments,
        said_at: float | None,
    ) -> Any:
        client, user_id = self._client(backend), self.users[owner]
        messages: list[dict[str, object]] = [{"role": "system", "content": " "}]
        for content, name in zip(contents, names, strict=False):
            message: dict[str, object] = {"role": "user", "content": content}
            messages.append(
                message | ({"name": name} if name else {}) | ({"timestamp": said_at} if said_at else {})
            )
        arguments: Arguments = {**draft, "data": messages, "layer": None}
        answer = client.add(user_id=user_id, **arguments)
        made = answer["memory_ids"]
        assert len(made) == len(contents)
        for memory_id, content, name in zip(made, contents, names, strict=False):
            memory = memory_of({**draft, "data": content, "layer": None}, memory_id, user_id)
            memory = replace(memory, speaker=name, memory_at=said_at or memory.memory_at)
            self.oracle.learn(client, memory)
        self.exchanges.append((user_id, draft["session_id"], set(made)))
        return multiple(*made)

    @rule(
        target=made,
        backend=backend,
        owner=owner,
        contents=st.lists(texts(), min_size=1, max_size=4),
        draft=drafts(),
    )
    def add_extracted(self, backend: str, owner: int, contents: list[str], draft: Arguments) -> Any:
        client, user_id = self._client(backend), self.users[owner]
        shared = {name: value for name, value in draft.items() if name != "data"}
        facts: list[str | dict[str, object]] = [
            *contents[:-1],
            {"content": contents[-1], "metadata": {"a.b": 7}},
        ]
        made = client.add_extracted(facts, user_id=user_id, **shared)["memory_ids"]
        for memory_id, content in zip(made, contents, strict=True):
            self.oracle.learn(client, memory_of({**draft, "data": content}, memory_id, user_id))
        last = self.oracle.memories[made[-1]]
        self.oracle.memories[made[-1]] = replace(last, metadata={**last.metadata, "a.b": 7})
        return multiple(*made)

    @rule(target=made, backend=backend, old=made, draft=drafts(), owner=st.sampled_from((None, None, 0, 1)))
    def supersede(self, backend: str, old: str, draft: Arguments, owner: int | None) -> Any:
        client, known = self._client(backend), self.oracle.memories.get(old)
        user_id = self.users[owner or 0] if owner is not None or known is None else known.user_id
        shared = {name: value for name, value in draft.items() if name != "data"}
        facts: list[str | dict[str, object]] = [{"content": draft["data"], "supersedes": old}]
        if known is None or known.user_id != user_id:
            with pytest.raises(MemoryNotFoundError):
                client.add_extracted(facts, user_id=user_id, **shared)
            return multiple()
        new = client.add_extracted(facts, user_id=user_id, **shared)["memory_id"]
        self.oracle.learn(client, memory_of(draft, new, user_id))
        before = self.oracle.supersede(new, old)
        for one, key, other in ((new, "supersedes", before), (before, "superseded_by", new)):
            assert (client.get(one) or {}).get(key) == other
        assert client.history(before)[0]["event"] == "supersede"
        return new

    @rule(
        backend=backend,
        memory_id=made,
        content=st.one_of(st.none(), texts()),
        tags=st.one_of(st.none(), st.lists(st.sampled_from(TAGS), max_size=2, unique=True)),
        metadata=st.sampled_from((None, {}, {"caption": WORDS[0]}, {"project": "atlas"})),
        memory_at=st.sampled_from((None, None, 1_710_028_800.5)),
    )
    def update(
        self,
        backend: str,
        memory_id: str,
        content: str | None,
        tags: list[str] | None,
        metadata: dict[str, Any] | None,
        memory_at: float | None,
    ) -> None:
        client = self._client(backend)
        given: Arguments = {"content": content, "tags": tags, "metadata": metadata, "memory_at": memory_at}
        if all(one is None for one in given.values()):
            given["content"] = content = "tea"
        old = self.oracle.memories.get(memory_id)
        if old is None:
            with pytest.raises(MemoryNotFoundError):
                client.update(memory_id, **given)
            return
        shown: dict[str, Any] = dict(client.update(memory_id, **given))
        new = replace(
            old,
            content=old.content if content is None else content,
            tags=old.tags if tags is None else tuple(tags),
            metadata=old.metadata if metadata is None else metadata,
            memory_at=old.memory_at if memory_at is None else memory_at,
            earlier=(old.content, *old.earlier),
        )
        self.oracle.memories[memory_id] = new
        assert (shown["content"], shown["tags"], shown["meta"]) == (new.content, [*new.tags], new.metadata)
        assert client.history(memory_id)[0]["event"] == "update"

    @rule(backend=backend, memory_id=st.one_of(made, consumes(made)))
    def delete(self, backend: str, memory_id: str) -> None:
        known = memory_id in self.oracle.memories
        self.oracle.forget([memory_id] if known else [])
        client = self._client(backend)
        assert client.delete(memory_id) == {"success": True, "deleted_count": int(known)}
        assert client.get(memory_id) is None
        for _, _, members in self.exchanges:
            members.discard(memory_id)

    @rule(backend=backend, owner=owner, session=st.one_of(st.none(), st.sampled_from(SESSIONS)))
    def delete_all(self, backend: str, owner: int, session: str | None) -> None:
        user_id = self.users[owner]
        gone = {one.id for one in self.oracle.of(user_id) if session is None or one.session_id == session}
        sessions = None if session is None else [session]
        answer = self._client(backend).delete_all(user_id=user_id, session_ids=sessions)
        assert answer["deleted_count"] == len(gone)
        self.oracle.forget(gone)
        for owner_id, of_session, members in self.exchanges:
            if owner_id == user_id and session in (None, of_session):
                members.clear()

    # -- reading -----------------------------------------------------------------------------------

    @rule(
        query=texts(),
        several=st.booleans(),
        scope=scopes(),
        limit=st.integers(0, 12),
        min_score=st.sampled_from((0.0, 0.4, 0.7)),
    )
    def search(self, query: str, several: bool, scope: Arguments, limit: int, min_score: float) -> None:
        users = self.users if several else self.users[:1]
        sources = admitted_sources(scope)
        now = time.time()
        for backend, client in self.world.clients.items():
            for reader in READERS:
                keywords = reader == "hybrid" and has_keywords(backend)
                expected = self.oracle.answer(
                    Asked(query, users, admits(scope), limit, min_score, keywords, sources), now
                )
                answer = client.search(
                    query, user_ids=list(users), limit=limit, min_score=min_score, reader=reader, **scope
                )
                check_answer(answer, expected, limit)
                for item in normal(answer):
                    memory = self.oracle.memories[item["memory_id"]]
                    assert item["content"] == memory.content
                    assert item["tags"] == [*memory.tags]
                    assert item["meta"] == memory.metadata
                    is_old = not self.oracle.is_current(memory, None)
                    assert item.get("superseded_elsewhere", False) is is_old
                    texts_told = self.oracle.texts(memory.id, _beside(memory, scope, now))
                    shown = [(one["memory_id"], one["content"]) for one in item.get("evolution_chain", ())]
                    assert shown == (texts_told if len(texts_told) > 1 else [])

    @rule(
        backend=backend,
        owner=owner,
        scope=scopes(),
        ascending=st.booleans(),
        offset=st.integers(0, 3),
        status=st.sampled_from((None, "active", "superseded")),
    )
    def list_memories(
        self, backend: str, owner: int, scope: Arguments, ascending: bool, offset: int, status: str | None
    ) -> None:
        if "l1_raw" in scope.get("layers", ()):
            return  # the oracle keeps no raw turns; `count_kinds` counts them
        let_through = admits(scope)
        kept = {None: (True, False), "active": (True,), "superseded": (False,)}[status]
        wanted = sorted(
            (
                one
                for one in self.oracle.of(self.users[owner])
                if let_through(one) and self.oracle.is_current(one, None) in kept
            ),
            key=lambda one: (one.created_at, one.id),
            reverse=not ascending,
        )
        order = "asc" if ascending else "desc"
        page = self._client(backend).list_memories(
            user_id=self.users[owner],
            order=order,
            offset=offset,
            limit=4,
            statuses=status and [status],
            **scope,
        )
        assert [one.get("memory_id") for one in page["memories"]] == [
            one.id for one in wanted[offset : offset + 4]
        ]
        assert page["total"] == len(wanted)
        assert page["has_more"] == (offset + 4 < len(wanted))

    @rule(backend=backend, owner=owner)
    def count_kinds(self, backend: str, owner: int) -> None:
        mine: list[Memory] = self.oracle.of(self.users[owner])
        client = self._client(backend)
        assert client.memory_stats(user_id=self.users[owner])["total"] == len(mine)
        raw = client.list_memories(user_id=self.users[owner], layers=["l1_raw"])["total"]
        assert raw == sum(user_id == self.users[owner] and bool(left) for user_id, _, left in self.exchanges)

    # -- the store itself --------------------------------------------------------------------------

    @precondition(lambda self: self.openings > 0)
    @rule(backend=backend)
    def reopen(self, backend: str) -> None:
        self.openings -= 1
        self._client(backend).close()
        self.world.reopen(backend)

    @precondition(lambda self: self.openings > 0)
    @rule(backend=backend)
    def reindex(self, backend: str) -> None:
        self.openings -= 1
        self._client(backend).close()
        assert reindex(load_settings(config_for(backend, self.world.folder))).sound
        self.world.reopen(backend)

    @rule(backend=backend)
    def doctor(self, backend: str) -> None:
        assert self._client(backend).doctor()["problems"] == []


def test_any_sequence_of_verbs_agrees_with_a_dictionary() -> None:
    """Equal ids, order and scores on every backend and both readers after every write."""
    with quick_folder() as folder, ExitStack() as closing:
        world = World(folder)
        closing.callback(lambda: [client.close() for client in world.clients.values()])
        run_state_machine_as_test(
            cast("type[RuleBasedStateMachine]", lambda: Model(world)),
            settings=settings(max_examples=25, stateful_step_count=_STEPS),
        )
