"""Groups as plain lists of rows, and what they lose by definition."""

from __future__ import annotations

from tests.unit.algorithms.mondrian_cases import loss_of, rows_of


def lists_of(group_of):
    groups: dict[int, list[int]] = {}
    for row, group in enumerate(group_of.tolist()):
        groups.setdefault(group, []).append(row)
    return sorted(groups.values())


def loss_by_definition(request, group_of):
    axes, rows = [coded.axis for coded in request.quasi], rows_of(request)
    return sum(loss_of(axes, rows, group) for group in lists_of(group_of))
