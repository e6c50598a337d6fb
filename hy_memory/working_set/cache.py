"""A bounded set of per-user projections of the ledger, built at first use and caught up before each read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from hy_memory.ports import PointSource
from hy_memory.values.point import Changes, Point

# An entry for a user who has nothing still costs a lock, a few objects and empty arrays.
_BYTES_PER_USER = 8_192


class Sized(Protocol):
    """Something that is kept of one user."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory it takes."""
        ...


class Fresh(Protocol):
    """Whatever tells when anything was committed (`PointSource.freshness`)."""

    def freshness(self) -> int:
        """Return a number that differs whenever anything was committed."""
        ...


class Projection(Sized, Protocol):
    """One version of what a leg keeps of one user's points; never changes once it was returned."""

    def advance(self, changes: Changes) -> Self:
        """Return the next version; called on the newest one, by one thread at a time."""
        ...


S = TypeVar("S", bound=Sized)
P = TypeVar("P", bound=Projection)


@dataclass(frozen=True, slots=True)
class _Version(Generic[S]):
    """What is kept, and what it is current at: the ledger's freshness and sequence number."""

    kept: S
    freshness: int
    seq: int


class _User(Generic[S]):
    """A user's newest version, and the lock of whoever makes the next one."""

    __slots__ = ("lock", "nbytes", "version")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.version: _Version[S] | None = None
        self.nbytes = 0


class PerUser(Generic[S]):
    """What is kept of the users read last, within a budget of bytes; whole users leave, oldest read first.

    `load(user_id)` gives a sequence number and what is kept of a user at it, `follow(user_id, seq, kept)`
    the same for now, made from what was current at `seq`.

    Any number of threads may call `of`. For one user one thread builds or catches up while others
    wait; a reader then holds a version and needs no lock. The budget bounds what is kept,
    not the user being read: somebody larger than it is served, and is then the only one kept.
    """

    def __init__(
        self,
        source: Fresh,
        load: Callable[[str], tuple[int, S]],
        follow: Callable[[str, int, S], tuple[int, S]],
        memory_budget: int,
    ) -> None:
        self._fresh = source
        self._load = load
        self._follow = follow
        self._budget = memory_budget
        self._lock = threading.Lock()
        self._users: OrderedDict[str, _User[S]] = OrderedDict()
        self._nbytes = 0

    def of(self, user_id: str) -> S:
        """Return what is kept of the user, current with everything committed before the call."""
        with self._lock:
            user = self._users.get(user_id)
            if user is None:
                user = self._users[user_id] = _User[S]()
            else:
                self._users.move_to_end(user_id)
        version = user.version
        if version is not None and version.freshness == self._fresh.freshness():
            return version.kept
        with user.lock:
            return self._catch_up(user_id, user)

    @property
    def nbytes(self) -> int:
        """Bytes of everything kept."""
        return self._nbytes

    def users(self) -> tuple[str, ...]:
        """Return who is kept, the one read longest ago first."""
        with self._lock:
            return tuple(self._users)

    def close(self) -> None:
        """Let go of everything; a later read would build again."""
        with self._lock:
            self._users.clear()
            self._nbytes = 0

    def _catch_up(self, user_id: str, user: _User[S]) -> S:
        """Return the newest version, made if need be; the caller holds the user's lock."""
        # Freshness is read before the changes: what is committed in between is in the changes, or
        # makes the next freshness differ.
        freshness = self._fresh.freshness()
        old = user.version
        if old is not None and old.freshness == freshness:
            return old.kept
        # Should making the next version fail half-way, the arrays it shares with the old one are
        # no longer to be trusted: the next read builds anew.
        user.version = None
        seq, kept = self._load(user_id) if old is None else self._follow(user_id, old.seq, old.kept)
        user.version = _Version(kept, freshness, seq)
        if old is None or seq != old.seq:
            self._account(user_id, user, kept.nbytes + _BYTES_PER_USER)
        return kept

    def _account(self, user_id: str, user: _User[S], nbytes: int) -> None:
        """Note the user's size and let the users read longest ago go until all fits."""
        with self._lock:
            if self._users.get(user_id) is not user:
                return  # it was let go meanwhile and lives only as long as its readers
            self._nbytes += nbytes - user.nbytes
            user.nbytes = nbytes
            while self._nbytes > self._budget and len(self._users) > 1:
                oldest = next(iter(self._users))
                if oldest == user_id:
                    self._users.move_to_end(oldest)
                    continue
                self._nbytes -= self._users.pop(oldest).nbytes


class WorkingSets(PerUser[P]):
    """The projections of points that legs keep: immutable versions, built part by part."""

    def __init__(
        self, source: PointSource, build: Callable[[Sequence[Point]], P], memory_budget: int
    ) -> None:
        super().__init__(source, self._built, self._advanced, memory_budget)
        self._source = source
        self._build = build

    def _built(self, user_id: str) -> tuple[int, P]:
        """Return a projection of everything the user has, made part by part, and what it is current at."""
        parts = self._source.batches(user_id)
        first = next(parts)
        projection = self._build(first.upserted)
        for part in parts:
            projection = projection.advance(part)
        return first.seq, projection

    def _advanced(self, user_id: str, seq: int, projection: P) -> tuple[int, P]:
        """Return the projection after what became of the user since `seq`."""
        changes = self._source.changes(user_id, seq)
        unchanged = not changes.upserted and not changes.removed
        return changes.seq, projection if unchanged else projection.advance(changes)
