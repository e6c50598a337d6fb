"""Words that are said again as they were, or nearly so: recognised, so that they are kept once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hy_memory.ports import Ledger
from hy_memory.text.likeness import LONGEST, adds_nothing
from hy_memory.text.sameness import exact_key
from hy_memory.text.simhash import simhash
from hy_memory.values.write import Likeness
from hy_memory.writing.compose import Origin
from hy_memory.writing.messages import Draft
from hy_memory.writing.request import AddRequest


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a draft is recognised when it is said again, as it was and nearly so; None: it never is."""

    key: str | None = None
    likeness: Likeness | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A write's drafts told apart: `fresh` ones (places), and of each draft its marks.

    `known` has the id of the memory that each other place repeats.
    """

    marks: tuple[Mark, ...]
    fresh: tuple[int, ...]
    known: dict[int, str]

    def ids(self, new: Sequence[str]) -> tuple[str, ...]:
        """Return the memory of each draft, `new` ones being those of `fresh`."""
        made = dict(zip(self.fresh, new, strict=True))
        return tuple(self.known.get(at) or made[at] for at in range(len(self.marks)))


def all_new(request: AddRequest) -> Told:
    """Return all drafts as new, to be recognised by nothing."""
    count = len(request.drafts)
    return Told((Mark(),) * count, tuple(range(count)), {})


def told_apart(request: AddRequest, ledger: Ledger, *, with_near: bool = False) -> Told:
    """Return which drafts of a write say something new; what is known of them is asked of the ledger.

    What one write says twice it means twice: two facts of a list, two turns of a conversation. `with_near`:
    a draft that adds nothing to a memory repeats it too.
    """
    keys = tuple(_keys(request, lambda text: text))
    asked = list(dict.fromkeys(key for key in keys if key is not None))
    stored = ledger.repeats(request.origin.user_id, asked) if asked else {}
    known = {at: stored[key] for at, key in enumerate(keys) if key is not None and key in stored}
    marks = [Mark(key) for key in keys]
    if with_near:
        near = {at: one for at, one in _likenesses(request).items() if at not in known}
        for at, (like, memory_id) in _looked_at(near, request, ledger).items():
            marks[at] = Mark(keys[at], like)
            if memory_id is not None:
                known[at] = memory_id
    return Told(tuple(marks), tuple(at for at in range(len(keys)) if at not in known), known)


def _likenesses(request: AddRequest) -> dict[int, Likeness]:
    """Return how near-duplicates of drafts are found, by place; of documents none are looked for."""
    frames = _keys(request, lambda text: "")
    return {
        at: Likeness(frame, simhash(draft.content))
        for at, (draft, frame) in enumerate(zip(request.drafts, frames, strict=True))
        if frame is not None and len(draft.content) <= LONGEST
    }


def _looked_at(
    near: Mapping[int, Likeness], request: AddRequest, ledger: Ledger
) -> dict[int, tuple[Likeness, str | None]]:
    """Return each likeness with all that is like it seen, and the memory that its draft adds nothing to."""
    found = ledger.alike(request.origin.user_id, list(near.values())) if near else ()
    stored = ledger.records(sorted({one for ids in found for one in ids})) if any(found) else {}
    looked: dict[int, tuple[Likeness, str | None]] = {}
    for (at, like), ids in zip(near.items(), found, strict=True):
        content = request.drafts[at].content
        same = (one for one in ids if one in stored and adds_nothing(content, stored[one].content))
        looked[at] = replace(like, seen=frozenset(ids)), next(same, None)
    return looked


def only(request: AddRequest, places: Sequence[int]) -> AddRequest:
    """Return the request for some of its drafts alone."""
    return replace(request, drafts=tuple(request.drafts[at] for at in places))


def _keys(request: AddRequest, told: Callable[[str], str]) -> Sequence[str | None]:
    """Return what each draft repeats, with what is `told` of its text; None for one that never does.

    A message of a conversation repeats one that stood after the same message: "yes" to another question is
    another answer, and a transcript that is sent anew, or grown, repeats itself as far as it is the same.
    """
    texts = [exact_key(draft.content) for draft in request.drafts]
    before = ["", *texts[:-1]] if request.keeps_raw else [""] * len(texts)
    drafts = zip(request.drafts, texts, before, strict=True)
    return [
        None if one.supersedes else _key(one, request.origin, told(text), last) for one, text, last in drafts
    ]


def _key(draft: Draft, origin: Origin, text: str, before: str) -> str:
    """Return a digest of everything by which two memories could be told apart, but the moment of writing."""
    told = [
        origin.agent_id,
        origin.session_id,
        origin.source,
        origin.layer.value,
        draft.speaker or draft.role,
        text,
        before,
        sorted({*origin.tags, *draft.tags}),
        dict(draft.metadata),
        origin.memory_at if draft.said_at is None else draft.said_at,
        origin.expires_at,
        origin.evidence_ids,
    ]
    whole = json.dumps(told, ensure_ascii=True, sort_keys=True)
    return hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()
