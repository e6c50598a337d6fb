"""Switches that are looked at with every call, so that a running process can be told otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hy_memory.errors import ConfigurationError
from hy_memory.settings.root import CodingSection

CHAIN_BLOCK = "MEMORY_CODING_CHAIN_BLOCK_ENABLED"
CHAIN_BLOCK_OFF = "HCM_BLOCK_OFF"
SWITCHES = frozenset((CHAIN_BLOCK, CHAIN_BLOCK_OFF))
_ON = frozenset(("1", "true", "t", "yes", "y", "on"))
_OFF = frozenset(("0", "false", "f", "no", "n", "off", ""))


def wants_chain_block(section: CodingSection, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether searches of coding memory bring the block now.

    What a client was made with wins, where it says anything; else it is what the variable says at this
    moment. The kill switch turns it off, whichever of the two sets it.
    """
    given = os.environ if environ is None else environ
    if section.chain_block_off or is_on(CHAIN_BLOCK_OFF, given.get(CHAIN_BLOCK_OFF, "")):
        return False
    if "chain_block_enabled" in section.model_fields_set:
        return section.chain_block_enabled
    return is_on(CHAIN_BLOCK, given.get(CHAIN_BLOCK, ""))


def is_on(name: str, value: str) -> bool:
    """Return what the text of a switch means; raises ConfigurationError for what means neither."""
    plain = value.strip().lower()
    if plain not in _ON | _OFF:
        raise ConfigurationError(f"{name}={value!r}: give true or false")
    return plain in _ON
