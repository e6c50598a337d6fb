"""What a speaker says about themselves in one text, by rules in English and Chinese.

Precision over recall: a profile shows one value per field, and a wrong one is worse than none.
Only plain statements in the first person count; questions, conditions, wishes, other people's
words and other people's lives do not.
"""

from __future__ import annotations

from hy_memory.profile.chinese import chinese_claims
from hy_memory.profile.claim import BasicField, Claim
from hy_memory.profile.english import english_claims
from hy_memory.text.normalize import normalize

__all__ = ["BasicField", "Claim", "basic_info"]

_LONGEST = 20_000  # beyond it a text is a document, and its "I" is anybody


def basic_info(text: str, speaker_is_owner: bool) -> tuple[Claim, ...]:
    """Return the claims of `text` in the order of the fields' rules, each field and value once.

    Args:
        text: One message or note; only its first 20,000 characters are read.
        speaker_is_owner: Whether "I" is the user the memory belongs to; otherwise there is nothing
            to learn about them, and the answer is empty.
    """
    if not speaker_is_owner:
        return ()
    words = normalize(text[:_LONGEST])
    claims = list(english_claims(words))
    if not words.isascii():
        claims.extend(chinese_claims(words))
    found: dict[tuple[BasicField, str, bool], Claim] = {}
    for claim in claims:
        found.setdefault((claim.field, claim.value, claim.is_past), claim)
    return tuple(found.values())
