"""A statement compiled for one engine, as the driver's own cursors run it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement's text and the names of its parameters, in order, with those already bound."""

    sql: str
    names: tuple[str, ...]
    bound: dict[str, object]

    def bind(self, **values: object) -> tuple[object, ...]:
        """Return the parameters to run it with."""
        return tuple([values[name] if name in values else self.bound[name] for name in self.names])
