"""The second hop: the best hits' other words find the memories that say the rest.

"Where does the one work who loves concerts?" is answered by two memories: "My cousin loves concerts" has the
words of the question, "My cousin works in Beijing" shares none with it but the first one's. So what a lead,
one of the best hits, says beside the question is looked for in the other hits. What it says for them is the
share of those words that they hold, by rarity, squared: one common word says nothing, a shared name much.

It knows the other candidates, as no score may, and so is a matter of order alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from hy_memory.filters.scope import scoped
from hy_memory.ports import KeywordIndex, ScoreArray
from hy_memory.ranking.bm25 import query_term_ids
from hy_memory.ranking.neighbours import beyond, openness
from hy_memory.reading.state import SearchState
from hy_memory.values.result import Hit

_LEADS = 3
"""How many of a user's best hits lead on: with one a wrong first hit leads astray, more rank alike."""


def second_hop(
    state: SearchState, keywords: KeywordIndex, hits: Sequence[Hit], own: ScoreArray
) -> ScoreArray:
    """Return the evidence (n,), at least 0, of the best hits' other words for each of `hits`.

    `own` (n,) is what the legs alone score. Only hits of one user lead to each other.
    """
    asked = query_term_ids(state.request.query)
    said = np.zeros(len(hits))
    for places in _by_user(hits):
        where = scoped((hits[places[0]].record.user_id,), state.request.where.tree)
        ids = [hits[at].record.id for at in places]
        for lead in sorted(places, key=lambda at: (-own[at], hits[at].record.id))[:_LEADS]:
            terms = np.setdiff1d(query_term_ids(hits[lead].record.content), asked, assume_unique=True)
            if not len(terms) or not beyond(own[lead]):
                continue
            shares = np.nan_to_num(keywords.score(terms, ids, where))  # NaN: deleted meanwhile
            shares[places.index(lead)] = 0.0
            said[places] = np.maximum(said[places], shares**2 * beyond(own[lead]))
    return said * openness(own)


def _by_user(hits: Sequence[Hit]) -> list[list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, hit in enumerate(hits):
        places[hit.record.user_id].append(at)
    return list(places.values())
