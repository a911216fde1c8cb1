"""The sensitive columns of a request as the kernels' rules look at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.request import Request
from sfumato.data.rules import SUBJECT, Rule, RuleKind, View
from sfumato.errors import PolicyError, RefusedError

Codes = npt.NDArray[np.int32]

HIGHEST_CODE = int(np.iinfo(np.int32).max)


def request_rules(request: Request) -> tuple[Rule, ...]:
    """The rules of all models of a request, in their order."""
    names = tuple(request.sensitive)
    subjects = request.subject is not None
    return tuple(
        rule
        for model in request.models
        for rule in model.rules(names, subjects=subjects)
    )


def view_codes(request: Request) -> tuple[tuple[View, ...], Codes]:
    """The views that the rules of a request look at, and each row's code in each.

    The codes are (views, rows). A view with `others_known` has joint codes: rank of
    the combination of the other sensitive columns × values of the view + value.
    """
    rules = request_rules(request)
    views = tuple(dict.fromkeys(rule.view for rule in rules if rule.view is not None))
    codes = np.empty((len(views), request.rows), dtype=np.int32)
    for line, view in enumerate(views):
        codes[line] = _codes_of(request, view)
    return views, codes


def least_rows(rules: Sequence[Rule]) -> int:
    """A size that no group can go below: of k rows, or of rows with l values."""
    bounded = (RuleKind.SIZE, RuleKind.DISTINCT)
    sizes = [rule.parameters[0] for rule in rules if rule.kind in bounded]
    return max(1, int(np.ceil(max(sizes, default=1))))


def view_values(request: Request, view: View) -> tuple[Codes, int]:
    """Each row's value at the view's level, numbered 0 …, and how many there are."""
    column = request.sensitive[view.column]
    if not 0 <= view.level < column.axis.height:
        raise PolicyError(
            f"'{view.column}' has {column.axis.height} levels; "
            f"level {view.level} is asked for.",
            hint=f"Levels are 0 (values as published) to {column.axis.height - 1}.",
        )
    nodes, ranks = np.unique(column.axis.levels[view.level], return_inverse=True)
    return ranks.astype(np.int32)[column.codes], len(nodes)


def _codes_of(request: Request, view: View) -> Codes:
    if view == SUBJECT:
        return _subject(request)
    values, size = view_values(request, view)
    if not view.others_known:
        return values
    others, count = _combinations(request, view.column)
    if count * size > HIGHEST_CODE:
        raise RefusedError(
            f"others_known on '{view.column}': {count} combinations of the other "
            f"sensitive columns × {size} values exceed {HIGHEST_CODE}.",
            hint="Roll the column up with 'level', or name fewer sensitive columns.",
        )
    return (others * size + values).astype(np.int32)


def _subject(request: Request) -> Codes:
    if request.subject is None:
        raise PolicyError(
            "A rule counts persons; the table has no subject column.",
            hint="Give one column the role 'subject'.",
        )
    return request.subject


def _combinations(request: Request, column: str) -> tuple[npt.NDArray[np.int64], int]:
    """The rank of each row's combination of all other sensitive values."""
    ranks = np.zeros(request.rows, dtype=np.int64)
    count = min(request.rows, 1)
    for name, other in request.sensitive.items():
        if name != column:
            joint = ranks * other.axis.size + other.codes
            present, ranks = np.unique(joint, return_inverse=True)
            count = len(present)
    return ranks, count
