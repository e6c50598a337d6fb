"""A user's profile: what their memories claim of them, made into one answer.

Nothing of it is stored: a profile is always that of the memories there are.
"""

from __future__ import annotations

from collections.abc import Collection

from hy_memory.ports import Ledger
from hy_memory.profile.claim import BasicField
from hy_memory.profile.fold import Evidence, Profile, profile


def profile_of(user_id: str, fields: Collection[str], ledger: Ledger) -> Profile:
    """Return the profile of a user's active memories, of `fields` alone (values of `BasicField`)."""
    shown = {one.value: one for one in BasicField if one.value in fields}
    return profile(
        Evidence(shown[claim.field], claim.value, record.memory_id, record.event_at, claim.is_past)
        for record in ledger.claims(user_id)
        for claim in record.claims
        if claim.field in shown
    )
