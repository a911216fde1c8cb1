"""Choose an engine before any work, and say so where the choice was ours."""

from __future__ import annotations

from typing import Any

import typer


def say_engine(
    data: Any, engine: str | None, memory_limit: str | None, *, making: bool
) -> dict[str, Any]:
    """The arguments of a call for its engine; `auto` says what it took and why."""
    from sfumato.pipeline.choose_engine import CHECKING, MAKING, choose_engine

    copies = MAKING if making else CHECKING
    chosen = choose_engine(data, engine, memory_limit, copies=copies)
    if chosen.reason is not None:
        typer.echo(f"{chosen.reason}: taking --engine {chosen.name}.", err=True)
    return {"engine": chosen.name, "memory_limit": chosen.limit}
