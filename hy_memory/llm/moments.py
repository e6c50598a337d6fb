"""Moments as language models write them: ISO 8601, in the time zone they were told."""

from __future__ import annotations

import math
from datetime import datetime, tzinfo
from typing import Annotated

from pydantic import AfterValidator

from hy_memory.errors import LLMAnswerError
from hy_memory.values.instant import is_date_only

_MINUTE, _DAY = 60.0, 86_400.0


def _iso(value: str) -> str:
    datetime.fromisoformat(value.strip())
    return value


Moment = Annotated[str, AfterValidator(_iso)]


def seconds(value: str, zone: tzinfo) -> float:
    """Return a moment in UTC epoch seconds; without an offset it is local in `zone`."""
    moment = datetime.fromisoformat(value.strip())
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
    except (OverflowError, ValueError) as error:  # the first and the last day of the calendar
        raise LLMAnswerError("the language model named a time beyond the calendar") from error


def last_second(value: str, zone: tzinfo) -> float:
    """Return the last moment of the minute, or of the day, that is named."""
    end = seconds(value, zone) + (_DAY if is_date_only(value) else _MINUTE)
    return math.nextafter(end, -math.inf)
