"""Refuse requests that an algorithm cannot serve, before any work.

What an operator cannot publish is refused in `pipeline/operator_refusals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.algorithms.request import Request
from sfumato.data.rules import Rule
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.models.base import OutputModel, Scope


def refuse_population(name: str, request: Request) -> None:
    """Refuse models that look beyond the groups of the table."""
    if request.population is not None and any(
        model.scope is Scope.POPULATION for model in request.models
    ):
        raise RefusedError(
            f"'{name}' cannot count the population behind its overlapping groups.",
            hint="Use 'mondrian' or 'optimal' with requirements on a population.",
        )


def refuse_persons(name: str, request: Request) -> None:
    """Refuse a subject column: the algorithm counts rows."""
    if request.subject is not None:
        raise RefusedError(
            f"'{name}' counts rows, but the policy has a subject column and so counts "
            "persons.",
            hint="Use 'mondrian', or drop the subject column.",
        )


def refuse_rules(name: str, request: Request, serves: Callable[[Rule], bool]) -> None:
    """Refuse models with a rule that the algorithm does not support."""
    names, subjects = tuple(request.sensitive), request.subject is not None
    for model in request.models:
        if not all(map(serves, model.rules(names, subjects=subjects))):
            raise RefusedError(
                f"'{name}' does not support {model.name} on these columns.",
                hint="Use 'mondrian' for the groups, with any operator.",
            )


def refuse_counting(name: str, request: Request) -> None:
    """Refuse to promise how many rows show a value, unless the data decide it."""
    targets = [target for model in request.models for target in model.targets()]
    given = request.removable == 0 and all(
        column in request.sensitive for target in targets for column, _ in target
    )
    if targets and not given:
        raise RefusedError(
            f"'{name}' cannot promise how many rows show a value, and "
            f"'diversity' asks for it {len(targets):,} times.",
            hint="Set algorithm.name to 'diva'.",
        )


def one_group_fails(
    request: Request, models: Sequence[OutputModel] = ()
) -> InfeasibleError | SearchError:
    """The error for a table that, as one group, does not meet its requirements."""
    named = ", ".join(str(model) for model in models or request.models)
    told = f"The {request.rows} rows of the table, as one group, do not meet {named}"
    if one_group_decides(request):
        return InfeasibleError(
            f"{told}.",
            hint="Relax the requirement that even the whole table does not meet.",
        )
    return SearchError(
        f"{told}; whether other groups, or fewer rows, would is not known.",
        hint="Relax the requirement, or raise publish.max_suppressed.",
    )


def one_group_decides(request: Request) -> bool:
    """Whether no grouping meets the requirements if all rows as one group do not.

    So it is where more rows can only help, or where no row may be left out and groups
    that meet the requirements would also meet them as one.
    """
    rules = request.rules()
    if all(rule.traits.monotone for rule in rules):
        return True
    convex = all(rule.traits.convex for rule in rules) and not request.joining_may_break
    return convex and (request.source or request).removable == 0


def refuse_split_persons(request: Request) -> None:
    """Refuse requirements on groups that say nothing of persons in several of them."""
    if request.subject is None or len(np.unique(request.subject)) == request.rows:
        return
    for model in request.models:
        if model.needs_whole_persons:
            raise RefusedError(
                f"{model.name} cannot be promised where a person has several rows: the "
                "rows may be in several groups, which together reveal more than each "
                "alone.",
                hint="Keep one row per person, or require another model.",
            )
