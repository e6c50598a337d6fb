"""Which question a search asks a language model first: the table of the contract's §6, as a function."""

from __future__ import annotations

from hy_memory.llm.judgement import Task


def route(
    *,
    is_agentic: bool,
    has_scene: bool,
    has_context: bool,
    is_long: bool,
    coding: bool,
    rewriting: bool,
) -> Task | None:
    """Return what is asked, None for nothing: at most one call, and none where the caller named a scene.

    `has_context`: the caller gave `queries`, of which `is_long` are more than may be rewritten. `coding`
    and `rewriting` are what the settings switch on.
    """
    if has_scene:
        return None
    if is_agentic:
        return Task.BOTH
    if not has_context:
        return None
    rewrites = rewriting and not is_long
    if coding:
        return Task.BOTH if rewrites else Task.SCENE
    return Task.QUERY if rewrites else None
