"""Refuse requirements on a population where groups overlap."""

from __future__ import annotations

from sfumato.algorithms.request import Request
from sfumato.errors import RefusedError
from sfumato.models.base import Scope


def refuse_population(name: str, request: Request) -> None:
    """Refuse models that look beyond the groups of the table."""
    if request.population is not None and any(
        model.scope is Scope.POPULATION for model in request.models
    ):
        raise RefusedError(
            f"'{name}' cannot count the population behind its overlapping groups.",
            hint="Use 'mondrian' or 'optimal' with requirements on a population.",
        )
