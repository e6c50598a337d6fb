"""What reading an exchange may reach, and what it leads to."""

from __future__ import annotations

from dataclasses import dataclass, field

from hy_memory.llm.port import ChatModel
from hy_memory.ports import VectorIndex
from hy_memory.values.result import Degradation
from hy_memory.values.usage import Usage
from hy_memory.writing.write import WritePorts


@dataclass(frozen=True, slots=True)
class ExtractPorts:
    """What reading an exchange may reach; `zone` (IANA) is the one that times are told in.

    An experience is kept that is worth `least_value` (0 to 1).
    """

    model: ChatModel
    vectors: VectorIndex
    writing: WritePorts
    zone: str
    least_value: float


@dataclass(frozen=True, slots=True)
class Read:
    """What reading an exchange led to: its facts' ids, which of them were there before, and what it cost.

    No facts: nothing was worth remembering by itself, and its turns stay as they are. `degraded` says why it
    could not be read; it will be tried again. `is_unreadable`: the model answers, but not on this one.
    `notes` say what failed once it was read.
    """

    memory_ids: tuple[str, ...] = ()
    known_ids: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[Degradation, ...] = ()
    is_unreadable: bool = False
    notes: tuple[Degradation, ...] = ()
