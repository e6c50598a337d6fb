"""The types of arguments that several verbs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from hy_memory.values.record import Json

Moment: TypeAlias = float | int | datetime | str
"""Epoch seconds, a datetime, or ISO 8601 text; naive ones are read as UTC."""
Metadata: TypeAlias = Mapping[str, Json]
Messages: TypeAlias = str | Mapping[str, object] | Sequence[Mapping[str, object]]
